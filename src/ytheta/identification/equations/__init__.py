"""Equations that are linear in the base parameters: the forms, the motion they are built from, and their sums."""
