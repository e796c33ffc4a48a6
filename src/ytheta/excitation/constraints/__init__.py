"""Limits that a trajectory keeps, and their check."""
