"""Poses of link frames at given joint positions, and changes of link frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ytheta.errors import InputError
from ytheta.robot.floating import rotation_matrices
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.parts import Joint, JointKind, Loop
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float


def link_poses(robot: Robot, q: Float[np.ndarray, " joints"]) -> dict[str, Float[np.ndarray, "4 4"]]:
    """The homogeneous matrix of every link and marker, seen from the base; q has the order of ``position_names``.

    If the base floats, the matrices are seen from the world.
    """
    check_is_robot(robot)
    robot = robot.numeric
    if len(q) != len(robot.position_names):
        count = f"{len(robot.movable)} movable joint{'s' if len(robot.movable) != 1 else ''}"
        count += " and six coordinates of its floating base" if robot.floating else ""
        raise InputError(f"robot {robot.name!r} has {count}, but q has {len(q)} entr{'ies' if len(q) != 1 else 'y'}")
    position = dict(zip(robot.position_names, q, strict=True))
    poses = {robot.base.name: np.eye(4)}
    for joint in robot.joints:
        if joint.kind is JointKind.FREE:
            poses[joint.child] = _compute_base_pose(np.asarray(q[: len(robot.base_coordinates)], dtype=float))
        else:
            poses[joint.child] = poses[joint.parent] @ joint_pose(joint, position.get(joint.name, 0.0))
    for marker in robot.markers:
        poses[marker.name] = poses[marker.link] @ marker.frame.matrix
    return poses


def _compute_base_pose(q: Float[np.ndarray, "6"]) -> Float[np.ndarray, "4 4"]:
    """The floating base seen from the world."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation_matrices(q[None, 3:])[0], q[:3]
    return pose


def joint_pose(joint: Joint, q: float) -> Float[np.ndarray, "4 4"]:
    """The child link seen from the parent link at position q."""
    pose: Float[np.ndarray, "4 4"] = joint.placement.matrix @ _compute_displacement(joint, q) @ joint.seat.matrix
    return pose


def _compute_displacement(joint: Joint, q: float) -> Float[np.ndarray, "4 4"]:
    """The moved frame seen from the joint frame."""
    if joint.kind is JointKind.REVOLUTE:
        return Frame.turn(joint.axis, float(q)).matrix
    if joint.kind is JointKind.PRISMATIC:
        return Frame.shift(*(float(q) * a for a in joint.axis)).matrix
    return np.eye(4)


def change_link_frames(robot: Robot, frames: Mapping[str, Frame]) -> Robot:
    """Return the robot with new link frames, each seen from the old one. Links that are not named keep their frames.

    Joint axes do not move: placements and seats change instead. A new frame of the base changes the mounting. The new
    frames of links with mass must be numeric.
    """

    def frame(link: str) -> Frame:
        return frames.get(link, IDENTITY)

    def change_ends(joint: Joint) -> Joint:
        placement = frame(joint.parent).inverse() @ joint.placement
        return replace(joint, placement=placement, seat=joint.seat @ frame(joint.child))

    for name in frames:
        robot.link(name)
    return replace(
        robot,
        links=tuple(
            replace(link, inertia=link.inertia.seen_from(frame(link.name).inverse()), zero=())
            if link.name in frames and (link.zero or not link.inertia.massless)
            else link
            for link in robot.links
        ),
        joints=tuple(change_ends(joint) for joint in robot.joints),
        loops=tuple(Loop(change_ends(loop.joint)) for loop in robot.loops),
        markers=tuple(replace(marker, frame=frame(marker.link).inverse() @ marker.frame) for marker in robot.markers),
        collision=tuple(replace(shape, frame=frame(shape.link).inverse() @ shape.frame) for shape in robot.collision),
        mounting=robot.mounting @ frame(robot.base.name),
    )
