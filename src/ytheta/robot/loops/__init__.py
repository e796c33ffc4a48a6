"""Closed loops of a robot: the residual of a cut joint, the solver, and the closure of a description."""
