"""Coulomb friction behind the low-pass: entries of Y computed from low-passed directions instead of by the kernel.

The Coulomb column of a drive is its row of velocity ratios, transposed, times the sign of its velocity. Without loops
that row is constant and equals the column of the drive's offset. With loops it depends on the pose; there the kernel
computes Coulomb friction from the sign of the velocity at each sample.

A joint at rest has no direction: the sign of its velocity is that of noise. If the description does not say over which
velocity friction changes its sign, ``SMOOTH_SPEED_RATIO`` of the joint's largest speed is taken.
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
from ytheta.shapes import Float, Int, NonzerosBySample, PerJoint

SMOOTH_SPEED_RATIO = 1e-3
SPEED_INTERVAL = 0.05  # s between the positions whose difference gives a speed; long enough to average out noise

COULOMB, OFFSET = f".{FRICTION_PARAMETERS['coulomb']}", f".{FRICTION_PARAMETERS['offset']}"


@dataclass(frozen=True, eq=False)
class FrictionEntries:
    """Non-zeros of Y of Coulomb friction: entry ``places[k]`` is ``factors[k]`` times the direction of a drive."""

    places: Int[np.ndarray, "entries"]
    drives: Int[np.ndarray, "entries"]
    factors: Float[np.ndarray, "entries"]

    def write(self, values: NonzerosBySample, directions: Float[np.ndarray, "drives all"], first: int) -> None:
        """Overwrite the entries of a block whose first sample is ``first``."""
        block = slice(first, first + values.shape[1])
        for place, drive, factor in zip(self.places, self.drives, self.factors, strict=True):
            np.multiply(directions[drive, block], factor, out=values[place])


def make_drive_directions(robot: Robot) -> DriveDirections | None:
    """The velocity ratios and smoothing speeds of a robot's drives; None if it has loops."""
    if robot.loops:  # ratios depend on the pose
        return None
    smooth_speeds = dict.fromkeys(robot.moving, 0.0) | {name: drive.coulomb_speed for name, drive in robot.drives}
    return DriveDirections(_velocity_ratios(robot), np.array([smooth_speeds[name] for name in robot.moving]))


def with_smooth_friction(robot: Robot, logs: Sequence[Log]) -> Robot:
    """Return the robot with smooth friction in all drives whose description has a jump."""
    if robot.loops:  # proportional velocities must stay proportional near rest, and the ratios depend on the pose
        return robot
    largest = np.max([_largest_speeds(log) for log in logs], axis=0)
    speeds = SMOOTH_SPEED_RATIO * np.maximum(largest, SMOOTH_SPEED_RATIO * largest.max(initial=0.0))
    smooth_speeds = dict(zip(robot.moving, (abs(_velocity_ratios(robot)) @ speeds).tolist(), strict=True))

    def smooth(name: str, drive: Drive) -> Drive:
        return drive if drive.coulomb_speed else replace(drive, coulomb_speed=smooth_speeds.get(name, 0.0))

    return robot.with_drives(smooth)


def _largest_speeds(log: Log) -> PerJoint:
    step = max(1, round(SPEED_INTERVAL * log.rate))
    largest = [np.zeros(len(log.joints))]
    for first, last in log.segments:
        t, q = log.t[first:last:step], log.q[first:last:step]
        if len(t) > 1:
            largest.append((abs(np.diff(q, axis=0)) / np.diff(t)[:, None]).max(axis=0))
    return np.max(largest, axis=0)


def find_friction_entries(base: BaseParameters, indices: Sequence[Int[np.ndarray, "nonzeros"]]) -> FrictionEntries:
    """Find the Coulomb entries among the non-zeros of a base regressor."""
    ratios = _velocity_ratios(base.robot)
    drives = {f"{name}{COULOMB}": k for k, name in enumerate(base.robot.moving)}
    entries = [
        (place, drives[name], ratios[drives[name], row])
        for place, (row, column) in enumerate(zip(*indices, strict=True))
        if (name := base.independent[column]) in drives
    ]
    places, owners, factors = zip(*entries, strict=True) if entries else ((), (), ())
    return FrictionEntries(np.array(places, dtype=int), np.array(owners, dtype=int), np.array(factors, dtype=float))


def _velocity_ratios(robot: Robot) -> Float[np.ndarray, "drives joints"]:
    """Velocities of all drives per velocity of the actuated coordinates: the columns of their offsets."""
    offsets = [f"{name}{OFFSET}" for name in robot.moving]
    zeros = np.zeros((1, len(robot.actuated)))
    return np.ascontiguousarray(regressor(robot, parameters=offsets, backend="interpreter")(zeros, zeros, zeros)[0].T)
