"""Quantities of the links of a mechanism, without drives and loops: mass matrix, energies, motion of frames."""
