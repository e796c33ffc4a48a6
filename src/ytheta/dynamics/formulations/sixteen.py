"""The sixteen parameters of a link in Lu and Meng, and how they meet the ten.

Identity      theta_10 = L theta_16, hence Y_16 = Y_10 L;   Y_10 = Y_16 BACK with L BACK = 1
Reference     [lu1993] (31): theta_16 = (theta_5, theta_3) of (125) and (106); special cases (49)-(51)
Notation      code          paper     meaning
              m, mp, mpp    theta_5   mass, first moments m p_a, second moments m p_a p_b of all mass in the centre
              I             theta_3   inertia about the *centre*; products with the sign of (105): minus tensor entries

Of parameters only the way from sixteen to ten is linear; the way back divides by the mass (``sixteen_of``). Of
regressors both are: the columns of theta_3 are those of the inertia about the origin, products negated.
"""

from __future__ import annotations

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES, LINK_PARAMETERS
from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float

# Rows and columns of a symmetric matrix in the order of (106) and (112).
SQUARES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))

SIXTEEN_PARAMETERS = (
    "m", "mpx", "mpy", "mpz", "mpxpx", "mpypy", "mpzpz", "mpxpy", "mpxpz", "mpypz",
    "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz",
)  # fmt: skip

# Places in theta_16 of the reduced vectors: theta_5 (49), and (51) for a centre on the x or on the z axis.
POINT_MASS = tuple(range(10))
PRINCIPAL_AXES = {"x": (0, 1, 4, 10, 11, 12), "z": (0, 3, 6, 10, 11, 12)}


def _forth() -> Float[np.ndarray, "10 16"]:
    forth = np.zeros((len(LINK_PARAMETERS), len(SIXTEEN_PARAMETERS)))
    forth[:4, :4] = np.eye(4)
    for row, (a, b) in enumerate(INERTIA_ENTRIES, start=4):
        place = SQUARES.index((a, b))
        if a != b:
            forth[row, [4 + place, 10 + place]] = -1.0
            continue
        forth[row, 10 + place] = 1.0
        forth[row, [4 + other for other in range(3) if other != a]] = 1.0  # the parallel-axis rule
    return forth


def _back() -> Float[np.ndarray, "16 10"]:
    back = np.zeros((len(SIXTEEN_PARAMETERS), len(LINK_PARAMETERS)))
    back[:4, :4] = np.eye(4)
    for column, (a, b) in enumerate(INERTIA_ENTRIES, start=4):
        back[10 + SQUARES.index((a, b)), column] = 1.0 if a == b else -1.0
    return back


L = _forth()
BACK = _back()


def sixteen_of(inertia: Inertia) -> Float[np.ndarray, "16"]:
    """theta_16 of a link."""
    p = np.array(inertia.center)
    tensor = np.array(inertia.tensor_about_center)
    if inertia.mass == 0.0 and any(inertia.parameters[1:4]):
        raise InputError(
            f"first moments {inertia.parameters[1:4]} without mass have no centre, and the sixteen parameters of a "
            "link need one; set its mass, or use the ten parameters"
        )
    second = [inertia.mass * p[a] * p[b] for a, b in SQUARES]
    about_center = [tensor[a, b] if a == b else -tensor[a, b] for a, b in SQUARES]  # (105)
    return np.array([inertia.mass, *(inertia.mass * p), *second, *about_center])
