"""Smooth penalties for limits, with derivatives: the mean square of relative excesses.

Position, velocity, acceleration, jerk and torque are relative to their limits; margins of path constraints are relative
to ``MARGIN_SCALE``. The penalty begins a little inside the limits, so that the last shrink changes little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.dynamics.constraint import LoopConstraint, build_constraint
from ytheta.dynamics.kernels import (
    AnyKernel,
    ClosedKernel,
    inverse_dynamics,
    regressor,
    regressor_pullback,
    torque_pullback,
)
from ytheta.dynamics.loop_solver import MAX_DISTANCE, compute_closure_state, solve
from ytheta.engine.engine import PickledByFields
from ytheta.excitation.joint_bounds import JointBounds
from ytheta.excitation.trajectories import ACCELERATION, POSITION, VELOCITY, Motion
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.native.kernel import Kernel
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint, SamplesByCoordinate, SamplesByJoint, SamplesByJointByBase

LIMIT_SHARE = 0.995  # Share of a limit at which its penalty begins. Chosen on: rule of thumb.
# m; a margin that is too small by this amount counts like a limit exceeded by 100 %. Chosen on: rule of thumb.
MARGIN_SCALE = 0.01
MARGIN_RESERVE = 0.003  # m; margin at which the penalty of a path constraint begins. Chosen on: rule of thumb.


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


# The interface of constraints on the pose: distances between links, obstacles, boxes for frames.


SamplesByMargin = Float[np.ndarray, "samples margins"]


@runtime_checkable
class PathConstraint(Protocol):
    """Margins that must not be negative, as functions of the positions q of all movable joints, ``robot.movable``.

    Attributes
    ----------
    names      one name for each margin, such as "link4–link7" or "tool above floor"
    lipschitz  how fast each margin can change with each joint at most, m/rad or m/m; for the check between samples
    """

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def lipschitz(self) -> Float[np.ndarray, "margins joints"]: ...

    def compute_margins(self, q: SamplesByJoint) -> SamplesByMargin:
        """Return all margins in metres; at least 0 means that the constraint is kept."""

    def pull_back(self, q: SamplesByJoint, weights: SamplesByMargin) -> SamplesByJoint:
        """Return the sum of weights · ∂margin/∂q."""


# The kernels that a design needs: regressor, torque, and their derivatives; loops are closed once per motion.


Gradient = Float[np.ndarray, "samples 3 joints"]

# Factor of the distance between samples of joints that loops move, which bounds their motion in between. Chosen on:
# rule of thumb.
LOOP_STEP_SAFETY = 2.0
# Condition number of the loops' Jacobian, divided by its value at home; above it, a pose counts as nearly singular
# and is refused. Chosen on: rule of thumb.
MAX_CONDITION_RATIO = 10.0


@dataclass(frozen=True, eq=False)
class RobotKernels(PickledByFields):
    """Kernels of a robot, whose torques are those of its description, and of its base parameters."""

    robot: Robot
    base: BaseParameters

    @property
    def home(self) -> PerJoint:
        """The actuated coordinates of the home configuration, with closed loops."""
        if self._loops is None:
            return self.robot.home_coordinates
        return self._loops.home[list(self._loops.actuated)]

    def close(self, q: SamplesByJoint) -> SamplesByCoordinate | None:
        """Return all coordinates; None if loops do not close, or are near a singular pose."""
        if self._loops is None:
            return np.ascontiguousarray(q)
        if abs(q - self.home).max(initial=0.0) > MAX_DISTANCE:
            return None
        # Newton's method from home. A continuation for each sample would reach more poses, but takes long if it fails.
        start = np.tile(self._loops.home, (len(q), 1))
        outcome = solve(self._loops, np.ascontiguousarray(q), start)
        if not outcome.determined.all() or outcome.condition.max() > MAX_CONDITION_RATIO * self._home_condition:
            return None
        if self._loops.affine is None and not self._are_on_branch_of_home(outcome.x):
            return None
        return outcome.x

    def _are_on_branch_of_home(self, x: SamplesByCoordinate) -> bool:
        """Return whether all samples are on the same side of all singularities as home."""
        assert self._loops is not None
        positive = compute_closure_state(self._loops, np.concatenate([self._loops.home[None], x]))[2]
        return bool((positive == positive[0]).all())

    def compute_joint_positions(self, x: SamplesByCoordinate) -> SamplesByJoint:
        """Return the positions of all movable joints."""
        factors, offset = self.robot.merged.coupling_map
        return np.asarray(x @ factors.T + offset)

    def pull_back_positions(
        self, x: SamplesByCoordinate, gradient: Float[np.ndarray, "samples movable"]
    ) -> SamplesByJoint:
        """Return a gradient with respect to q, from that with respect to the positions of all movable joints."""
        by_coordinate = gradient @ self.robot.merged.coupling_map[0]
        if self._loops is None:
            return np.asarray(by_coordinate)
        E = np.array(self._loops.tangent.map(len(x))(x.T))
        columns = E.reshape(x.shape[1], len(x), -1)  # CasADi puts the matrices of the samples side by side
        return np.einsum("sc,csa->sa", by_coordinate, columns)

    def bound_joint_steps(
        self, steps: SamplesByJoint, distances: Float[np.ndarray, "samples movable"]
    ) -> Float[np.ndarray, "samples movable"]:
        """Return how far all movable joints move at most between two samples.

        ``steps`` bound the motion of the actuated coordinates. Joints that loops move have no such bound; for them,
        twice their ``distances`` between the samples count.
        """
        if self._loops is None:
            return np.asarray(steps @ abs(self.robot.merged.coupling_map[0]).T)
        return LOOP_STEP_SAFETY * distances

    def compute_regressor(
        self, x: SamplesByCoordinate, qd: SamplesByJoint, qdd: SamplesByJoint
    ) -> SamplesByJointByBase:
        return _find_kernel(self._regressor)(x, qd, qdd, threads=1)

    def pull_back_regressor(
        self, x: SamplesByCoordinate, qd: SamplesByJoint, qdd: SamplesByJoint, weights: SamplesByJointByBase
    ) -> Gradient:
        """Return the derivatives of the sum of weights · Y with respect to q, qd and qdd."""
        rows, columns = self._regressor.indices
        nonzeros = np.ascontiguousarray(weights[:, rows, columns])
        return _find_kernel(self._regressor_pullback)(x, qd, qdd, nonzeros, threads=1)

    def compute_torque(self, x: SamplesByCoordinate, qd: SamplesByJoint, qdd: SamplesByJoint) -> SamplesByJoint:
        return _find_kernel(self._torque)(x, qd, qdd, threads=1)

    def pull_back_torque(
        self, x: SamplesByCoordinate, qd: SamplesByJoint, qdd: SamplesByJoint, weights: SamplesByJoint
    ) -> Gradient:
        """Return the derivatives of the sum of weights · tau with respect to q, qd and qdd."""
        nonzeros = np.ascontiguousarray(weights[:, self._torque.indices[0]])
        return _find_kernel(self._torque_pullback)(x, qd, qdd, nonzeros, threads=1)

    def compute_tree_torque(
        self, x: SamplesByCoordinate, qd: SamplesByJoint, qdd: SamplesByJoint
    ) -> Float[np.ndarray, "samples movable"]:
        """Return the torques of all movable joints, as if couplings moved none of them; for robots without loops.

        The torques in loops are not unique.
        """
        factors = self.robot.merged.coupling_map[0]
        rates = [np.ascontiguousarray(each @ factors.T) for each in (qd, qdd)]
        return _find_kernel(self._tree_torque)(self.compute_joint_positions(x), *rates, threads=1)

    @cached_property
    def _tree_torque(self) -> AnyKernel:
        return inverse_dynamics(replace(self.robot.merged, couplings=(), motors=(), actuated=(), home=()))

    @cached_property
    def _loops(self) -> LoopConstraint | None:
        return build_constraint(self.robot) if self.robot.loops else None

    @cached_property
    def _home_condition(self) -> float:
        assert self._loops is not None
        return float(solve(self._loops, self.home[None]).condition[0])

    @cached_property
    def _regressor(self) -> AnyKernel:
        return regressor(self.base.robot, self.base)

    @cached_property
    def _regressor_pullback(self) -> AnyKernel:
        return regressor_pullback(self.base.robot, self.base)

    @cached_property
    def _torque(self) -> AnyKernel:
        return inverse_dynamics(self.robot)

    @cached_property
    def _torque_pullback(self) -> AnyKernel:
        return torque_pullback(self.robot)


def _find_kernel(kernel: AnyKernel) -> Kernel:
    """Return the kernel of all coordinates, which does not close loops itself."""
    return kernel.kernel if isinstance(kernel, ClosedKernel) else kernel
