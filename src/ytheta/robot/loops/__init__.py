"""Closed loops of a robot: the residual of a cut joint, the numerical solver, and the closure of single poses."""
