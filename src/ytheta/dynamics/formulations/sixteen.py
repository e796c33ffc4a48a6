"""The sixteen parameters of a link in Lu and Meng, and their relation to the ten standard parameters.

Identity      theta_10 = L theta_16, hence Y_16 = Y_10 L;   Y_10 = Y_16 RIGHT_INVERSE with L RIGHT_INVERSE = 1
Reference     [lu1993] (31): theta_16 = (theta_5, theta_3) of (125) and (106); special cases (49)-(51)
Notation      code          paper     meaning
              m, mp, mpp    theta_5   mass, first moments m p_a, second moments m p_a p_b; p is the centre of mass
              I             theta_3   inertia about the *centre*; products with the sign of (105): minus tensor entries

For parameters, only the map from sixteen to ten is linear. The opposite map (``sixteen_parameters``) needs the centre
of mass and therefore divides by the mass.
For regressors, both maps are linear: the columns of theta_3 are those of the inertia about the origin, with the
opposite sign for products of inertia.
"""

from __future__ import annotations

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES, LINK_PARAMETERS
from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float

# Rows and columns of a symmetric matrix in the order of (106) and (112).
SYMMETRIC_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))

SIXTEEN_PARAMETERS = (
    "m", "mpx", "mpy", "mpz", "mpxpx", "mpypy", "mpzpz", "mpxpy", "mpxpz", "mpypz",
    "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz",
)  # fmt: skip

# Indices of the reduced parameter vectors in theta_16: theta_5 (49), and (51) for a centre on the x or the z axis.
POINT_MASS = tuple(range(10))
PRINCIPAL_AXES = {"x": (0, 1, 4, 10, 11, 12), "z": (0, 3, 6, 10, 11, 12)}


def _make_map_to_ten() -> Float[np.ndarray, "10 16"]:
    """Return the matrix L with theta_10 = L theta_16."""
    L = np.zeros((len(LINK_PARAMETERS), len(SIXTEEN_PARAMETERS)))
    L[:4, :4] = np.eye(4)
    for row, (a, b) in enumerate(INERTIA_ENTRIES, start=4):
        place = SYMMETRIC_ENTRIES.index((a, b))
        if a != b:
            L[row, [4 + place, 10 + place]] = -1.0
            continue
        L[row, 10 + place] = 1.0
        L[row, [4 + other for other in range(3) if other != a]] = 1.0  # the parallel-axis rule
    return L


def _make_right_inverse() -> Float[np.ndarray, "16 10"]:
    """A right inverse of L that sets the second moments of theta_5 to zero."""
    inverse = np.zeros((len(SIXTEEN_PARAMETERS), len(LINK_PARAMETERS)))
    inverse[:4, :4] = np.eye(4)
    for column, (a, b) in enumerate(INERTIA_ENTRIES, start=4):
        inverse[10 + SYMMETRIC_ENTRIES.index((a, b)), column] = 1.0 if a == b else -1.0
    return inverse


L = _make_map_to_ten()
RIGHT_INVERSE = _make_right_inverse()


def sixteen_parameters(inertia: Inertia) -> Float[np.ndarray, "16"]:
    """theta_16 of a link with this inertia."""
    p = np.array(inertia.center)
    tensor = np.array(inertia.tensor_about_center)
    if inertia.mass == 0.0 and any(inertia.parameters[1:4]):
        raise InputError(
            f"first moments {inertia.parameters[1:4]} without mass have no centre of mass, which the sixteen "
            "parameters of a link need; set its mass, or use the ten parameters"
        )
    second = [inertia.mass * p[a] * p[b] for a, b in SYMMETRIC_ENTRIES]
    about_center = [tensor[a, b] if a == b else -tensor[a, b] for a, b in SYMMETRIC_ENTRIES]  # (105)
    return np.array([inertia.mass, *(inertia.mass * p), *second, *about_center])
