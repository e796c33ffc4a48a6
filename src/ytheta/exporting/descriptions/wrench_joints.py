"""Floating bases and sensors of a robot in a file that does not have them: a root link that floats, fixed joints."""

from __future__ import annotations

from dataclasses import replace

from ytheta.errors import InputError
from ytheta.robot.floating.base import add_wrench_sensor, float_base
from ytheta.robot.parts import Joint, JointKind
from ytheta.robot.robot import Robot


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
