"""Families of periodic trajectories that start and end at rest."""
