"""The standard parameters a question is about, and their units in lengths."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.errors import UnknownNameError, nearest
from ytheta.robot.parts import JointKind
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

FRICTION = {"viscous": "fv", "coulomb": "fc", "offset": "fo"}
# Powers of length in the unit of a parameter, per unit of mass; inertias have two.
POWERS = {"m": 0.0, "mx": 1.0, "my": 1.0, "mz": 1.0}


def asked_parameters(robot: Robot, *, rotor_inertia: bool, friction: Sequence[str] = ()) -> tuple[str, ...]:
    """Link parameters, sizes of forces, and of the joint parameters those named."""
    wanted = {FRICTION[kind] for kind in friction} | ({"Ia"} if rotor_inertia else set())
    left_out = set(JOINT_PARAMETERS) - wanted
    return tuple(name for name in robot.parameter_names if name.rpartition(".")[2] not in left_out)


def named_parameters(robot: Robot, patterns: Sequence[str]) -> tuple[str, ...]:
    """The standard parameters of these names or patterns such as ``joint_*.fv``, in the order of theta."""
    found: set[str] = set()
    for pattern in patterns:
        matching = {name for name in robot.parameter_names if name == pattern or fnmatchcase(name, pattern)}
        if not matching:
            hint = nearest(pattern, robot.parameter_names)
            raise UnknownNameError(f"robot {robot.name!r} has no parameter {pattern!r}{hint}")
        found |= matching
    return tuple(name for name in robot.parameter_names if name in found)


def sliding_joints(robot: Robot) -> set[str]:
    """Joints that slide, cut joints included."""
    joints = (*robot.movable, *(loop.joint for loop in robot.loops))
    return {joint.name for joint in joints if joint.kind is JointKind.PRISMATIC}


def powers_of_length(robot: Robot) -> Float[np.ndarray, "params"]:
    """In the unit of every standard parameter; the rotor inertia of a sliding joint is a mass."""
    sliding = sliding_joints(robot)
    powers: list[float] = []
    for name in robot.parameter_names:
        owner, _, parameter = name.rpartition(".")
        powers.append(0.0 if parameter == "Ia" and owner in sliding else POWERS.get(parameter, 2.0))
    return np.array(powers)
