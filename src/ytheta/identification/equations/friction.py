"""Coulomb friction after the low-pass: its entries of Y are low-passed signs of velocities, not values of the kernel.

The Coulomb column of a drive is the transposed row of its velocity ratios times the sign of its velocity. Without loops
that row is constant and equals the column of the drive's offset. With loops the row depends on the pose; then the
kernel computes Coulomb friction from the sign of the velocity at each sample.

If a joint is at rest, the sign of its measured velocity is only noise. Therefore the sign of the velocity v is smoothed
to v / sqrt(v² + s²). The smoothing speed s is the ``coulomb_speed`` of the description or, if there is none,
``SMOOTH_SPEED_RATIO`` times the joint's highest speed; the data choose a higher one if the user asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.logs.log import Log
from ytheta.logs.preparing.drive_directions import DriveDirections
from ytheta.logs.preparing.rest import compute_highest_speeds
from ytheta.native.products.block_sums import ReplacedRows
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Int, NonzerosBySample, PerJoint

SMOOTH_SPEED_RATIO = 1e-3

COULOMB, OFFSET = f".{FRICTION_PARAMETERS['coulomb']}", f".{FRICTION_PARAMETERS['offset']}"


@dataclass(frozen=True, eq=False)
class FrictionEntries:
    """Coulomb entries of Y: non-zero ``places[k]`` is ``factors[k]`` times the velocity sign of drive ``drives[k]``."""

    places: Int[np.ndarray, "entries"]
    drives: Int[np.ndarray, "entries"]
    factors: Float[np.ndarray, "entries"]

    def write(self, values: NonzerosBySample, directions: Float[np.ndarray, "drives all"], first: int) -> None:
        """Overwrite the Coulomb entries of a block whose first sample is ``first``."""
        block = slice(first, first + values.shape[1])
        for place, drive, factor in zip(self.places, self.drives, self.factors, strict=True):
            np.multiply(directions[drive, block], factor, out=values[place])

    def replace_rows(self, directions: Float[np.ndarray, "samples drives"]) -> ReplacedRows:
        """Return the Coulomb entries as rows of Y that are replaced by the directions of drives."""
        return ReplacedRows(directions, self.places, self.drives, self.factors)


def make_drive_directions(robot: Robot) -> DriveDirections | None:
    """Return the velocity ratios and smoothing speeds of a robot's drives, or None if it has loops."""
    if robot.loops:  # ratios depend on the pose
        return None
    smooth_speeds = dict.fromkeys(robot.moving, 0.0) | {name: drive.coulomb_speed for name, drive in robot.drives}
    return DriveDirections(compute_velocity_ratios(robot), np.array([smooth_speeds[name] for name in robot.moving]))


def with_smooth_speeds(robot: Robot, speeds: Mapping[str, float]) -> Robot:
    """Return the robot with these smoothing speeds, by drive, wherever the description has no ``coulomb_speed``."""

    def smooth(name: str, drive: Drive) -> Drive:
        return drive if drive.coulomb_speed else replace(drive, coulomb_speed=speeds.get(name, 0.0))

    return robot.with_drives(smooth) if speeds else robot


def find_smooth_speeds(robot: Robot, logs: Sequence[Log]) -> dict[str, float]:
    """Return ``SMOOTH_SPEED_RATIO`` times the highest speed of every drive; empty if the robot has loops.

    With loops, smoothing speeds would be proportional to velocity ratios, which depend on the pose.
    """
    if robot.loops:
        return {}
    highest = np.max([compute_highest_speeds(log) for log in logs], axis=0)
    floor = SMOOTH_SPEED_RATIO * highest.max(initial=0.0)
    return _compute_drive_speeds(robot, SMOOTH_SPEED_RATIO * np.maximum(highest, floor))


def find_highest_speeds(robot: Robot, logs: Sequence[Log]) -> dict[str, float]:
    """Return the highest speed of every drive in these logs, averaged over 50 ms; empty if the robot has loops."""
    if robot.loops:
        return {}
    return _compute_drive_speeds(robot, np.max([compute_highest_speeds(log) for log in logs], axis=0))


def _compute_drive_speeds(robot: Robot, speeds: PerJoint) -> dict[str, float]:
    """Return the speeds of all drives if every coordinate has its given speed in the worst direction."""
    return dict(zip(robot.moving, (abs(compute_velocity_ratios(robot)) @ speeds).tolist(), strict=True))


def find_friction_entries(base: ModelParameters, indices: Sequence[Int[np.ndarray, "nonzeros"]]) -> FrictionEntries:
    """Find the Coulomb entries among the non-zeros of a base regressor."""
    ratios = compute_velocity_ratios(base.robot)
    drives = {f"{name}{COULOMB}": k for k, name in enumerate(base.robot.moving)}
    entries = [
        (place, drives[name], ratios[drives[name], row])
        for place, (row, column) in enumerate(zip(*indices, strict=True))
        if (name := base.independent[column]) in drives
    ]
    places, owners, factors = zip(*entries, strict=True) if entries else ((), (), ())
    return FrictionEntries(np.array(places, dtype=int), np.array(owners, dtype=int), np.array(factors, dtype=float))


def compute_velocity_ratios(robot: Robot) -> Float[np.ndarray, "drives joints"]:
    """Return all drive velocities per unit velocity of each coordinate, for a robot without loops."""
    assert not robot.loops
    (joints, _), (motors, _) = robot.coupling_map, robot.motor_map
    return np.concatenate([joints, motors])
