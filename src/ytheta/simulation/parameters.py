"""A robot with other values of its standard parameters, by name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ytheta.errors import UnknownNameError, nearest
from ytheta.robot.parameters import with_theta
from ytheta.robot.robot import Robot


def with_parameters(robot: Robot, values: Mapping[str, float]) -> Robot:
    """The robot without fixed joints (loads stay), with these parameters."""
    check_names(robot, values)
    pairs = zip(robot.parameter_names, robot.theta.tolist(), strict=True)
    return with_theta(robot, np.array([float(values.get(name, old)) for name, old in pairs]))


def check_names(robot: Robot, values: Mapping[str, object]) -> None:
    """Refuse what is no parameter of the robot."""
    known = set(robot.parameter_names)
    for name in values:
        if name not in known:
            raise UnknownNameError(
                f"robot {robot.name!r} has no parameter {name!r}{nearest(name, known)}; a load that is grasped later "
                "must be part of the robot from the start: robot.with_load(Inertia())"
            )
