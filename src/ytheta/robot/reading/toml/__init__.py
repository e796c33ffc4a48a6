"""Reader of the TOML format of ytheta."""
