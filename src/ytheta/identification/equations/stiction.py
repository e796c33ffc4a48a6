"""Drives that can stick: those with Coulomb friction, estimated or described.

At rest, the friction torque of such a drive may be anything between minus and plus its Coulomb friction. Therefore the
equations of the joints on which the drive acts are left out while it rests; ``logs.preparing.rest`` finds the rests. A
drive without Coulomb friction cannot stick, so that its equations hold at rest too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ytheta.conventions import parameter_name
from ytheta.identification.equations.friction import compute_velocity_ratios
from ytheta.logs.preparing.preparation import Preparation
from ytheta.logs.preparing.rest import RestRule, make_rest_rule
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float


def find_sticking_rates(robot: Robot, selected: Collection[str]) -> Float[np.ndarray, "drives joints"]:
    """Return the velocities of the drives that can stick per unit velocity of each coordinate, one row per drive.

    ``selected``: names of the parameters that are estimated. With loops, all coordinates take the place of the drives,
    if a drive can stick: the drives move if, and only if, coordinates move.
    """
    coulomb = {name: drive.coulomb for name, drive in robot.drives}
    sticks = [
        parameter_name(name, FRICTION_PARAMETERS["coulomb"]) in selected or coulomb.get(name, 0.0) != 0.0
        for name in robot.moving
    ]
    if robot.loops:
        return np.eye(len(robot.actuated))[: len(robot.actuated) if any(sticks) else 0]
    return compute_velocity_ratios(robot)[np.array(sticks, dtype=bool)]


def make_rest_rules(
    preparations: Sequence[Preparation],
    rates: Float[np.ndarray, "drives joints"],
    held: Bool[np.ndarray, "joints"] | None = None,
) -> tuple[RestRule | None, ...]:
    """Return the rule of every log; None if no drive can stick. ``held``: joints that do not move in any of them."""
    return tuple(make_rest_rule(each, rates, held) if len(rates) else None for each in preparations)
