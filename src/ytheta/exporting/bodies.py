"""The inertias that the links of a file get, and the check that the file describes the robot.

An identified robot has one body for all links that fixed joints connect. In the file, each link on a fixed joint keeps
its inertia, and the link that carries it gets the rest of the body. If this rest is not physically consistent, the
carrying link gets the whole body, and the links on it become massless. In both cases, the sum is the identified body.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from ytheta.conventions import SNAP
from ytheta.errors import InputError, suggest_names
from ytheta.robot.floating import add_wrench_sensor, float_base
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import joint_pose
from ytheta.robot.parts import Drive, Force, Joint, JointKind, Link
from ytheta.robot.robot import Robot
from ytheta.robot.structure import Merge, merge_fixed_links

# Difference of a pose that reading cannot explain, so that the file describes another robot. Chosen on: reasoning,
# angles are snapped by at most SNAP, at levers of some metres.
MAX_POSE_DIFFERENCE = 20 * SNAP
# Position, in rad or m, at which joints are compared. Chosen on: reasoning, any value that is not a multiple of a
# right angle.
PROBE = 0.7
# Relative difference below which numbers are the same; larger differences are written. Chosen on: reasoning, some
# thousand times the precision of numbers.
SAME_NUMBER = 1e-12


@dataclass(frozen=True, eq=False)
class FileChanges:
    """What changes in a file.

    Attributes
    ----------
    inertias  the new inertias of links, by name
    drives    the drives of joints whose rotor inertia or friction changes, by name
    loads     fixed joints and links of loads that the file does not have
    forces    declared forces of the file whose values change, such as springs of MJCF, with the new values
    """

    inertias: Mapping[str, Inertia]
    drives: Mapping[str, Drive]
    loads: tuple[tuple[Joint, Link], ...]
    forces: tuple[Force, ...] = ()


def find_changes(described: Robot, robot: Robot, *, file: str, unknown: Collection[str] = ()) -> FileChanges:
    """Return what must change in a file so that it describes the robot.

    ``described`` is the robot in the file; ``unknown`` are its links whose inertias are not known.
    """
    robot = robot.numeric
    loads = {link.name for link in robot.links if link.load}
    described = replace(
        described, links=tuple(replace(link, load=link.name in loads) for link in described.numeric.links)
    )
    target = robot.merged
    check_same_geometry(described.merged, target, file)
    known, values = {link.name for link in described.links}, {force.name: force.value for force in described.forces}
    return FileChanges(
        _find_inertias(described, robot, target, unknown),
        _find_drives(described, robot),
        tuple((joint, target.link(joint.child)) for joint in target.joints if joint.child in loads - known),
        tuple(force for force in robot.forces if values.get(force.name, force.value) != force.value),
    )


def check_same_geometry(described: Robot, robot: Robot, file: str) -> None:
    """Raise InputError unless two robots without fixed joints have the same joints and sensors at the same places."""
    joints = {joint.name: joint for joint in _list_compared(described)}
    for joint in _list_compared(robot):
        if joint.name not in joints:
            raise InputError(
                f"{file} has no joint {joint.name!r}, which {robot.name!r} has{suggest_names(joint.name, joints)}; "
                "give the description from which the model was identified"
            )
        differences = list_joint_differences(joint, robot, joints.pop(joint.name), described)
        if differences:
            raise InputError(
                f"joint {joint.name!r} of {robot.name!r} has another {differences[0]} in {file}; "
                "give the description from which the model was identified"
            )
    if joints:
        raise InputError(
            f"{robot.name!r} has no joint {next(iter(joints))!r}, which {file} has; "
            "give the description from which the model was identified"
        )


def list_joint_differences(joint: Joint, robot: Robot, other: Joint, described: Robot) -> list[str]:
    """Return what differs between two joints of two robots without fixed joints, such as "type".

    Places are compared only if both robots have numbers for all lengths and angles.
    """
    has_numbers = not (robot.unset_symbols or described.unset_symbols)
    differences = {
        "parent link": _name_parent(joint, robot) != _name_parent(other, described),
        "child link": joint.child != other.child,
        "type": joint.kind != other.kind,
        "position or axis": has_numbers and _measure_difference(joint, other) > MAX_POSE_DIFFERENCE,
    }
    return [what for what, differs in differences.items() if differs]


def _list_compared(robot: Robot) -> list[Joint]:
    return [joint for joint in robot.joints if joint.moves or joint.kind is JointKind.SENSOR]


def _name_parent(joint: Joint, robot: Robot) -> str:
    """Return the parent link of a joint; the base has no name, since formats call it differently."""
    return "" if joint.parent == robot.base.name else joint.parent


def _measure_difference(joint: Joint, other: Joint) -> float:
    """Return the largest difference of the poses of two joints at two positions."""
    return max(float(abs(joint_pose(joint, q) - joint_pose(other, q)).max()) for q in (0.0, PROBE))


def _find_inertias(described: Robot, robot: Robot, target: Robot, unknown: Collection[str]) -> dict[str, Inertia]:
    merge = merge_fixed_links(described.links, described.joints, {}, {})
    own = {link.name: link.inertia for link in robot.links}
    inertias: dict[str, Inertia] = {}
    for body in merge.links[1:]:
        members = [name for name, (carrier, _) in merge.carrier.items() if carrier == body.name]
        if len(robot.links) > len(target.links) and all(name in own for name in members):
            shares = {name: own[name] for name in members}  # the robot has the links of the file
        else:
            shares = _share_body(merge, described, members, target.link(body.name).inertia, unknown)
        inertias |= {
            name: share
            for name, share in shares.items()
            if name in unknown or not _is_same(share, described.link(name).inertia)
        }
    return inertias


def _share_body(
    merge: Merge, described: Robot, members: list[str], body: Inertia, unknown: Collection[str]
) -> dict[str, Inertia]:
    """Return the inertias of the links of one body; the first member carries the others."""
    carrier, *others = members
    shares = {name: Inertia() if name in unknown else described.link(name).inertia for name in others}
    carried = [share.seen_from(merge.carrier[name][1]) for name, share in shares.items() if not share.massless]
    if not carried:
        return {carrier: body, **shares}
    rest = Inertia(tuple((body.vector - reduce(add, carried).vector).tolist()))
    if carrier not in unknown and _is_same(rest, described.link(carrier).inertia, scale=body):
        return {carrier: described.link(carrier).inertia, **shares}
    if rest.consistency():
        return {carrier: rest, **shares}
    return {carrier: body, **dict.fromkeys(others, Inertia())}


def _is_same(new: Inertia, old: Inertia, scale: Inertia | None = None) -> bool:
    largest = np.abs((new if scale is None else scale).vector).max()
    return bool(np.abs(new.vector - old.vector).max() <= SAME_NUMBER * largest)


def _find_drives(described: Robot, robot: Robot) -> dict[str, Drive]:
    old = {joint.name: joint.drive for joint in described.movable}
    return {
        joint.name: joint.drive
        for joint in robot.movable
        if joint.drive.parameters[:3] != old[joint.name].parameters[:3]
    }


# Floating bases and sensors of a robot in a file that does not have them: a root link that floats, fixed joints.


def match_wrench_joints(described: Robot, robot: Robot, *, file: str) -> Robot:
    """Return the robot in a file with the floating base and the sensors of the robot that is written to it."""
    if robot.floating and not described.floating:
        described = float_base(described)
    for joint in robot.joints:
        if joint.kind is JointKind.SENSOR:
            described = _add_sensor(described, joint, robot, file)
    return described


def _add_sensor(described: Robot, sensor: Joint, robot: Robot, file: str) -> Robot:
    """Return the robot in a file with this sensor, which is a fixed joint of the file or below its base."""
    kinds = {joint.name: joint.kind for joint in described.joints}
    match kinds.get(sensor.name):
        case JointKind.SENSOR:
            return described
        case JointKind.FIXED:
            joints = (replace(j, kind=JointKind.SENSOR) if j.name == sensor.name else j for j in described.joints)
            return replace(described, joints=tuple(joints))
        case None if sensor.parent == robot.base.name:
            below = add_wrench_sensor(described, frame=sensor.placement)
            named = replace(below.joints[0], name=sensor.name)
            return replace(below, joints=(named, *below.joints[1:]), actuated=described.actuated)
        case _:
            raise InputError(
                f"the sensor {sensor.name!r} of {robot.name!r} is not a fixed joint of {file}; give the description "
                "from which the model was identified"
            )
