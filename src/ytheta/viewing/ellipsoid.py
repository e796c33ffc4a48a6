"""Inertia ellipsoid: the solid ellipsoid of uniform density with the mass, centre and inertia of a body.

Identity      second moments about the centre of an ellipsoid with semi-axes a_k: m a_k^2 / 5 along its axes
              a_k^2 = 5 s_k / m with the eigenvalues s_k of S - m c c^T, S of the pseudo-inertia
A body that is not physically consistent has a negative eigenvalue; its semi-axis is drawn as zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float, Vector3, freeze

DENSITY_FACTOR = 5.0  # square of a semi-axis / variance of the mass along it


@dataclass(frozen=True, eq=False)
class InertiaEllipsoid:
    """An ellipsoid in the frame of a link.

    Attributes
    ----------
    mass        mass in kg
    center      centre of mass, in metres
    semi_axes   lengths of the semi-axes in metres, the shortest first
    axes        their directions, one per column: a rotation matrix
    consistent  whether a rigid body can have this inertia
    """

    mass: float
    center: Vector3
    semi_axes: Vector3
    axes: Float[np.ndarray, "3 3"]
    consistent: bool

    def __post_init__(self) -> None:
        for values in (self.center, self.semi_axes, self.axes):
            freeze(values)

    @cached_property
    def matrix(self) -> Float[np.ndarray, "3 3"]:
        """The matrix M = A A^T of the ellipsoid {center + A u, |u| <= 1}; its projections follow from it."""
        return freeze((self.axes * self.semi_axes**2) @ self.axes.T)


def make_ellipsoid(inertia: Inertia) -> InertiaEllipsoid | None:
    """Return the ellipsoid of a body; None if its mass is not positive."""
    if not inertia.mass > 0.0:
        return None
    center = np.array(inertia.center)
    moments = inertia.pseudo[:3, :3] - inertia.mass * np.outer(center, center)
    values, axes = np.linalg.eigh(DENSITY_FACTOR / inertia.mass * moments)
    if np.linalg.det(axes) < 0.0:  # a rotation, not a reflection
        axes[:, 0] = -axes[:, 0]
    semi_axes = np.sqrt(np.maximum(values, 0.0))
    return InertiaEllipsoid(inertia.mass, center, semi_axes, axes, bool(inertia.consistency()))
