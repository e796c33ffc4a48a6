"""Coulomb friction after the low-pass: its entries of Y are low-passed signs of velocities, not values of the kernel.

The Coulomb column of a drive is the transposed row of its velocity ratios times the sign of its velocity. That row is
the column of the drive's offset. Without loops it is constant, and multiplies the low-passed sign. With loops it
depends on the pose, and the products of ratio and sign are low-passed (``logs.preparing.drives``).

If a joint is at rest, the sign of its measured velocity is only noise. Therefore the sign of the velocity v is smoothed
to v / sqrt(v² + s²). The smoothing speed s is the ``coulomb_speed`` of the description or, if there is none,
``SMOOTH_SPEED_RATIO`` times the joint's highest speed; the data choose a higher one if the user asks for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ytheta.dynamics.kernels import AnyKernel, regressor
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.logs.log import Log, compute_highest_speeds, iterate_mean_speeds
from ytheta.logs.preparing.drives import (
    AnyDirections,
    DriveDirections,
    PairsBySample,
    PoseDirections,
    RestRule,
    make_rest_rule,
)
from ytheta.logs.preparing.preparation import AUTO, Preparation
from ytheta.native.products.row_sums import ReplacedRows
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.parts import Drive, parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float, Int, NonzerosBySample, PerJoint, SamplesByJoint

# Smoothing speed of the sign of a velocity, relative to the highest speed of the joint. Chosen on: rule of thumb.
SMOOTH_SPEED_RATIO = 1e-3

COULOMB, OFFSET = f".{FRICTION_PARAMETERS['coulomb']}", f".{FRICTION_PARAMETERS['offset']}"


@dataclass(frozen=True, eq=False)
class FrictionEntries:
    """Coulomb entries of Y: non-zero ``places[k]`` is ``factors[k]`` times row ``drives[k]`` of the directions.

    Without loops, the directions have one row per drive. With loops, they have one row per drive and joint, which
    contains the velocity ratio, and all factors are 1.
    """

    places: Int[np.ndarray, " entries"]
    drives: Int[np.ndarray, " entries"]
    factors: Float[np.ndarray, " entries"]

    def write(self, values: NonzerosBySample, directions: Float[np.ndarray, "drives all"], first: int) -> None:
        """Overwrite the Coulomb entries of a block whose first sample is ``first``."""
        block = slice(first, first + values.shape[1])
        for place, drive, factor in zip(self.places, self.drives, self.factors, strict=True):
            np.multiply(directions[drive, block], factor, out=values[place])

    def replace_rows(self, directions: Float[np.ndarray, "samples drives"]) -> ReplacedRows:
        """Return the Coulomb entries as rows of Y that are replaced by the directions of drives."""
        return ReplacedRows(directions, self.places, self.drives, self.factors)


@dataclass(frozen=True, eq=False)
class PoseRatios:
    """Velocity ratios of a robot with loops: the columns of the offsets of its drives."""

    kernel: AnyKernel

    @classmethod
    def of(cls, robot: Robot) -> PoseRatios:
        # Offsets do not depend on smoothing speeds: robots that differ in them share a kernel.
        return _find_pose_ratios(robot.with_drives(lambda _, drive: replace(drive, coulomb_speed=0.0)))

    @property
    def pairs(self) -> Int[np.ndarray, "pairs 2"]:
        """Drive and joint of every ratio that is not always zero."""
        joints, drives = self.kernel.indices
        return np.stack([drives, joints], axis=1)

    def compute(self, q: SamplesByJoint) -> PairsBySample:
        """Return the ratios of these pairs at each sample."""
        rates, rest = np.empty((len(self.kernel.indices[0]), len(q))), np.zeros_like(q)
        for block in self.kernel.blocks(q, rest, rest):
            rates[:, block.first : block.first + block.values.shape[1]] = block.values
        return rates


@lru_cache(maxsize=4)  # one identification makes several sources of motion, which need the same kernel
def _find_pose_ratios(robot: Robot) -> PoseRatios:
    return PoseRatios(regressor(robot, parameters=[f"{name}{OFFSET}" for name in robot.moving]))


def make_drive_directions(robot: Robot) -> AnyDirections:
    """Return the velocity ratios and smoothing speeds of a robot's drives."""
    smooth_speeds = list_smooth_speeds(robot)
    if not robot.loops:
        return DriveDirections(compute_velocity_ratios(robot), smooth_speeds)
    ratios = PoseRatios.of(robot)
    moves = np.ones(len(robot.actuated), dtype=bool)
    return PoseDirections(ratios.pairs, ratios.compute, smooth_speeds[np.newaxis], moves)


def list_smooth_speeds(robot: Robot) -> Float[np.ndarray, " drives"]:
    """Return the smoothing speeds of all drives; 0 if friction jumps."""
    named = dict.fromkeys(robot.moving, 0.0) | {name: drive.coulomb_speed for name, drive in robot.drives}
    return np.array([named[name] for name in robot.moving])


def with_smooth_speeds(robot: Robot, speeds: Mapping[str, float]) -> Robot:
    """Return the robot with these smoothing speeds, by drive, wherever the description has no ``coulomb_speed``."""

    def smooth(name: str, drive: Drive) -> Drive:
        return drive if drive.coulomb_speed else replace(drive, coulomb_speed=speeds.get(name, 0.0))

    return robot.with_drives(smooth) if speeds else robot


def find_smooth_speeds(robot: Robot, logs: Sequence[Log]) -> dict[str, float]:
    """Return ``SMOOTH_SPEED_RATIO`` times the highest speed of every drive."""
    if robot.loops:
        highest = np.max([_compute_highest_drive_speeds(robot, log) for log in logs], axis=0)
        floor = SMOOTH_SPEED_RATIO * highest.max(initial=0.0)
        return dict(zip(robot.moving, (SMOOTH_SPEED_RATIO * np.maximum(highest, floor)).tolist(), strict=True))
    highest = np.max([compute_highest_speeds(log) for log in logs], axis=0)
    highest[: len(robot.base_coordinates)] = 0.0  # a floating base has no drive, and may fall fast
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


def _compute_highest_drive_speeds(robot: Robot, log: Log) -> Float[np.ndarray, " drives"]:
    """Return the highest speeds of all drives of a robot with loops."""
    ratios = PoseRatios.of(robot)
    drives, joints = ratios.pairs.T
    highest = np.zeros(len(robot.moving))
    for q, qd in iterate_mean_speeds(log):
        velocity = np.zeros((len(highest), len(q)))
        np.add.at(velocity, drives, ratios.compute(q) * qd.T[joints])
        highest = np.maximum(highest, abs(velocity).max(axis=1))
    return highest


def find_friction_entries(base: ModelParameters, indices: Sequence[Int[np.ndarray, " nonzeros"]]) -> FrictionEntries:
    """Find the Coulomb entries among the non-zeros of a base regressor."""
    drives = {f"{name}{COULOMB}": k for k, name in enumerate(base.robot.moving)}
    coulomb = [
        (place, drives[name], int(row))
        for place, (row, column) in enumerate(zip(*indices, strict=True))
        if (name := base.independent[column]) in drives
    ]
    places = np.array([place for place, _, _ in coulomb], dtype=int)
    if base.robot.loops:
        rows = {(drive, joint): k for k, (drive, joint) in enumerate(PoseRatios.of(base.robot).pairs.tolist())}
        owners = [rows[drive, joint] for _, drive, joint in coulomb] if coulomb else []
        return FrictionEntries(places, np.array(owners, dtype=int), np.ones(len(owners)))
    ratios = compute_velocity_ratios(base.robot)
    factors = np.array([ratios[drive, joint] for _, drive, joint in coulomb], dtype=float)
    return FrictionEntries(places, np.array([drive for _, drive, _ in coulomb], dtype=int), factors)


def compute_velocity_ratios(robot: Robot) -> Float[np.ndarray, "drives joints"]:
    """Return all drive velocities per unit velocity of each coordinate, for a robot without loops."""
    assert not robot.loops
    (joints, _), (motors, _) = robot.coupling_map, robot.motor_map
    base = len(robot.base_coordinates)
    return np.concatenate([joints[base : base + len(robot.movable)], motors])


# Drives that can stick: those with Coulomb friction, estimated or described.
#
# At rest, the friction torque of such a drive may be anything between minus and plus its Coulomb friction. Therefore
# the equations of the joints on which the drive acts are left out while it rests; ``logs.preparing.rest`` finds the
# rests. A drive without Coulomb friction cannot stick, so that its equations hold at rest too.


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
    held: Bool[np.ndarray, " joints"] | None = None,
) -> tuple[RestRule | None, ...]:
    """Return the rule of every log; None if no drive can stick. ``held``: joints that do not move in any of them."""
    return tuple(make_rest_rule(each, rates, held) if len(rates) else None for each in preparations)


def is_auto(min_speed: float | Sequence[float] | PerJoint | str | None) -> bool:
    """Whether the equations of a joint are left out while it rests."""
    return isinstance(min_speed, str) and min_speed == AUTO


def check_min_speed(robot: Robot, min_speed: float | Sequence[float] | PerJoint | str | None) -> PerJoint | None:
    """Return one speed for each joint; a single speed applies to all joints. None for None and for "auto"."""
    if min_speed is None or is_auto(min_speed):
        return None
    count = len(robot.actuated)
    try:
        speeds = np.asarray(np.nan if isinstance(min_speed, str) else min_speed, dtype=float)
    except (TypeError, ValueError):
        speeds = np.array([np.nan])
    if not (np.isfinite(speeds) & (speeds >= 0.0)).all():
        raise InputError(f"min_speed is {min_speed!r}; give non-negative speeds in rad/s or m/s, or 'auto'")
    if speeds.shape not in ((), (1,), (count,)):
        raise InputError(f"min_speed has {speeds.size} speeds for {count} joints; give one for all, or one for each")
    return np.broadcast_to(speeds, (count,)).copy()
