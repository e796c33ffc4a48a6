"""A model file that was read."""
