"""Cut joints by homogeneous matrices of the links: an oracle for ``robot.loops.cut_joint``, which follows loops only.

With D the child's side of a cut joint seen from the parent's side, D = (T_parent placement)^-1 T_child seat^-1, D is
a rotation about the axis of a closed revolute joint, a translation along that of a prismatic one, the identity for a
fixed one, and any rotation for a point.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import JointKind, Loop
from ytheta.robot.robot import Robot


def residuals_by_matrices(robot: Robot, x: np.ndarray) -> np.ndarray:
    """Entries that vanish if all loops are closed, at coordinates x."""
    A, b = robot.coupling_map
    return np.concatenate([_residual(loop, D) for loop, D in _displacements(robot, A @ x + b)])


def positions_by_matrices(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Positions of the cut joints that move."""
    return np.array([_position(loop, D) for loop, D in _displacements(robot, q) if loop.joint.moves])


def _displacements(robot: Robot, q: np.ndarray) -> list[tuple[Loop, np.ndarray]]:
    """Every loop with its D."""
    poses = link_poses(robot, q)
    sides = [
        (poses[joint.parent] @ joint.placement.matrix, poses[joint.child] @ joint.seat.inverse().matrix)
        for joint in (loop.joint for loop in robot.loops)
    ]
    return [(loop, np.linalg.solve(parent, child)) for loop, (parent, child) in zip(robot.loops, sides, strict=True)]


def _residual(loop: Loop, D: np.ndarray) -> np.ndarray:
    rotation, translation, axis = D[:3, :3], D[:3, 3], np.array(loop.joint.axis)
    if loop.joint.kind is JointKind.POINT:
        return translation
    if loop.joint.kind is JointKind.REVOLUTE:
        return np.concatenate([translation, rotation @ axis - axis])
    if loop.joint.kind is JointKind.PRISMATIC:
        translation = translation - (translation @ axis) * axis
    return np.concatenate([translation, (rotation - np.eye(3)).ravel()])


def _position(loop: Loop, D: np.ndarray) -> float:
    rotation, translation, axis = D[:3, :3], D[:3, 3], np.array(loop.joint.axis)
    if loop.joint.kind is JointKind.PRISMATIC:
        return float(translation @ axis)
    antisymmetric = rotation - rotation.T
    twice_sine = np.array([antisymmetric[2, 1], antisymmetric[0, 2], antisymmetric[1, 0]]) @ axis
    return math.atan2(float(twice_sine), float(np.trace(rotation)) - 1.0)
