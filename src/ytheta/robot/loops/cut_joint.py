"""Cut joints: how far they are from meeting at a pose, and where they stand.

Residual of one loop: with D the child's side of the cut joint seen from the parent's side,
D = (T_parent placement)^-1 T_child seat^-1, a revolute joint wants D to be a turn about its axis, a prismatic one a
shift along it, a fixed one nothing, a point no shift. Positions are compared in metres, directions in radians; planar
mechanisms leave some of the equations empty, which least squares does not mind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Joint, JointKind, Loop
from ytheta.robot.robot import Robot
from ytheta.shapes import Float


@dataclass(frozen=True)
class LoopState:
    """One loop at a pose: how far its cut joint is from meeting, and the position of that joint."""

    name: str
    gap: float
    position: float


def loop_states(robot: Robot, q: Float[np.ndarray, "joints"]) -> tuple[LoopState, ...]:
    """How far each loop is from closing at given joint positions."""
    robot = robot.numeric
    poses = link_poses(robot, q)
    states = []
    for loop in robot.loops:
        across = _across(loop, poses)
        gap = float(np.abs(_residual(loop.joint, across)).max())
        states.append(LoopState(loop.name, gap, _position(loop.joint, across)))
    return tuple(states)


def closure_residuals(robot: Robot, x: Float[np.ndarray, "coordinates"]) -> Float[np.ndarray, "equations"]:
    """The closure equations of all loops at given coordinates; zero where the loops are closed."""
    poses = link_poses(robot, joint_positions(robot, x))
    return np.concatenate([_residual(loop.joint, _across(loop, poses)) for loop in robot.loops] or [np.zeros(0)])


def joint_positions(robot: Robot, x: Float[np.ndarray, "coordinates"]) -> Float[np.ndarray, "joints"]:
    """q = A x + b."""
    factors, offset = robot.coupling_map
    q: Float[np.ndarray, "joints"] = factors @ x + offset
    return q


def _across(loop: Loop, poses: Mapping[str, Float[np.ndarray, "4 4"]]) -> Float[np.ndarray, "4 4"]:
    """The child's side of the cut joint seen from the parent's side."""
    joint = loop.joint
    one = poses[joint.parent] @ joint.placement.matrix
    other = poses[joint.child] @ joint.seat.inverse().matrix
    across: Float[np.ndarray, "4 4"] = np.linalg.solve(one, other)
    return across


def _residual(joint: Joint, across: Float[np.ndarray, "4 4"]) -> Float[np.ndarray, "equations"]:
    turn, shift, axis = across[:3, :3], across[:3, 3], np.array(joint.axis)
    if joint.kind is JointKind.POINT:
        return shift.copy()
    if joint.kind is JointKind.REVOLUTE:
        # The axes must agree in direction; their cross product alone would also accept the opposite one.
        return np.concatenate([shift, turn @ axis - axis])
    if joint.kind is JointKind.PRISMATIC:
        return np.concatenate([shift - (shift @ axis) * axis, _turned(turn)])
    return np.concatenate([shift, _turned(turn)])


def _turned(turn: Float[np.ndarray, "3 3"]) -> Float[np.ndarray, "9"]:
    """What is left of a rotation that should be none; smooth, and zero only there."""
    return (turn - np.eye(3)).ravel()


def _position(joint: Joint, across: Float[np.ndarray, "4 4"]) -> float:
    """The position of a cut joint."""
    axis = np.array(joint.axis)
    if joint.kind is JointKind.PRISMATIC:
        return float(across[:3, 3] @ axis)
    if joint.kind is not JointKind.REVOLUTE:
        return 0.0
    turn = across[:3, :3]
    twice_sine = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) @ axis
    return math.atan2(float(twice_sine), float(np.trace(turn)) - 1.0)
