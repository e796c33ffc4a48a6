"""The kernels that a design needs: regressor, torque, and their derivatives; loops are closed once per motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.dynamics.constraint import Constraint, build_constraint
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
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.native.kernel import Kernel
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerJoint, SamplesByCoordinate, SamplesByJoint, SamplesByJointByBase

Gradient = Float[np.ndarray, "samples 3 joints"]

LOOP_STEP_SAFETY = 2.0  # factor of the distance between samples of joints that loops move
MAX_CONDITION_RATIO = 10.0  # condition number of the loops' Jacobian, divided by its value at home


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

    def pull_back_positions(self, x: SamplesByCoordinate, gradient: SamplesByJoint) -> SamplesByJoint:
        """Return a gradient with respect to q, from that with respect to the positions of all movable joints."""
        by_coordinate = gradient @ self.robot.merged.coupling_map[0]
        if self._loops is None:
            return np.asarray(by_coordinate)
        E = np.array(self._loops.tangent.map(len(x))(x.T))
        columns = E.reshape(x.shape[1], len(x), -1)  # CasADi puts the matrices of the samples side by side
        return np.einsum("sc,csa->sa", by_coordinate, columns)

    def bound_joint_steps(self, steps: SamplesByJoint, distances: SamplesByJoint) -> SamplesByJoint:
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
    def _loops(self) -> Constraint | None:
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
