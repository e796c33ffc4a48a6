"""Coulomb friction that has passed the low-pass: entries of Y that come from directions instead of the kernel.

A drive's Coulomb column is its row of rates, transposed, times the direction in which it turns. Without loops that row
is constant, and it is the column of the drive's offset. With loops it changes with the pose, and Coulomb friction stays
the kernel's own, with the direction at each sample.

A joint that stands still has no direction: the sign of its speed is that of noise. Where the description does not say
how softly friction changes its sign, it does so within ``RESTING`` of the joint's largest speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.dynamics.kernels import regressor
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.logs.log import Log
from ytheta.logs.preparing.drive_directions import DriveDirections
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, NonzerosBySample

RESTING = 1e-3
SPACING = 0.05  # seconds from one position to the next whose difference is a speed: noise is small beside it

COULOMB, OFFSET = f".{FRICTION_PARAMETERS['coulomb']}", f".{FRICTION_PARAMETERS['offset']}"


@dataclass(frozen=True, eq=False)
class FrictionEntries:
    """The entries of Y that Coulomb friction makes: entry ``places[k]`` is ``factors[k]`` times a drive's direction."""

    places: Int[np.ndarray, "entries"]
    drives: Int[np.ndarray, "entries"]
    factors: Float[np.ndarray, "entries"]

    def write(self, values: NonzerosBySample, directions: Float[np.ndarray, "drives all"], first: int) -> None:
        """Put the directions of samples first, first + 1, … in their places."""
        chosen = slice(first, first + values.shape[1])
        for place, drive, factor in zip(self.places, self.drives, self.factors, strict=True):
            np.multiply(directions[drive, chosen], factor, out=values[place])


def drive_directions(robot: Robot) -> DriveDirections | None:
    """The drives of a robot as its log's directions need them; None with loops, where rates change with the pose."""
    if robot.loops:
        return None
    softness = dict.fromkeys(robot.moving, 0.0) | {name: drive.coulomb_speed for name, drive in robot.drives}
    return DriveDirections(_rates(robot), np.array([softness[name] for name in robot.moving]))


def with_smooth_friction(robot: Robot, logs: Sequence[Log]) -> Robot:
    """The robot with soft friction in those drives whose description leaves it sharp."""
    if robot.loops:  # drives whose rates are proportional must stay so near standstill, and rates depend on the pose
        return robot
    largest = np.max([_largest_speeds(log) for log in logs], axis=0)
    speeds = RESTING * np.maximum(largest, RESTING * largest.max(initial=0.0))
    wanted = dict(zip(robot.moving, (abs(_rates(robot)) @ speeds).tolist(), strict=True))

    def soft(name: str, drive: Drive) -> Drive:
        return drive if drive.coulomb_speed else replace(drive, coulomb_speed=wanted.get(name, 0.0))

    return robot.with_drives(soft)


def _largest_speeds(log: Log) -> Float[np.ndarray, "joints"]:
    step = max(1, round(SPACING * log.rate))
    found = [np.zeros(len(log.joints))]
    for first, last in log.segments:
        t, q = log.t[first:last:step], log.q[first:last:step]
        if len(t) > 1:
            found.append((abs(np.diff(q, axis=0)) / np.diff(t)[:, None]).max(axis=0))
    return np.max(found, axis=0)


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
