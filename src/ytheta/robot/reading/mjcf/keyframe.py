"""The home configuration of an MJCF robot, from a keyframe."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError
from ytheta.files.xml_document import Node
from ytheta.robot.floating.base import list_home
from ytheta.robot.frame import Frame
from ytheta.robot.reading.mjcf.joints import BALL_AXES, BALL_POSITIONS, MjcfJoint

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
        elif joint.base_pose is not None:
            home |= dict.fromkeys(BASE_COORDINATES, 0.0) | dict(list_home(_read_pose(values)))
    return home


def _read_pose(values: Sequence[float]) -> Frame:
    """Return the pose of a floating base from its position and its quaternion w, x, y, z."""
    position = Frame.shift(*values[:3])
    try:
        return position @ Frame.from_quaternion(*values[3:])
    except InputError:
        return position


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
