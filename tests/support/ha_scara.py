"""The symmetric SCARA arm of Ha, Ko and Kwon."""

from __future__ import annotations

# (50): the pseudo-inertia of a link has Izz, m, and first moments along x and y; x3 = x4 = y1 = y3 = y4 = 0.
SYMMETRIC = [
    *(f"link{i}.{p}" for i in (1, 2, 3, 4) for p in ("mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz")),
    *("link3.mx", "link4.mx", "link1.my", "link3.my", "link4.my"),
]
