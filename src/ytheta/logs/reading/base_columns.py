"""Columns of a floating base: its pose, its twist and the wrench on it, in SI units.

The names of the columns are fixed; the mapping does not apply to them. The twist and the wrench may be missing::

    base_x, base_y, base_z                  position of the base in the world
    base_qx, base_qy, base_qz, base_qw      its orientation, a quaternion
    base_vx, base_vy, base_vz               velocity of its origin, in base axes
    base_wx, base_wy, base_wz               its angular velocity, in base axes
    base_fx, base_fy, base_fz               force that the surroundings exert on the robot, in base axes
    base_nx, base_ny, base_nz               moment of this wrench about the origin of the base, in base axes
    <joint>_fx … <joint>_nz                 wrench that a sensor joint transmits to its child, in the joint frame

A log that was written by ``write_log`` has columns q1 … instead; the first six are the coordinates of the base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError, suggest_names
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.logs.reading.table import ColumnTable
from ytheta.robot.floating.motion import (
    compute_coordinate_rates,
    rotation_vectors_from_quaternions,
    unwrap_rotation_vectors,
)
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

POSITION = BASE_COORDINATES[:3]
QUATERNION = ("base_qx", "base_qy", "base_qz", "base_qw")
TWIST = ("base_vx", "base_vy", "base_vz", "base_wx", "base_wy", "base_wz")
WRENCH = ("base_fx", "base_fy", "base_fz", "base_nx", "base_ny", "base_nz")


@dataclass(frozen=True, eq=False)
class BaseColumns:
    """The columns of a floating base in a table; a dictionary by name, without those that are missing."""

    table: ColumnTable
    positions: dict[str, int]
    source: str

    def add_to(self, log: Log, rows: slice) -> Log:
        """Return the log of the joints with the coordinates of the base before them; ``rows`` of the table are used."""
        pose = self._read((*POSITION, *QUATERNION), rows)
        finite = np.isfinite(pose).all(axis=1)
        vectors = np.full((len(pose), 3), np.nan)  # the checks report rows that are not finite
        vectors[finite] = unwrap_rotation_vectors(rotation_vectors_from_quaternions(pose[finite, 3:]))
        q = np.hstack([pose[:, :3], vectors])
        findings: list[Finding] = []
        wrench = np.zeros_like(q)
        if self._has(WRENCH):
            wrench = self._read(WRENCH, rows)
        else:
            findings.append(_report_free_flight())
        qd = None
        if log.qd is not None and self._has(TWIST):
            rates = np.full_like(q, np.nan)
            rates[finite] = compute_coordinate_rates(q[finite], self._read(TWIST, rows)[finite])
            qd = np.hstack([rates, log.qd])
        elif log.qd is not None:
            findings.append(_report_unused_velocities())
        return replace(
            log,
            joints=(*BASE_COORDINATES, *log.joints),
            q=np.hstack([q, log.q]),
            qd=qd,
            tau=None if log.tau is None else np.hstack([wrench, log.tau]),
            findings=(*log.findings, *findings),
        )

    def _has(self, names: Sequence[str]) -> bool:
        """Return whether the table has these columns. Raise InputError if it has some of them but not all."""
        missing = [name for name in names if name not in self.positions]
        if missing and len(missing) < len(names):
            raise InputError(
                f"{self.source} has {len(names) - len(missing)} of the six columns {', '.join(names)}, but not "
                f"{', '.join(missing)}; record all six or none"
            )
        return not missing

    def _read(self, names: Sequence[str], rows: slice) -> Float[np.ndarray, "samples columns"]:
        for name in names:
            if name not in self.positions:
                others = (each for each in self.table.names if each.strip().casefold() not in self.positions)
                hint = suggest_names(name, others)
                raise InputError(f"{self.source} has no column {name!r}, which the pose of the base needs{hint}")
        return np.column_stack([self.table.columns[self.positions[name]][rows] for name in names])


def find_base_columns(table: ColumnTable, robot: Robot, source: str) -> BaseColumns | None:
    """Return the columns of a floating base; None if the base is fixed, or its coordinates are among q1 … or q_base_x.

    Raise InputError if a robot with a floating base was recorded without its base.
    """
    if not robot.floating:
        return None
    names = {name.strip().casefold(): k for k, name in reversed(list(enumerate(table.names)))}
    known = {name: names[name] for name in (*POSITION, *QUATERNION, *TWIST, *WRENCH) if name in names}
    if known:
        return BaseColumns(table, known, source)
    is_numbered = any(name.removesuffix(str(len(robot.actuated))) in ("q", "q_", "pos", "position") for name in names)
    if table.has_header and not is_numbered and not any(BASE_COORDINATES[0] in name for name in names):
        raise InputError(
            f"{source} does not contain the motion of the floating base of robot {robot.name!r}; add the columns "
            f"{', '.join((*POSITION, *QUATERNION))}, or load the robot with --fix-base if its base did not move"
        )
    return None


def add_sensor_columns(log: Log, table: ColumnTable, robot: Robot, rows: slice, source: str) -> Log:
    """Return the log with the wrenches of the robot's sensor joints, whose positions are always zero."""
    names = robot.sensor_coordinates
    if not names or log.tau is None or len(log.joints) == len(robot.actuated):
        return log
    found = {name.strip().casefold(): k for k, name in reversed(list(enumerate(table.names)))}
    missing = [name for name in names if name.casefold() not in found]
    if missing:
        hint = suggest_names(missing[0], table.names)
        raise InputError(
            f"{source} has no column {missing[0]!r}, which the sensor of robot {robot.name!r} measures{hint}"
        )
    zeros = np.zeros((len(log), len(names)))
    wrench = np.column_stack([table.columns[found[name.casefold()]][rows] for name in names])
    return replace(
        log,
        joints=(*log.joints, *names),
        q=np.hstack([log.q, zeros]),
        qd=None if log.qd is None else np.hstack([log.qd, zeros]),
        tau=np.hstack([log.tau, wrench]),
    )


def list_joint_columns(table: ColumnTable, robot: Robot, base: BaseColumns | None) -> tuple[str, ...]:
    """Return the coordinates whose positions, velocities and torques are columns of the usual names."""
    first = 0 if base is None else len(robot.base_coordinates)
    is_separate = robot.sensor_coordinates and any(
        name.strip().casefold() == robot.sensor_coordinates[0].casefold() for name in table.names
    )
    last = len(robot.actuated) - len(robot.sensor_coordinates) if is_separate else len(robot.actuated)
    return robot.actuated[first:last]


def _report_free_flight() -> Finding:
    return Finding(
        LogFindingCode.WRENCH,
        Severity.WARNING,
        f"there are no columns {WRENCH[0]} … {WRENCH[-1]}, so the wrench on the base is taken to be zero (free flight)",
        remedy="if anything touches the robot, record the wrench that it exerts",
    )


def _report_unused_velocities() -> Finding:
    return Finding(
        LogFindingCode.VELOCITY,
        Severity.NOTE,
        f"recorded velocities are not used, since there are no columns {TWIST[0]} … {TWIST[-1]}",
    )
