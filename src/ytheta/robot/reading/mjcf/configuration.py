"""The configuration of an MJCF robot: its home position from a keyframe, and its actuated coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ytheta.errors import InputError
from ytheta.files.xml_document import Node
from ytheta.findings import Finding, Severity
from ytheta.robot.frame import Frame
from ytheta.robot.loops.independent import choose_independent
from ytheta.robot.reading.mjcf.joints import BALL_AXES, BALL_POSITIONS, MjcfJoint
from ytheta.robot.robot import Robot

HOME_KEY = "home"


def read_home(keyframe: Node, joints: Sequence[MjcfJoint]) -> dict[str, float]:
    """Return the positions of the keyframe ``home`` by joint, if it has as many positions as the joints need."""
    for key in keyframe.all("key"):
        if key.get("name", "") == HOME_KEY and "qpos" in key.attributes:
            qpos = key.numbers("qpos")
            if len(qpos) == sum(joint.positions for joint in joints):
                return _assign(qpos, joints)
    return {}


def _assign(qpos: Sequence[float], joints: Sequence[MjcfJoint]) -> dict[str, float]:
    home: dict[str, float] = {}
    start = 0
    for k, joint in enumerate(joints):
        values = qpos[start : start + joint.positions]
        start += joint.positions
        if len(values) == 1:
            home[joint.joint.name] = values[0]
        elif len(values) == BALL_POSITIONS:
            names = (hinge.joint.name for hinge in joints[k : k + len(BALL_AXES)])
            home |= dict(zip(names, _compute_angles(values), strict=True))
    return home


def _compute_angles(quaternion: Sequence[float]) -> tuple[float, float, float]:
    """Return the angles of successive turns about x, y and z."""
    try:
        rotation = Frame.from_quaternion(*quaternion).rotation
    except InputError:
        return 0.0, 0.0, 0.0
    return (
        math.atan2(-rotation[1][2], rotation[2][2]),
        math.asin(max(-1.0, min(1.0, rotation[0][2]))),
        math.atan2(-rotation[0][1], rotation[0][0]),
    )


def choose_actuated(robot: Robot, driven: Iterable[str]) -> Robot:
    """Return a robot with loops with its actuated coordinates: those with actuators, and others that stay free.

    Coordinates that neither an actuator nor a loop determines count as actuated. Those with actuators that depend on
    others do not. ``driven`` are names of joints in the file.
    """
    if not robot.loops:
        return robot
    driven = {name: None for joint in driven for name in (joint, *(f"{joint}.{letter}" for letter in BALL_AXES))}
    joints = {joint.name: joint for joint in robot.movable}
    preferred = dict.fromkeys(
        name for joint in driven if joint in joints for name in robot.coordinates_of([joints[joint]])
    )
    in_loops = set(robot.coordinates_of(joint for loop in robot.loops for joint in robot.joints_of(loop)))
    outside = tuple(name for name in robot.coordinates if name in joints and name not in in_loops)
    choice = choose_independent(robot, tuple(dict.fromkeys((*preferred, *outside))))
    findings: list[Finding] = []
    if choice.added:
        names = ", ".join(choice.added)
        statement = f"the loops leave coordinates free that no actuator drives; these count as actuated: {names}"
        findings.append(Finding("actuated", Severity.NOTE, statement, names=choice.added))
    dropped = tuple(name for name in choice.dropped if name in preferred)
    if dropped:
        statement = f"coordinates with actuators depend on others by the loops: {', '.join(dropped)}"
        findings.append(Finding("actuated", Severity.NOTE, statement, names=dropped))
    return replace(robot, actuated=choice.independent, findings=(*robot.findings, *findings))
