"""Composite bodies, after Lin: inertia constants, and the recursive Newton-Euler formulation in these constants."""
