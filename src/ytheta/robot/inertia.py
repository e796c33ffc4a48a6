"""The ten inertial parameters of a rigid body and their physical consistency.

There are three equivalent descriptions:

    ten parameters      theta = (m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz), inertia about the frame origin
    about the centre    mass, centre, inertia tensor about the centre
    pseudo-inertia      P = [[S, h], [h^T, m]] with S = integral of x x^T dm = tr(I)/2 1 - I and h = m c

A change of frame is P_A = H P_B H^T, where H is the homogeneous matrix of frame B seen from A. The change is linear in
P, so that a 10 x 10 matrix maps theta_B to theta_A. A mass distribution with these parameters exists if and only if P
is positive semidefinite (Wensing, Kim, Slotine 2018, "Linear matrix inequalities for physically consistent inertial
parameter identification").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.arguments import check_number, is_not_negative
from ytheta.conventions import INERTIA_ENTRIES, LINK_PARAMETERS
from ytheta.errors import InputError
from ytheta.robot.frame import ORIGIN, Frame, Matrix, Vector, check_vector, to_rows, to_vector
from ytheta.shapes import Float

Ten: TypeAlias = Float[np.ndarray, "10"]

# Largest violation of physical consistency, relative to the largest principal moment. Chosen on: files that give
# moments with three to six digits; rounding the last one can make a flat plate violate the triangle inequality.
CONSISTENCY_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Consistency:
    """Whether a rigid body can have these inertial parameters, and the reason if it cannot."""

    consistent: bool
    reason: str

    def __bool__(self) -> bool:
        return self.consistent


@dataclass(frozen=True)
class Inertia:
    """Ten inertial parameters in the frame of their link, in the order of ``conventions.LINK_PARAMETERS``."""

    parameters: tuple[float, ...] = (0.0,) * 10

    def __post_init__(self) -> None:
        if len(self.parameters) != len(LINK_PARAMETERS):
            raise InputError(
                f"a link has {len(LINK_PARAMETERS)} inertial parameters ({', '.join(LINK_PARAMETERS)}), "
                f"not {len(self.parameters)}; give all of them, or use Inertia.from_names"
            )

    @staticmethod
    def about_center(mass: float, center: Vector, tensor: Matrix) -> Inertia:
        """The inertia of a body, given its mass, centre of mass and inertia tensor about the centre, in link axes."""
        c = np.array(center)
        with np.errstate(over="ignore", invalid="ignore"):  # Robot refuses numbers that are not finite
            about_origin = np.array(tensor) + mass * (c @ c * np.eye(3) - np.outer(c, c))
            first_moments = mass * c
        return Inertia((mass, *(float(m) for m in first_moments), *(float(about_origin[k]) for k in INERTIA_ENTRIES)))

    @staticmethod
    def point_mass(mass: float, center: Vector) -> Inertia:
        """The inertia of a point mass, given its mass in kg and its position in link axes in metres."""
        mass = check_number("mass", mass, "a mass in kg, which is not negative", allow=is_not_negative)
        return Inertia.about_center(mass, check_vector("center", center), (ORIGIN, ORIGIN, ORIGIN))

    @staticmethod
    def from_names(values: Mapping[str, float]) -> Inertia:
        """The inertia with these parameters, given by name; missing parameters are zero."""
        return Inertia(tuple(float(values.get(name, 0.0)) for name in LINK_PARAMETERS))

    @staticmethod
    def from_pseudo(pseudo: Float[np.ndarray, "4 4"]) -> Inertia:
        """The inertia with this 4 x 4 pseudo-inertia."""
        return Inertia(tuple(float(p) for p in _unpack_pseudo(pseudo)))

    @property
    def vector(self) -> Ten:
        return np.array(self.parameters)

    @property
    def mass(self) -> float:
        return self.parameters[0]

    @property
    def center(self) -> Vector:
        """Centre of mass in metres; the origin if the mass is zero."""
        if self.mass == 0.0:
            return (0.0, 0.0, 0.0)
        with np.errstate(over="ignore"):
            return to_vector(self.vector[1:4] / self.mass)

    @property
    def tensor(self) -> Matrix:
        """Inertia tensor about the frame origin."""
        return to_rows(_to_tensor(self.vector))

    @property
    def tensor_about_center(self) -> Matrix:
        c = np.array(self.center)
        with np.errstate(over="ignore", invalid="ignore"):
            return to_rows(_to_tensor(self.vector) - self.mass * (c @ c * np.eye(3) - np.outer(c, c)))

    @property
    def pseudo(self) -> Float[np.ndarray, "4 4"]:
        return _to_pseudo(self.vector)

    @property
    def massless(self) -> bool:
        return not any(self.parameters)

    def seen_from(self, frame: Frame) -> Inertia:
        """Return this inertia in another frame A; ``frame`` is the present frame seen from A."""
        with np.errstate(over="ignore", invalid="ignore"):
            return Inertia(tuple(float(p) for p in transport_matrix(frame) @ self.vector))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(tuple(a + b for a, b in zip(self.parameters, other.parameters, strict=True)))

    def consistency(self, tolerance: float = CONSISTENCY_TOLERANCE) -> Consistency:
        """Whether a rigid body can have these parameters; ``tolerance`` is relative to the largest principal moment."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._check_consistency(tolerance)

    def _check_consistency(self, tolerance: float) -> Consistency:
        if self.massless:
            return Consistency(True, "no mass")
        if not all(np.isfinite(self.parameters)):
            return Consistency(False, "parameters are not finite")
        if self.mass < 0.0:
            return Consistency(False, f"negative mass {self.mass:g} kg")
        if self.mass == 0.0:
            return Consistency(False, "inertia or first moment without mass")
        about_center, pseudo = np.array(self.tensor_about_center), self.pseudo
        if not (np.isfinite(about_center).all() and np.isfinite(pseudo).all()):
            return Consistency(False, "the inertia about the centre of mass is too large to compute with")
        moments = np.linalg.eigvalsh(about_center)
        moments_text = ", ".join(f"{moment:.4g}" for moment in moments)
        # Moments about the centre are differences of larger numbers and contain the rounding errors of those.
        slack = tolerance * abs(moments).max() + 1e-13 * abs(self.vector).max()
        if moments[0] < -slack:
            return Consistency(False, f"negative principal moment of inertia: {moments_text} kg m2")
        if moments[0] + moments[1] < moments[2] - slack:
            return Consistency(
                False,
                f"triangle inequality violated: the largest of the principal moments {moments_text} kg m2 exceeds "
                "the sum of the others",
            )
        # For a positive mass, the conditions above are equivalent to P >= 0 (Schur complement). P is checked as well,
        # as an independent computation.
        smallest = float(np.linalg.eigvalsh(pseudo)[0])
        if smallest < -slack - 1e-12 * float(np.trace(pseudo)):
            return Consistency(False, f"pseudo-inertia not positive: smallest eigenvalue {smallest:.3g}")
        if moments[0] + moments[1] <= moments[2] + slack:
            return Consistency(True, "limit case: all mass lies in a plane, on a line or in a point")
        return Consistency(True, "physically consistent")


def transport_matrix(frame: Frame) -> Float[np.ndarray, "10 10"]:
    """The 10 x 10 matrix T with theta_A = T theta_B; ``frame`` is frame B seen from frame A.

    T(F G) = T(F) T(G) and T(F^-1) = T(F)^-1.
    """
    h = frame.matrix
    return np.stack([_unpack_pseudo(h @ basis @ h.T) for basis in _BASIS], axis=1)


def _to_tensor(theta: Ten) -> Float[np.ndarray, "3 3"]:
    tensor = np.zeros((3, 3))
    for (row, column), value in zip(INERTIA_ENTRIES, theta[4:], strict=True):
        tensor[row, column] = tensor[column, row] = value
    return tensor


def _to_pseudo(theta: Ten) -> Float[np.ndarray, "4 4"]:
    tensor = _to_tensor(theta)
    pseudo = np.empty((4, 4))
    pseudo[:3, :3] = np.trace(tensor) / 2 * np.eye(3) - tensor
    pseudo[:3, 3] = pseudo[3, :3] = theta[1:4]
    pseudo[3, 3] = theta[0]
    return pseudo


def _unpack_pseudo(pseudo: Float[np.ndarray, "4 4"]) -> Ten:
    second_moments = pseudo[:3, :3]
    tensor = np.trace(second_moments) * np.eye(3) - second_moments
    return np.array([pseudo[3, 3], *pseudo[:3, 3], *(tensor[k] for k in INERTIA_ENTRIES)])


_BASIS = tuple(_to_pseudo(unit) for unit in np.eye(10))
