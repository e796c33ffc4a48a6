"""Standard parameters: among all that give the identified base parameters, those nearest to the description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS, parameter_name
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parameters import FRICTION_PARAMETERS, length_exponents
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerBase

# Typical distance of a link's mass from its joint axis, in m; makes masses, first moments and inertias comparable.
TYPICAL_LENGTH = 0.1


def find_standard_parameters(base: BaseParameters, beta: PerBase) -> Float[np.ndarray, "params"]:
    """Return, among all standard parameters that give beta, those nearest to the description.

    Parameters that are not selected keep the values of the description.
    """
    described = base.robot.theta.copy()
    selected = set(base.selected)
    fixed = np.array([name not in selected for name in base.robot.parameter_names])
    fixed_values = np.where(fixed, described, 0.0)
    theta = base.nearest(beta, described - fixed_values, scale=TYPICAL_LENGTH ** length_exponents(base.robot))
    return np.where(fixed, fixed_values, theta)


def with_friction(robot: Robot, values: Mapping[str, float]) -> Robot:
    """Return the robot with these friction parameters, given by name; others keep the values of the description."""

    def change(name: str, drive: Drive) -> Drive:
        identified = {
            kind: values[parameter]
            for kind, symbol in FRICTION_PARAMETERS.items()
            if (parameter := parameter_name(name, symbol)) in values
        }
        return replace(drive, **identified)

    return robot.with_drives(change)


def find_inconsistent_parts(robot: Robot) -> dict[str, str]:
    """Return the links and drives whose parameters are not physically consistent, each with the reason."""
    links = {name: consistency.reason for name, consistency in robot.consistency.items() if not consistency}
    drives: dict[str, str] = {}
    for name, value in zip(robot.parameter_names, robot.theta, strict=True):
        owner, _, kind = name.rpartition(".")
        if kind in JOINT_PARAMETERS and kind != "fo" and value < 0.0:
            drives.setdefault(owner, f"{kind} is negative")
    return links | drives
