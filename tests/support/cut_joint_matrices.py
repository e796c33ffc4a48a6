"""Cut joints computed from homogeneous matrices of the links: an oracle for ``robot.loops.cut_joint``.

D is the pose of the child's side of a cut joint relative to the parent's side, D = (T_parent placement)^-1 T_child
seat^-1. If the loop is closed, D is a rotation about the axis of a revolute joint, a translation along the axis of a
prismatic joint, the identity for a fixed joint, and any rotation for a point joint.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import JointKind, Loop
from ytheta.robot.robot import Robot


def compute_residuals_by_matrices(robot: Robot, x: np.ndarray) -> np.ndarray:
    """Residuals at coordinates x, which vanish if all loops are closed."""
    A, b = robot.coupling_map
    return np.concatenate([_compute_residual(loop, D) for loop, D in _compute_displacements(robot, A @ x + b)])


def compute_positions_by_matrices(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Positions of revolute and prismatic cut joints at joint positions q."""
    return np.array([_compute_position(loop, D) for loop, D in _compute_displacements(robot, q) if loop.joint.moves])


def _compute_displacements(robot: Robot, q: np.ndarray) -> list[tuple[Loop, np.ndarray]]:
    """Every loop with the matrix D of its cut joint."""
    poses = link_poses(robot, q)
    sides = [
        (poses[joint.parent] @ joint.placement.matrix, poses[joint.child] @ joint.seat.inverse().matrix)
        for joint in (loop.joint for loop in robot.loops)
    ]
    return [(loop, np.linalg.solve(parent, child)) for loop, (parent, child) in zip(robot.loops, sides, strict=True)]


def _compute_residual(loop: Loop, D: np.ndarray) -> np.ndarray:
    rotation, translation, axis = D[:3, :3], D[:3, 3], np.array(loop.joint.axis)
    if loop.joint.kind is JointKind.POINT:
        return translation
    if loop.joint.kind is JointKind.REVOLUTE:
        return np.concatenate([translation, rotation @ axis - axis])
    if loop.joint.kind is JointKind.PRISMATIC:
        translation = translation - (translation @ axis) * axis
    return np.concatenate([translation, (rotation - np.eye(3)).ravel()])


def _compute_position(loop: Loop, D: np.ndarray) -> float:
    rotation, translation, axis = D[:3, :3], D[:3, 3], np.array(loop.joint.axis)
    if loop.joint.kind is JointKind.PRISMATIC:
        return float(translation @ axis)
    antisymmetric = rotation - rotation.T
    twice_sine = np.array([antisymmetric[2, 1], antisymmetric[0, 2], antisymmetric[1, 0]]) @ axis
    return math.atan2(float(twice_sine), float(np.trace(rotation)) - 1.0)
