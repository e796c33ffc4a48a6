"""A robot with other values for its standard parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ytheta.conventions import FORCE_PARAMETER, JOINT_PARAMETERS, LINK_PARAMETERS, parameter_name
from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Joint, Loop
from ytheta.robot.robot import Robot
from ytheta.shapes import Float


def with_theta(robot: Robot, theta: Float[np.ndarray, "params"]) -> Robot:
    """This robot, fixed links merged, with the values of theta in the order of ``robot.parameter_names``.

    Whether bodies with these inertias can exist is not asked: least squares does not know.
    """
    values = np.asarray(theta, dtype=float)
    if values.shape != (len(robot.parameter_names),) or not np.isfinite(values).all():
        raise InputError(f"theta must be {len(robot.parameter_names)} finite numbers for robot {robot.name!r}")
    known = dict(zip(robot.parameter_names, values.tolist(), strict=True))
    merged = robot.merged

    def moved(joint: Joint) -> Joint:
        return replace(joint, drive=_drive(joint.name, joint.drive, known))

    links = (
        merged.links[0],
        *(
            replace(link, inertia=Inertia(tuple(known[parameter_name(link.name, p)] for p in LINK_PARAMETERS)))
            for link in merged.links[1:]
        ),
    )
    return replace(
        merged,
        links=links,
        joints=tuple(moved(joint) for joint in merged.joints),
        loops=tuple(Loop(moved(loop.joint)) for loop in merged.loops),
        motors=tuple(replace(motor, drive=_drive(motor.name, motor.drive, known)) for motor in merged.motors),
        forces=tuple(
            replace(force, value=known[parameter_name(force.name, FORCE_PARAMETER)]) for force in merged.forces
        ),
    )


def _drive(name: str, drive: Drive, known: dict[str, float]) -> Drive:
    inertia, viscous, coulomb, offset = (known.get(parameter_name(name, p), 0.0) for p in JOINT_PARAMETERS)
    rotor = inertia / (drive.gear_ratio * drive.gear_ratio)
    return replace(drive, rotor_inertia=rotor, viscous=viscous, coulomb=coulomb, offset=offset)
