"""Dynamics of robots: formulations, loops, graphs of whole robots, and their kernels."""
