"""Trajectories that start and end at rest: linear maps from free unknowns to motion.

Identity      coefficients = origin + (Z x) · scale,   qd(0) = qdd(0) = 0 for every x, and q(0) = start if it is given
Notation      code     meaning                                                                 shape
              x        unknowns, one column per joint                                          unknowns joints
              Z        null space of the conditions of rest, orthonormal columns               coefficients unknowns
              origin   coefficients of a motionless joint at ``center``, or at the start pose  coefficients joints
              scale    half the range of each joint, so that all unknowns have similar sizes   joints

With a period that ends where it began, rest at the start is rest at the end. A Fourier series with n harmonics has
2 n - 1 unknowns per joint, and 2 n - 2 with a given start pose.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import null_space

from ytheta.excitation.trajectories.b_spline import BSpline
from ytheta.excitation.trajectories.basis import ACCELERATION, JERK, POSITION, VELOCITY
from ytheta.excitation.trajectories.fourier import Fourier
from ytheta.excitation.trajectories.trajectory import Trajectory
from ytheta.shapes import Float, PerJoint

Unknowns = Float[np.ndarray, "unknowns joints"]
Motion = Float[np.ndarray, "4 instants joints"]

ORDERS = (POSITION, VELOCITY, ACCELERATION, JERK)


@dataclass(frozen=True, eq=False)
class RestToRest:
    """All trajectories of one basis that start and end at rest.

    Attributes
    ----------
    joints   names of the actuated coordinates
    basis    Fourier series or B-splines
    periods  number of periods
    center   the pose about which trajectories shrink; the start pose if that is given
    scale    typical size of the motion of each joint
    starts_at_center
             whether all trajectories start at ``center``
    points   number of samples per period at which ``maps`` evaluate the motion
    """

    joints: tuple[str, ...]
    basis: Fourier | BSpline
    periods: int
    center: PerJoint
    scale: PerJoint
    starts_at_center: bool
    points: int

    @property
    def unknowns(self) -> int:
        """Number of unknowns per joint."""
        return int(self.null_space.shape[1])

    @cached_property
    def null_space(self) -> Float[np.ndarray, "coefficients unknowns"]:
        zero, w = np.zeros(1), 2.0 * np.pi / self.basis.period
        orders = (POSITION, VELOCITY, ACCELERATION) if self.starts_at_center else (VELOCITY, ACCELERATION)
        conditions = [self.basis.evaluate(zero, order) / w**order for order in orders]
        return np.asarray(null_space(np.concatenate(conditions)))

    @cached_property
    def origin(self) -> Float[np.ndarray, "coefficients joints"]:
        """Coefficients of rest at ``center``."""
        ones = np.linalg.lstsq(self.basis.evaluate(self._grid, POSITION), np.ones(self.points), rcond=None)[0]
        return np.outer(ones, self.center)

    @cached_property
    def maps(self) -> Float[np.ndarray, "4 instants unknowns"]:
        """Position, velocity, acceleration and jerk of one period per unit of each unknown of a joint of scale 1."""
        return self.evaluate_maps(self._grid)

    def evaluate_maps(self, t: np.ndarray) -> Float[np.ndarray, "4 instants unknowns"]:
        """Return ``maps`` at other times."""
        return np.stack([self.basis.evaluate(t, order) @ self.null_space for order in ORDERS])

    def move(self, x: Unknowns) -> Motion:
        """Return position, velocity, acceleration and jerk at the samples of one period."""
        motion: Motion = self.maps @ (x * self.scale)
        motion[POSITION] += self.center
        return motion

    def pull_back(self, gradient: Motion) -> Unknowns:
        """Return the gradient with respect to x, from that with respect to the motion."""
        rows = self.maps.reshape(-1, self.unknowns)
        return (rows.T @ gradient.reshape(len(rows), -1)) * self.scale

    def build(self, x: Unknowns) -> Trajectory:
        """Return the trajectory of these unknowns."""
        return Trajectory(self.joints, self.basis, self.periods, self.origin + self.null_space @ (x * self.scale))

    @property
    def _grid(self) -> Float[np.ndarray, "instants"]:
        return np.arange(self.points) * (self.basis.period / self.points)
