"""Recursive version of sequential least squares: on-line, sample by sample, with one small matrix per joint.

Identity      X_i(t) = argmin sum_{k<=t} f^(t-k) (tau_i - U_ii X_i - sum_{j>i} U_ij X_j(t))²,   i = n, n - 1, …, 1
Reference     [ha1989] (38), after which recursive least squares is proposed as a replacement
Accepts       every robot and form
Notation      code    paper        meaning                                                        shape
              own     X_i          parameters that occur first in joint i's equations             own
              later   X_j, j > i   parameters in these equations that other joints determine      later
              B       -            tau_i and the columns U_ij, j > i, each estimated as a         own x (1 + later)
                                   combination of the columns U_ii
Differs from  the paper in: the paper solves for one joint after the other; on-line, this would use X_j that are not yet
              accurate. Here the first column b of B and the others, C, are updated with the same gain, and
              X_i = b - C X_later is (38) for all samples up to t with the X_j of time t, exactly. A step needs about
              sum_i own_i · (own_i + later_i) multiplications, fewer than the joints · base² of ``recursive``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.identification.equations.form import RegressorLayout
from ytheta.identification.estimators.recursive import RecursiveLeastSquares, State
from ytheta.identification.estimators.sequential import order_joints
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, PerBase, PerJoint


@dataclass(frozen=True, eq=False)
class JointState:
    """The estimates of one joint: parameters to solve for and already solved for, root of the covariance, and B."""

    joint: int
    own: Int[np.ndarray, "own"]
    later: Int[np.ndarray, "later"]
    root: Float[np.ndarray, "own own"]
    B: Float[np.ndarray, "own targets"]


@dataclass(frozen=True, eq=False)
class SequentialState:
    """The estimates of all joints, tips first, and the number of parameters."""

    joints: tuple[JointState, ...]
    count: int

    @property
    def beta(self) -> PerBase:
        """The parameters: (38) with all samples so far."""
        beta = np.zeros(self.count)
        for joint in self.joints:
            beta[joint.own] = joint.B[:, 0] - joint.B[:, 1:] @ beta[joint.later]
        return beta


@dataclass(frozen=True)
class RecursiveSequential:
    """The on-line estimator; the settings are those of RecursiveLeastSquares."""

    forgetting: float = 1.0
    initial_spread: float = 1e6
    largest_spread: float = 1e12

    def __post_init__(self) -> None:
        _ = self._joint_estimator

    def init(self, robot: Robot, layout: RegressorLayout, beta: PerBase) -> SequentialState:
        """Return the initial state; ``layout`` is that of an equation form, ``beta`` the initial parameters."""
        return self._make_state(order_joints(robot), layout.columns, beta)

    def step(
        self, state: SequentialState, Y: Float[np.ndarray, "joints base"], tau: PerJoint
    ) -> tuple[PerJoint, SequentialState]:
        """Return the measured minus the predicted torque, and the state after this sample."""
        residual = tau - Y @ state.beta
        joints = tuple(self._update(joint, Y[joint.joint], float(tau[joint.joint])) for joint in state.joints)
        return residual, replace(state, joints=joints)

    def _update(self, joint: JointState, row: PerBase, tau: float) -> JointState:
        """Update B for one more equation: its columns are independent problems that share the gain."""
        if not len(joint.own):
            return joint
        targets = np.concatenate([[tau], row[joint.later]])
        A, ones = row[None, joint.own], np.ones(len(joint.own))
        # One step of recursive least squares, with a unit residual, gives the gain and the new root.
        _, stepped = self._joint_estimator.step(State(0.0 * ones, ones, joint.root), A, np.ones(1))
        B = joint.B + stepped.beta[:, None] * (targets - A[0] @ joint.B)
        return replace(joint, B=B, root=stepped.root)

    def _make_state(
        self, order: Sequence[int], columns: Sequence[Int[np.ndarray, "own"]], beta: PerBase
    ) -> SequentialState:
        solved = np.zeros(len(beta), dtype=bool)
        joints: list[JointState] = []
        for j in order:
            before = solved[columns[j]]
            own, later = columns[j][~before], columns[j][before]
            B = np.zeros((len(own), 1 + len(later)))
            B[:, 0] = beta[own]
            joints.append(JointState(j, own, later, np.sqrt(self.initial_spread) * np.eye(len(own)), B))
            solved[columns[j]] = True
        return SequentialState(tuple(joints), len(beta))

    @property
    def _joint_estimator(self) -> RecursiveLeastSquares:
        return RecursiveLeastSquares(self.forgetting, self.initial_spread, self.largest_spread)
