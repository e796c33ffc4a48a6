"""Sensors: errors of measured positions, velocities and torques."""
