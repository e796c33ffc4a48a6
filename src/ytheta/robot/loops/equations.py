"""The closure equations of a robot's loops: residuals, derivatives and rank, and the poses that solve them.

The unknowns are the coordinates x. The entries of a residual are in metres and radians; both sides of all cut joints
meet if all of them are zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.conventions import CLOSURE_TOLERANCE
from ytheta.robot.loops.cut_joint import CutJoint, locate_cut_joint
from ytheta.robot.loops.solver import MAX_ITERATIONS, compute_least_squares_step, linearize, solve_by_newton
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import (
    AnyBatchByCoordinate,
    AnyBatchByEquation,
    Bool,
    Float,
    PerCoordinate,
    PerJoint,
    SamplesByCoordinate,
    Shaped,
)

# Ratio of a singular value to the largest one (or to 1, if that is larger); below it, the singular value counts as
# zero. Near a singular pose, the gap grows with the square of the distance from that pose. A pose that is closed to
# CLOSURE_TOLERANCE may therefore be as far from the singular pose as its square root. Chosen on: this reasoning.
RANK_TOLERANCE = math.sqrt(CLOSURE_TOLERANCE)


def find_loop_coordinates(robot: Robot) -> tuple[str, ...]:
    """The coordinates of the joints in loops."""
    return robot.coordinates_of(joint for loop in robot.loops for joint in robot.joints_of(loop))


def compute_closure_residuals(robot: Robot, x: AnyBatchByCoordinate) -> AnyBatchByEquation:
    """The residuals of all loops at coordinates x."""
    factors, offset = robot.coupling_map
    q = np.zeros((*x.shape[:-1], len(offset)), dtype=x.dtype)
    for row, column in zip(*np.nonzero(factors), strict=True):  # few, so that a product of matrices takes longer
        q[..., row] += factors[row, column] * x[..., column]
    cuts = _locate_cut_joints(robot, q + offset)
    return np.concatenate([np.zeros((*x.shape[:-1], 0)), *(cut.residual for cut in cuts)], axis=-1)


def compute_closure_jacobian(robot: Robot, x: PerCoordinate) -> Float[np.ndarray, "equations coordinates"]:
    """Derivatives of the residuals of all loops with respect to the coordinates."""
    return compute_closure_jacobians(robot, x[None])[0]


def compute_closure_jacobians(
    robot: Robot, x: SamplesByCoordinate
) -> Float[np.ndarray, "samples equations coordinates"]:
    """Derivatives of the residuals of all loops with respect to the coordinates, for many samples.

    Residuals depend only on the coordinates of joints in loops, of which a robot with a few loops has few.
    """
    in_loops = [robot.coordinates.index(name) for name in find_loop_coordinates(robot)]
    derivatives = np.zeros((len(x), compute_closure_residuals(robot, x[:1]).shape[1], x.shape[1]))
    if in_loops:
        _, derivatives[:, :, in_loops] = linearize(
            lambda samples: compute_closure_residuals(robot, samples), x, in_loops
        )
    return derivatives


def compute_tangents(
    robot: Robot, x: SamplesByCoordinate, driving: Sequence[int], free: Sequence[int]
) -> Float[np.ndarray, "samples free driving"]:
    """Derivatives of the free coordinates with respect to the driving ones, in closed loops."""
    J = compute_closure_jacobians(robot, x)
    return -np.linalg.pinv(J[:, :, free]) @ J[:, :, driving]


def are_on_same_side(
    robot: Robot, x: SamplesByCoordinate, other: SamplesByCoordinate, free: Sequence[int]
) -> Bool[np.ndarray, " samples"]:
    """Whether no singular pose of the free coordinates is between two poses near each other.

    At a singular pose, a singular value of the Jacobian J passes zero, so that the determinant of J^T J', with J' at
    the other pose, is negative beyond it. Loops without common coordinates are compared one by one. True if the first
    pose is itself singular.
    """
    J, J_other = (compute_closure_jacobians(robot, each) for each in (x, other))
    result = np.ones(len(x), dtype=bool)
    for names in _group_loop_coordinates(robot):
        columns = [k for k in free if robot.coordinates[k] in names]
        if columns:
            A, B = J[:, :, columns], J_other[:, :, columns]
            singular = np.array([compute_rank(each) < len(columns) for each in A], dtype=bool)
            result &= singular | (np.linalg.det(A.swapaxes(1, 2) @ B) > 0.0)
    return result


def _group_loop_coordinates(robot: Robot) -> list[set[str]]:
    """The coordinates of the loops, one set for all loops that have coordinates in common."""
    groups: list[set[str]] = []
    for loop in robot.loops:
        names = set(robot.coordinates_of(robot.joints_of(loop)))
        names = names.union(*(group for group in groups if group & names))
        groups = [*(group for group in groups if not group & names), names]
    return groups


def compute_rank(matrix: Float[np.ndarray, "rows columns"]) -> int:
    """The number of singular values that count as more than zero."""
    if matrix.size == 0:
        return 0
    values = np.linalg.svd(matrix, compute_uv=False)
    return int(np.count_nonzero(values > RANK_TOLERANCE * max(1.0, values[0])))


def close_near(
    robot: Robot, x: SamplesByCoordinate, free: Sequence[int], *, max_iterations: int = MAX_ITERATIONS
) -> tuple[SamplesByCoordinate, Shaped[np.ndarray, " samples"]]:
    """Close the loops of samples by changing their free coordinates, with Newton's method started at x.

    Return the coordinates, and whether each sample is closed. If loops cannot close, the coordinates approach the pose
    with the smallest gap.
    """

    def equations(samples: AnyBatchByCoordinate) -> AnyBatchByEquation:
        return compute_closure_residuals(robot, samples)

    if free and robot.loops:
        x, _ = solve_by_newton(
            lambda trial: compute_least_squares_step(equations, trial, free), x, free, max_iterations=max_iterations
        )
    return x, np.linalg.norm(equations(x), axis=1) <= robot.closure_tolerance


@dataclass(frozen=True)
class LoopState:
    """One loop at a pose: the gap between both sides of its cut joint, and the position of this joint.

    The gap is the norm of a residual with entries in metres and radians. The position is in metres or radians.
    """

    name: str
    gap: float
    position: float


def compute_loop_states(robot: Robot, q: PerJoint) -> tuple[LoopState, ...]:
    """Gap and position of the cut joint of each loop at joint positions q."""
    return tuple(
        LoopState(cut.joint.name, float(np.linalg.norm(cut.residual)), _compute_position(cut))
        for cut in _locate_cut_joints(robot.numeric, q)
    )


def _locate_cut_joints(robot: Robot, q: Shaped[np.ndarray, "*batch joints"]) -> list[CutJoint]:
    cos, sin = np.cos(q), np.sin(q)
    return [locate_cut_joint(robot, loop, q, cos, sin) for loop in robot.loops]


def _compute_position(cut: CutJoint) -> float:
    if cut.joint.kind is JointKind.PRISMATIC:
        return float(cut.displacement)
    return math.atan2(*cut.sine_cosine) if cut.joint.kind is JointKind.REVOLUTE else 0.0
