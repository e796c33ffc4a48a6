"""Where the links are: poses of all link frames for given joint positions, in the base frame."""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Joint, JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import Float


def link_poses(robot: Robot, q: Float[np.ndarray, "joints"]) -> dict[str, Float[np.ndarray, "4 4"]]:
    """The homogeneous matrix of every link and marker seen from the base; q in the order of ``robot.movable``."""
    robot = robot.numeric
    if len(q) != len(robot.movable):
        count = f"{len(robot.movable)} movable joint{'s' if len(robot.movable) != 1 else ''}"
        raise InputError(f"robot {robot.name!r} has {count}, but q has {len(q)} entr{'ies' if len(q) != 1 else 'y'}")
    position = dict(zip((joint.name for joint in robot.movable), q, strict=True))
    poses = {robot.base.name: np.eye(4)}
    for joint in robot.joints:
        poses[joint.child] = poses[joint.parent] @ joint_pose(joint, position.get(joint.name, 0.0))
    for marker in robot.markers:
        poses[marker.name] = poses[marker.link] @ marker.frame.matrix
    return poses


def joint_pose(joint: Joint, q: float) -> Float[np.ndarray, "4 4"]:
    """The child seen from the parent at one joint position."""
    pose: Float[np.ndarray, "4 4"] = joint.placement.matrix @ motion(joint, q) @ joint.seat.matrix
    return pose


def motion(joint: Joint, q: float) -> Float[np.ndarray, "4 4"]:
    """The moved frame seen from the joint frame."""
    if joint.kind is JointKind.REVOLUTE:
        return Frame.turn(joint.axis, float(q)).matrix
    if joint.kind is JointKind.PRISMATIC:
        return Frame.shift(*(float(q) * a for a in joint.axis)).matrix
    return np.eye(4)
