"""Preparation of all logs of an identification: cut-offs of fit and errors, velocities that the torques choose."""
