"""Coulomb friction that has passed the low-pass: entries of Y that come from directions instead of the kernel.

A drive's Coulomb column is its row of rates, transposed, times the direction in which it turns. Without loops that row
is constant, and it is the column of the drive's offset. With loops it changes with the pose, and Coulomb friction stays
the kernel's own, with the sign of the speed at each sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.identify.rows import Values
from ytheta.kernels import regressor
from ytheta.minimal.base_parameters import BaseParameters
from ytheta.minimal.standard_parameters import FRICTION
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int
from ytheta.signal.direction import Turning

COULOMB, OFFSET = f".{FRICTION['coulomb']}", f".{FRICTION['offset']}"


@dataclass(frozen=True, eq=False)
class FrictionEntries:
    """The entries of Y that Coulomb friction makes: entry ``places[k]`` is ``factors[k]`` times a drive's direction."""

    places: Int[np.ndarray, "entries"]
    drives: Int[np.ndarray, "entries"]
    factors: Float[np.ndarray, "entries"]

    def write(self, values: Values, directions: Float[np.ndarray, "drives all"], first: int) -> None:
        """Put the directions of samples first, first + 1, … in their places."""
        chosen = slice(first, first + values.shape[1])
        for place, drive, factor in zip(self.places, self.drives, self.factors, strict=True):
            np.multiply(directions[drive, chosen], factor, out=values[place])


def turning(robot: Robot) -> Turning | None:
    """The drives of a robot as its log's directions need them; None with loops, where rates change with the pose."""
    if robot.loops:
        return None
    softness = dict.fromkeys(robot.moving, 0.0) | {name: drive.coulomb_speed for name, drive in robot.drives}
    return Turning(_rates(robot), np.array([softness[name] for name in robot.moving]))


def friction_entries(base: BaseParameters, indices: Sequence[Int[np.ndarray, "nonzeros"]]) -> FrictionEntries:
    """Where the kernel of the base regressor has its Coulomb entries."""
    rates = _rates(base.robot)
    drives = {f"{name}{COULOMB}": k for k, name in enumerate(base.robot.moving)}
    found = [
        (place, drives[name], rates[drives[name], row])
        for place, (row, column) in enumerate(zip(*indices, strict=True))
        if (name := base.independent[column]) in drives
    ]
    places, owners, factors = zip(*found, strict=True) if found else ((), (), ())
    return FrictionEntries(np.array(places, dtype=int), np.array(owners, dtype=int), np.array(factors, dtype=float))


def _rates(robot: Robot) -> Float[np.ndarray, "drives joints"]:
    """Speeds of all drives per speed of the actuated coordinates: the columns of their offsets."""
    offsets = [f"{name}{OFFSET}" for name in robot.moving]
    still = np.zeros((1, len(robot.actuated)))
    return np.ascontiguousarray(regressor(robot, parameters=offsets, backend="interpreter")(still, still, still)[0].T)
