"""The TOML format of ytheta."""
