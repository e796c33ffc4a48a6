"""Readers of robot descriptions: URDF, MJCF, TOML."""
