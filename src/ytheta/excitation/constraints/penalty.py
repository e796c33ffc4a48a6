"""Smooth penalties for limits, with derivatives: the mean square of relative excesses.

Position, velocity, acceleration, jerk and torque are relative to their limits; margins of path constraints are relative
to ``MARGIN_SCALE``. The penalty begins a little inside the limits, so that the last shrink changes little.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.excitation.constraints.joint_bounds import JointBounds
from ytheta.excitation.constraints.path_constraint import PathConstraint
from ytheta.excitation.constraints.robot_kernels import RobotKernels
from ytheta.excitation.trajectories.basis import ACCELERATION, POSITION, VELOCITY
from ytheta.excitation.trajectories.rest_to_rest import Motion
from ytheta.shapes import Float, SamplesByCoordinate, SamplesByJoint

LIMIT_SHARE = 0.995  # share of a limit at which its penalty begins
MARGIN_SCALE = 0.05  # m; a margin that is too small by this amount counts like a limit exceeded by 100 %
MARGIN_RESERVE = 0.003  # m; margin at which the penalty of a path constraint begins


@dataclass(frozen=True, eq=False)
class Constraints:
    """Everything that a trajectory must keep.

    ``kernels`` belong to the robot, with its load if it has one. ``empty`` are those without the load, if the torques
    must be within their limits without it, too. Torques are linear in the load, so that they are within the limits for
    every part of it.
    """

    bounds: JointBounds
    kernels: RobotKernels
    paths: tuple[PathConstraint, ...] = ()
    empty: RobotKernels | None = None

    @property
    def loads(self) -> tuple[RobotKernels, ...]:
        """The kernels with each load for which torques are limited."""
        return (self.kernels,) if self.empty is None else (self.kernels, self.empty)

    def compute_torques(
        self, x: SamplesByCoordinate, qd: SamplesByJoint, qdd: SamplesByJoint
    ) -> Float[np.ndarray, "loads samples joints"]:
        return np.stack([kernels.compute_torque(x, qd, qdd) for kernels in self.loads])

    def penalize(self, motion: Motion, x: SamplesByCoordinate) -> tuple[float, Motion]:
        """Return the penalty of a sampled motion, and its derivatives with respect to the motion."""
        gradient = np.zeros_like(motion)
        bounds = self.bounds
        total, gradient[POSITION] = _penalize_excess(motion[POSITION] - bounds.middle, bounds.half_range)
        for order, limit in enumerate(bounds.rates, start=VELOCITY):
            value, gradient[order] = _penalize_excess(motion[order], limit)
            total += value
        qd, qdd = motion[VELOCITY], motion[ACCELERATION]
        for kernels in self.loads:
            value, slopes = _penalize_excess(kernels.compute_torque(x, qd, qdd), bounds.effort)
            if value > 0.0:
                total += value
                gradient[:3] += kernels.pull_back_torque(x, qd, qdd, slopes).transpose(1, 0, 2)
        if self.paths:
            positions = self.kernels.compute_joint_positions(x)
            slope = np.zeros_like(positions)
            for path in self.paths:
                value, part = _penalize_path(path, positions)
                total, slope = total + value, slope + part
            gradient[POSITION] += self.kernels.pull_back_positions(x, slope)
        return total, gradient


def _penalize_excess(values: SamplesByJoint, limits: np.ndarray) -> tuple[float, SamplesByJoint]:
    """Return the mean square of the excesses over the limits, and its derivatives."""
    excess = np.maximum(abs(values) / limits - LIMIT_SHARE, 0.0)
    return float((excess**2).sum() / len(values)), 2.0 * excess * np.sign(values) / (limits * len(values))


def _penalize_path(path: PathConstraint, q: SamplesByJoint) -> tuple[float, SamplesByJoint]:
    lack = np.maximum(MARGIN_RESERVE - path.compute_margins(q), 0.0) / MARGIN_SCALE
    if not lack.any():
        return 0.0, np.zeros_like(q)
    return float((lack**2).sum() / len(q)), path.pull_back(q, -2.0 * lack / (MARGIN_SCALE * len(q)))
