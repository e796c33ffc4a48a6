"""Robots written as TOML and as MJCF."""
