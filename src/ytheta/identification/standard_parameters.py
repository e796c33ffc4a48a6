"""From base parameters back to standard ones: many sets move the robot alike, and one must be written down."""

from __future__ import annotations

import numpy as np

from ytheta.conventions import JOINT_PARAMETERS
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parameters import length_exponents
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

LENGTH = 0.1  # metres: how far from the joint axes the mass of an arm's links is, by order of magnitude


def standard_parameters(base: BaseParameters, beta: Float[np.ndarray, "base"]) -> Float[np.ndarray, "params"]:
    """The standard parameters nearest to the description's that give beta; masses, moments and inertias compared in
    units of a length. Joint parameters that were not asked about keep the description's values."""
    prior = base.robot.theta.copy()
    asked = set(base.selected)
    others = np.array([name not in asked for name in base.robot.parameter_names])
    held = np.where(others, prior, 0.0)
    theta = base.nearest(beta, prior - held, scale=LENGTH ** length_exponents(base.robot))
    return np.where(others, held, theta)


def consistent_links(robot: Robot) -> dict[str, str]:
    """Links whose inertia no body can have, and why; drives with negative rotor inertia or friction too."""
    links = {name: given.reason for name, given in robot.consistency.items() if not given}
    drives: dict[str, str] = {}
    for name, value in zip(robot.parameter_names, robot.theta, strict=True):
        owner, _, kind = name.rpartition(".")
        if kind in JOINT_PARAMETERS and kind != "fo" and value < 0.0:
            drives.setdefault(owner, f"{kind} is negative")
    return links | drives
