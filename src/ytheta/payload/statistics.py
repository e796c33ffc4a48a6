"""Mass, centre of mass and moments about it as functions of the ten parameters, with their covariance.

Identity      c = h / m,   I_c = I - (hᵀh 1 - h hᵀ) / m;   cov(f(theta)) = J cov(theta) Jᵀ with J = df / dtheta
Notation      m, h, I    mass, first moments and moments of inertia about the origin of the frame
"""

from __future__ import annotations

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES
from ytheta.robot.inertia import Inertia, Ten
from ytheta.shapes import Float

QUANTITIES = ("mass", "cx", "cy", "cz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
UNITS = ("kg", *("m",) * 3, *("kg m²",) * 6)


def compute_quantities(theta: Ten) -> Ten:
    """Return mass, centre and moments about the centre in the order of QUANTITIES."""
    inertia = Inertia(tuple(float(value) for value in theta))
    about_center = inertia.tensor_about_center
    return np.array([inertia.mass, *inertia.center, *(about_center[row][column] for row, column in INERTIA_ENTRIES)])


def compute_jacobian(theta: Ten) -> Float[np.ndarray, "10 10"]:
    """Return the derivatives of the quantities with respect to the ten parameters; the mass must not be zero."""
    m, h = float(theta[0]), theta[1:4]
    J = np.eye(10)
    J[1:4, 1:4] /= m
    J[1:4, 0] = -h / m**2
    square = h @ h * np.eye(3) - np.outer(h, h)
    for place, (row, column) in enumerate(INERTIA_ENTRIES, start=4):
        J[place, 0] = square[row, column] / m**2
        for k in range(3):
            change = 2.0 * h[k] * (row == column) - h[column] * (row == k) - h[row] * (column == k)
            J[place, 1 + k] = -change / m
    return J
