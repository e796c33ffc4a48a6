"""MJCF, the format of MuJoCo: one module per part of it; ``reader`` puts them together."""
