"""Criteria by which trajectories are designed."""
