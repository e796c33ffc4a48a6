"""MJCF, the format of MuJoCo: one module for each part of the format; ``reader`` combines them."""
