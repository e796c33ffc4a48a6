"""Robot descriptions: URDF, MJCF, TOML."""
