"""Standard parameters with given base parameters: of all sets, the one nearest to the description."""

from __future__ import annotations

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parameters import length_exponents
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, PerBase

UNIT_LENGTH = 0.1  # m: typical distance of a link's mass from its joint axis, to compare masses, moments and inertias


def find_standard_parameters(base: BaseParameters, beta: PerBase) -> Float[np.ndarray, "params"]:
    """Return the standard parameters nearest to the description's that give beta.

    Parameters that are not selected keep the description's values.
    """
    described = base.robot.theta.copy()
    selected = set(base.selected)
    fixed = np.array([name not in selected for name in base.robot.parameter_names])
    fixed_values = np.where(fixed, described, 0.0)
    theta = base.nearest(beta, described - fixed_values, scale=UNIT_LENGTH ** length_exponents(base.robot))
    return np.where(fixed, fixed_values, theta)


def find_inconsistent_parts(robot: Robot) -> dict[str, str]:
    """Links and drives whose parameters are not physically consistent, and why."""
    links = {name: consistency.reason for name, consistency in robot.consistency.items() if not consistency}
    drives: dict[str, str] = {}
    for name, value in zip(robot.parameter_names, robot.theta, strict=True):
        owner, _, kind = name.rpartition(".")
        if kind in JOINT_PARAMETERS and kind != "fo" and value < 0.0:
            drives.setdefault(owner, f"{kind} is negative")
    return links | drives
