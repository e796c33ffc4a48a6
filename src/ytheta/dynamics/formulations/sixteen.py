"""The sixteen parameters of a link in Lu and Meng, and their relation to the ten standard parameters.

Identity      theta_10 = L theta_16, hence Y_16 = Y_10 L;   Y_10 = Y_16 RIGHT_INVERSE with L RIGHT_INVERSE = 1
Reference     [lu1993] (31): theta_16 = (theta_5, theta_3) of (125) and (106); special links (49)-(51)
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

from ytheta.arguments import check_kind
from ytheta.conventions import INERTIA_ENTRIES, LINK_PARAMETERS
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float

# Rows and columns of a symmetric matrix in the order of (106) and (112).
SYMMETRIC_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))

SIXTEEN_PARAMETERS = (
    "m", "mpx", "mpy", "mpz", "mpxpx", "mpypy", "mpzpz", "mpxpy", "mpxpz", "mpypz",
    "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz",
)  # fmt: skip

# The parameters that remain for special links: theta_5 for a point mass (49); (51) for a link whose principal axes (50)
# are the frame axes, with its centre on the x or the z axis.
LINK_CASES = {
    "general": SIXTEEN_PARAMETERS,
    "point-mass": SIXTEEN_PARAMETERS[:10],
    "center-on-x": ("m", "mpx", "mpxpx", "Ixx", "Iyy", "Izz"),
    "center-on-z": ("m", "mpz", "mpzpz", "Ixx", "Iyy", "Izz"),
}
# Largest parameter that a case may leave out, relative to parameters of the same unit. Chosen on: rule of thumb.
MAX_RELATIVE_REMAINDER = 1e-9


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


def reduce_parameters(inertia: Inertia, case: str) -> Float[np.ndarray, " params"]:
    """The parameters ``LINK_CASES[case]`` of a link. Raise InputError if one that the case leaves out is not zero."""
    check_kind("inertia", inertia, Inertia, "an Inertia, such as robot.link(name).inertia")
    names = LINK_CASES[check_case(case)]
    theta = sixteen_parameters(inertia)
    sizes = np.repeat([theta[0], np.linalg.norm(theta[1:4]), np.linalg.norm(theta[4:])], (1, 3, 12))
    for name, value, size in zip(SIXTEEN_PARAMETERS, theta, sizes, strict=True):
        if name not in names and abs(value) > MAX_RELATIVE_REMAINDER * size:
            raise InputError(
                f"the parameter {name} of this link is {value:.4g}, but the case {case!r} requires 0; use 'general'"
            )
    return theta[find_columns(case)]


def find_columns(case: str) -> list[int]:
    """The places of the parameters of a case in theta_16."""
    return [SIXTEEN_PARAMETERS.index(name) for name in LINK_CASES[check_case(case)]]


def check_case(case: str) -> str:
    """Return the name of a case; UnknownNameError if there is none with this name."""
    check_kind("case", case, str, f"one of {', '.join(LINK_CASES)}")
    if case not in LINK_CASES:
        raise UnknownNameError(f"there is no case {case!r} of a link{suggest_names(case, LINK_CASES)}")
    return case
