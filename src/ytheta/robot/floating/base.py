"""Robots with a floating base from robots with a fixed base, and the reverse; sensor joints.

A floating base is the child of a free joint, whose parent is the world. ``Robot`` explains its coordinates. A sensor
joint does not move, but adds six coordinates that are always zero; their torques are the wrench that it measures.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError
from ytheta.robot.floating.motion import rotation_matrices, rotation_vector_from_matrix
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot, check_is_robot

WORLD = "world"  # name of the link that replaces the base as the first link
FREE_JOINT = "base_joint"
BASE_SENSOR = "base_sensor"


def float_base(robot: Robot) -> Robot:
    """Return this robot with a floating base.

    Its base becomes a moving link with parameters, at the end of a free joint from a new link, the world. The mounting
    becomes the home of the base. A base without mass that is called "world" already and carries one fixed joint, as in
    many URDF files, stays the world.
    """
    check_is_robot(robot)
    if robot.floating:
        raise InputError(f"the base of robot {robot.name!r} floats already; leave this option out")
    on_base = [joint for joint in robot.joints if joint.parent == robot.base.name]
    links, joints = list(robot.links), list(robot.joints)
    if robot.base.name == WORLD and robot.base.inertia.massless and [j.kind for j in on_base] == [JointKind.FIXED]:
        fixed = on_base[0]
        pose = robot.mounting @ fixed.placement @ fixed.seat
        joints[joints.index(fixed)] = Joint(fixed.name, JointKind.FREE, fixed.parent, fixed.child)
    else:
        pose = robot.mounting
        world = _make_unique(WORLD, {link.name for link in links} | {marker.name for marker in robot.markers})
        name = _make_unique(FREE_JOINT, {joint.name for joint in joints} | set(robot.moving))
        links.insert(0, Link(world))
        joints.insert(0, Joint(name, JointKind.FREE, world, robot.base.name))
    return replace(
        robot,
        links=tuple(links),
        joints=tuple(joints),
        mounting=IDENTITY,
        home=(*list_home(pose), *robot.home),
    )


def fix_base(robot: Robot) -> Robot:
    """Return this robot with its floating base fixed at its home."""
    check_is_robot(robot)
    if not robot.floating:
        return robot
    pose = find_home_pose(robot)
    joints = tuple(
        replace(joint, kind=JointKind.FIXED, placement=pose) if joint.kind is JointKind.FREE else joint
        for joint in robot.joints
    )
    return replace(
        robot,
        joints=joints,
        home=tuple((name, value) for name, value in robot.home if name not in BASE_COORDINATES),
        actuated=robot.actuated[len(BASE_COORDINATES) :],
    )


def add_wrench_sensor(robot: Robot, joint: str | None = None, *, frame: Frame = IDENTITY) -> Robot:
    """Return this robot with a fixed joint that measures the wrench that it transmits to its child.

    ``joint`` is the name of a fixed joint; None stands for a sensor between the ground and the base of the robot. All
    links behind the sensor keep their own parameters. ``frame`` is the frame in which the sensor measures, seen from
    the frame of the joint or, for the base, from that of the base link. The measured wrench is the one that the parent
    exerts on the child: force, and moment about the origin of this frame.
    """
    check_is_robot(robot)
    if joint is None:
        if robot.floating:
            raise InputError(f"the wrench on the floating base of robot {robot.name!r} needs no sensor; log it as such")
        world = _make_unique(WORLD, {link.name for link in robot.links} | {marker.name for marker in robot.markers})
        name = _make_unique(BASE_SENSOR, {each.name for each in robot.joints} | set(robot.moving))
        sensor = Joint(name, JointKind.SENSOR, world, robot.base.name, placement=frame, seat=frame.inverse())
        return replace(robot, links=(Link(world), *robot.links), joints=(sensor, *robot.joints))
    fixed = robot.joint(joint)
    if fixed.kind is not JointKind.FIXED:
        raise InputError(
            f"joint {joint!r} is {fixed.kind}, but a sensor is a fixed joint; split the link in front of or behind it "
            "by a fixed joint at the sensor"
        )
    sensor = replace(
        fixed,
        kind=JointKind.SENSOR,
        placement=fixed.placement @ frame,
        seat=frame.inverse() @ fixed.seat,
    )
    return replace(robot, joints=tuple(sensor if each.name == joint else each for each in robot.joints))


def find_home_pose(robot: Robot) -> Frame:
    """Return the home of a floating base, seen from the world."""
    home = dict(robot.home)
    base = [home.get(name, 0.0) for name in BASE_COORDINATES]
    if not any(base[3:]):
        return Frame.shift(*base[:3])
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation_matrices(np.array([base[3:]]))[0], base[:3]
    return Frame.from_matrix(matrix)


def find_floating_link(robot: Robot) -> str:
    """Return the name of the link that a free joint moves, which is the base of a robot that floats."""
    (free,) = (joint for joint in robot.joints if joint.kind is JointKind.FREE)
    return free.child


def take_floating_part(robot: Robot) -> Robot:
    """Return what moves of a robot with a floating base, with the floating link as its base; the world is left out."""
    inside = {find_floating_link(robot)}
    for joint in robot.joints:  # parents come before children
        if joint.parent in inside:
            inside.add(joint.child)
    return replace(
        robot,
        links=tuple(link for link in robot.links if link.name in inside),
        joints=tuple(joint for joint in robot.joints if joint.parent in inside),
        markers=tuple(marker for marker in robot.markers if marker.link in inside),
        collision=tuple(shape for shape in robot.collision if shape.link in inside),
        home=tuple((name, value) for name, value in robot.home if name not in BASE_COORDINATES),
        actuated=robot.actuated[len(BASE_COORDINATES) :],
    )


def list_home(pose: Frame) -> tuple[tuple[str, float], ...]:
    """Return the home of a base with this pose in the world: the coordinates that are not zero, by name."""
    matrix = pose.matrix
    values = (*matrix[:3, 3].tolist(), *rotation_vector_from_matrix(matrix[:3, :3]).tolist())
    return tuple((name, value) for name, value in zip(BASE_COORDINATES, values, strict=True) if value != 0.0)


def refuse_floating_base(robot: Robot, purpose: str) -> None:
    """Raise InputError if the base floats or if there are sensor joints, for functions that are made for neither.

    ``purpose`` is the subject of the sentence, such as "a controller".
    """
    if robot.floating:
        raise InputError(
            f"robot {robot.name!r} has a floating base, which {purpose} does not support; load it with --fix-base "
            "(fix_base=True), which fixes the base at its home"
        )
    if robot.sensor_coordinates:
        sensor = robot.sensor_coordinates[0].rpartition("_")[0]
        raise InputError(
            f"robot {robot.name!r} has a sensor joint, {sensor!r}, which {purpose} does not support; make it a fixed "
            "joint"
        )


def _make_unique(proposal: str, used: set[str]) -> str:
    name, count = proposal, 2
    while name in used:
        name, count = f"{proposal}_{count}", count + 1
    return name
