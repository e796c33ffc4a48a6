"""A robot with other values of its standard parameters, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ytheta.conventions import JOINT_PARAMETERS, LINK_PARAMETERS
from ytheta.errors import UnknownNameError, nearest
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Loop
from ytheta.robot.robot import Robot


def with_parameters(robot: Robot, values: Mapping[str, float]) -> Robot:
    """The robot without fixed joints (loads stay), with these parameters. Gear ratios become 1: Ia is at the joint."""
    merged = robot.merged
    check_names(merged, values)
    theta = iter([values.get(name, old) for name, old in zip(merged.parameter_names, merged.theta, strict=True)])
    links = [replace(link, inertia=Inertia(_next(theta, len(LINK_PARAMETERS)))) for link in merged.links[1:]]
    drives = {name: _driven(drive, _next(theta, len(JOINT_PARAMETERS))) for name, drive in merged.drives}
    return replace(
        merged,
        links=(merged.base, *links),
        joints=tuple(replace(joint, drive=drives.get(joint.name, joint.drive)) for joint in merged.joints),
        loops=tuple(Loop(replace(loop.joint, drive=drives.get(loop.name, Drive()))) for loop in merged.loops),
        motors=tuple(replace(motor, drive=drives[motor.name]) for motor in merged.motors),
        forces=tuple(replace(force, value=next(theta)) for force in merged.forces),
    )


def check_names(robot: Robot, values: Mapping[str, object]) -> None:
    """Refuse what is no parameter of the robot."""
    known = set(robot.parameter_names)
    for name in values:
        if name not in known:
            raise UnknownNameError(
                f"robot {robot.name!r} has no parameter {name!r}{nearest(name, known)}; a load that is grasped later "
                "must be part of the robot from the start: robot.with_load(Inertia())"
            )


def _next(theta: Iterator[float], count: int) -> tuple[float, ...]:
    return tuple(float(next(theta)) for _ in range(count))


def _driven(drive: Drive, parameters: tuple[float, ...]) -> Drive:
    inertia, viscous, coulomb, offset = parameters
    return Drive(inertia, 1.0, viscous, coulomb, offset, drive.coulomb_speed)
