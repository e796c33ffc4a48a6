"""Columns of Y for friction beyond Coulomb: the root of the speed, and the torque that a drive transmits.

Like Coulomb friction, both change their sign with the low-passed direction of the drive, see ``friction``. The torque
that a drive transmits depends on the parameters of links and rotors. It is computed from given values of them, so that
the equations stay linear; an identification improves these values and computes the column again.

Notation      direction   low-passed sign of the velocity v of a drive
              root        direction · sqrt(|v|), times the velocity ratios of the drive
              load        direction · |torque of links, rotors and declared forces|
              viscous     v, if the drive has a ``friction_speed``; v is bounded by it in ``root`` and ``viscous``
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.conventions import ALL_JOINT_PARAMETERS
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.friction import compute_velocity_ratios, make_drive_directions
from ytheta.logs.preparing.drives import DriveDirections
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, JointsBySample, PerBase

VISCOUS, ROOT, LOAD = (f".{FRICTION_PARAMETERS[kind]}" for kind in ("viscous", "root", "load"))
LAWS = (ROOT, LOAD)


@runtime_checkable
class TorqueSource(Protocol):
    """A part of a model that computes torques of motion."""

    def torque(self, motion: MotionSamples) -> JointsBySample: ...


@dataclass(frozen=True)
class LawEntry:
    """One non-zero of Y: ``factor`` times the law of a drive, in the equation of a joint."""

    joint: int
    column: int
    drive: int
    kind: str
    factor: float


@dataclass(frozen=True, eq=False)
class LawColumns:
    """Entries of Y that are computed from the motion of drives instead of by the kernel."""

    robot: Robot
    entries: tuple[LawEntry, ...]
    rates: Float[np.ndarray, "drives joints"]
    max_speeds: Float[np.ndarray, " drives"]

    @property
    def needs_load(self) -> bool:
        """Whether an entry depends on the transmitted torque."""
        return any(entry.kind == LOAD for entry in self.entries)

    def compute(self, motion: MotionSamples, load: TorqueSource | None) -> Float[np.ndarray, "entries samples"]:
        """Return the value of every entry at every sample; ``load`` computes the transmitted torque."""
        velocity = self.rates @ motion.qd.T
        velocity = np.clip(velocity, -self.max_speeds[:, None], self.max_speeds[:, None])
        transmitted = np.abs(load.torque(motion)) if load is not None and self.needs_load else None
        direction = self._compute_directions(motion)
        values = np.empty((len(self.entries), len(motion)))
        for row, entry in zip(values, self.entries, strict=True):
            if entry.kind == VISCOUS:
                row[:] = velocity[entry.drive]
            elif entry.kind == ROOT:
                row[:] = direction[entry.drive] * np.sqrt(np.abs(velocity[entry.drive]))
            else:
                assert transmitted is not None
                row[:] = direction[entry.drive] * transmitted[entry.joint]
            row *= entry.factor
        return values

    def compute_root_errors(self, motion: MotionSamples) -> Float[np.ndarray, "entries samples"]:
        """Return how far the entries of root friction may be from those of low-passed root friction; zero for others.

        The low-pass of direction · sqrt(|v|) is approximated by the product of low-passed factors. Near a reversal, the
        low-passed direction overshoots, but the root does not. The error is about the difference between products with
        the low-passed direction and with the sign of v.
        """
        velocity = self.rates @ motion.qd.T
        error = self._compute_directions(motion) - np.sign(velocity)
        error *= np.sqrt(np.minimum(np.abs(velocity), self.max_speeds[:, None]))
        values = np.zeros((len(self.entries), len(motion)))
        for row, entry in zip(values, self.entries, strict=True):
            if entry.kind == ROOT:
                row[:] = entry.factor * error[entry.drive]
        return values

    def _compute_directions(self, motion: MotionSamples) -> Float[np.ndarray, "drives samples"]:
        """Return the low-passed directions of the motion or, without a low-pass, the directions at each sample."""
        if motion.direction is not None:
            return motion.direction.T
        directions = make_drive_directions(self.robot)
        assert isinstance(directions, DriveDirections)
        return directions.evaluate(motion.qd.T)


def find_law_columns(base: BaseParameters) -> LawColumns | None:
    """Return the entries of friction laws in a base regressor; None if it has none, or if the robot has loops.

    With loops, the velocity ratios of drives depend on the pose, and the kernel computes the laws without a low-pass.
    """
    robot = base.robot
    bounded = {name for name, drive in robot.drives if np.isfinite(drive.max_curve_speed)}
    chosen = {
        name: column
        for column, name in enumerate(base.independent)
        if name.endswith(LAWS) or (name.endswith(VISCOUS) and name.removesuffix(VISCOUS) in bounded)
    }
    if robot.loops or not chosen:
        return None
    rates = compute_velocity_ratios(robot)
    drives = {name: k for k, name in enumerate(robot.moving)}
    max_speeds = dict.fromkeys(robot.moving, np.inf) | {name: drive.max_curve_speed for name, drive in robot.drives}
    entries = tuple(_list_entries(chosen, drives, rates))
    return LawColumns(robot, entries, rates, np.array([max_speeds[name] for name in robot.moving]))


def _list_entries(
    chosen: dict[str, int], drives: dict[str, int], rates: Float[np.ndarray, "drives joints"]
) -> Iterator[LawEntry]:
    for name, column in chosen.items():
        owner, _, symbol = name.rpartition(".")
        drive = drives[owner]
        for joint in np.flatnonzero(rates[drive]):
            yield LawEntry(int(joint), column, drive, f".{symbol}", float(rates[drive, joint]))


def without_law_columns(base: BaseParameters, columns: LawColumns) -> BaseParameters:
    """Return the base parameters whose regressor the kernel computes; its graph contains no speeds of a log."""
    left_out = {entry.column for entry in columns.entries}
    kept = [k for k in range(len(base)) if k not in left_out]
    names = {base.independent[k] for k in left_out}

    def remove_bound(name: str, drive: Drive) -> Drive:
        del name
        return replace(drive, friction_speed=0.0)

    return replace(
        base,
        robot=base.robot.with_drives(remove_bound),
        independent=tuple(base.independent[k] for k in kept),
        entries=base.entries[kept],
        selected=tuple(name for name in base.selected if name not in names),
    )


def is_rigid(name: str) -> bool:
    """Whether a standard parameter belongs to a link, rotor or declared force: to the torque that drives transmit."""
    symbol = name.rpartition(".")[2]
    return symbol == "Ia" or symbol not in ALL_JOINT_PARAMETERS


def supports_load_friction(robot: Robot) -> bool:
    """Whether every drive acts on one joint alone, so that the torque it transmits is that of the joint."""
    return not (robot.loops or robot.couplings or robot.motors)


def with_friction_laws(robot: Robot, *, root: bool | None = None, load: bool | None = None) -> Robot:
    """Return the robot with or without these laws on all of its drives; None leaves a law as it is described.

    Drives that are declared to have no friction stay without it.
    """

    def change(name: str, drive: Drive) -> Drive:
        del name
        if drive.is_frictionless:
            return drive
        if root is not None:
            speed = drive.friction_speed if root else 0.0
            drive = replace(drive, root=(drive.root or 0.0) if root else None, friction_speed=speed)
        return drive if load is None else replace(drive, load=(drive.load or 0.0) if load else None)

    return robot if root is load is None else robot.with_drives(change)


def bound_friction(robot: Robot, names: Sequence[str], beta: PerBase, speeds: Mapping[str, float]) -> Robot:
    """Return the robot whose friction is constant beyond the recorded speeds, wherever it would fall there.

    A curve with a root and a viscous term fits the recorded speeds, but can fall beyond them and would accelerate the
    drive in the end. It falls there if its viscous term is negative, or if it falls at the highest recorded speed.
    ``beta``: values of the parameters ``names``. ``speeds``: the highest speed of each drive.
    """
    values = dict(zip(names, beta.tolist(), strict=True))

    def bound(name: str, drive: Drive) -> Drive:
        if drive.root is None:
            return drive
        speed = speeds.get(name, 0.0)
        fv, fs = values.get(f"{name}{VISCOUS}", drive.viscous), values.get(f"{name}{ROOT}", drive.root)
        falls = fv < 0.0 or fs + 2.0 * fv * math.sqrt(speed) < 0.0  # the slope of fs u + fv u² at u = sqrt(speed)
        return replace(drive, friction_speed=speed) if falls else drive

    return robot.with_drives(bound)
