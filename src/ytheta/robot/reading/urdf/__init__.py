"""URDF: one module for each part of the format; ``reader`` combines them."""
