"""Physically consistent bodies nearest to an estimate: a cone program, its solver, its bounds and its reference."""
