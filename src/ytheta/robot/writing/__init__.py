"""Writers: robots as TOML and as MJCF."""
