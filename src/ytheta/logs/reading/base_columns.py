"""Columns of a floating base: its pose, its twist and the wrench on it, in SI units.

The names of the columns are fixed; the mapping does not apply to them. Before a name may stand a topic, struct or
group, for which the rule of places holds. The twist and the wrench may be missing::

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

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError, suggest_names
from ytheta.findings import Finding, Severity
from ytheta.logs.log import ColumnOrigin, Log, LogFindingCode, LogOrigin
from ytheta.logs.reading.column_names import drop_quantity
from ytheta.logs.reading.columns import QUANTITY_NOUNS, ColumnIndex, Place
from ytheta.logs.reading.table import ColumnTable
from ytheta.robot.floating import compute_coordinate_rates, rotation_vectors_from_quaternions, unwrap_rotation_vectors
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

POSITION = BASE_COORDINATES[:3]
QUATERNION = ("base_qx", "base_qy", "base_qz", "base_qw")
TWIST = ("base_vx", "base_vy", "base_vz", "base_wx", "base_wy", "base_wz")
WRENCH = ("base_fx", "base_fy", "base_fz", "base_nx", "base_ny", "base_nz")


BASE_GROUPS = {"pose": (*POSITION, *QUATERNION), "twist": TWIST, "wrench": WRENCH}


@dataclass(frozen=True, eq=False)
class BaseColumns:
    """The columns of a floating base in a table; a dictionary by name, without those that are missing.

    ``places`` says where pose, twist and wrench are.
    """

    table: ColumnTable
    positions: dict[str, int]
    places: Mapping[str, Place]
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
            origin=_add_origins(
                log.origin,
                self.list_origins(has_twist=qd is not None, has_wrench=log.tau is not None and self._has(WRENCH)),
                [self.table.names[position] for position in self.positions.values()],
            ),
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

    def list_origins(self, *, has_twist: bool, has_wrench: bool) -> list[ColumnOrigin]:
        """Return the origins of the coordinates; several columns make up an orientation and a velocity."""
        names = {name: self.table.names[position] for name, position in self.positions.items()}
        pose = [*(names[name] for name in POSITION), *[f"{names[QUATERNION[0]]} … {names[QUATERNION[-1]]}"] * 3]
        origins = [
            ColumnOrigin("q", joint, column, "m" if column in names.values() else "quaternion")
            for joint, column in zip(BASE_COORDINATES, pose, strict=True)
        ]
        for k, joint in enumerate(BASE_COORDINATES if has_twist else ()):
            column = f"{names[TWIST[0]]} … {names[TWIST[-1]]}"
            origins.append(ColumnOrigin("qd", joint, column, "m/s" if k < len(POSITION) else "rad/s"))
        for k, joint in enumerate(BASE_COORDINATES if has_wrench else ()):
            origins.append(ColumnOrigin("tau", joint, names[WRENCH[k]], "N" if k < len(POSITION) else "Nm"))
        return origins


def find_base_columns(table: ColumnTable, robot: Robot, source: str) -> FixedColumns | None:
    """Return the columns of a floating base; None if the base is fixed, or its coordinates are among q1 … or q_base_x.

    Raise InputError if a robot with a floating base was recorded without its base.
    """
    if not robot.floating:
        return None
    names = [name.strip().casefold() for name in table.names]
    found = find_fixed_columns(table, {name for group in BASE_GROUPS.values() for name in group}, source)
    if found.by_scope:
        return found
    is_numbered = any(name.removesuffix(str(len(robot.actuated))) in ("q", "q_", "pos", "position") for name in names)
    if table.has_header and not is_numbered and not any(BASE_COORDINATES[0] in name for name in names):
        raise InputError(
            f"{source} does not contain the motion of the floating base of robot {robot.name!r}; add the columns "
            f"{', '.join((*POSITION, *QUATERNION))}, or load the robot with --fix-base if its base did not move"
        )
    return None


def choose_base_columns(table: ColumnTable, found: FixedColumns, origin: Place, source: str) -> BaseColumns:
    """Return the columns of a floating base that belong to the positions at ``origin``."""
    positions: dict[str, int] = {}
    places: dict[str, Place] = {}
    for key, names in BASE_GROUPS.items():
        columns, place = found.choose(key, names, origin)
        positions |= columns
        if place is not None:
            places[key] = place
    return BaseColumns(table, positions, places, source)


@dataclass(frozen=True, eq=False)
class SensorColumns:
    """The columns of the wrenches of a robot's sensor joints; ``place`` is where they are."""

    table: ColumnTable
    robot: Robot
    positions: Mapping[str, int]
    place: Place
    source: str

    def add_to(self, log: Log, rows: slice) -> Log:
        """Return the log with the wrenches of the sensors, whose positions are always zero."""
        names = self.robot.sensor_coordinates
        missing = [name for name in names if name.casefold() not in self.positions]
        if log.tau is None:
            return log
        if missing:
            hint = suggest_names(missing[0], self.table.names)
            raise InputError(
                f"{self.source} has no column {missing[0]!r}, which the sensor of robot {self.robot.name!r} "
                f"measures{hint}"
            )
        zeros = np.zeros((len(log), len(names)))
        positions = [self.positions[name.casefold()] for name in names]
        recorded = [self.table.names[position] for position in positions]
        origins = [
            ColumnOrigin("tau", joint, column, "N" if k % 6 < len(POSITION) else "Nm")
            for k, (joint, column) in enumerate(zip(names, recorded, strict=True))
        ]
        return replace(
            log,
            joints=(*log.joints, *names),
            q=np.hstack([log.q, zeros]),
            qd=None if log.qd is None else np.hstack([log.qd, zeros]),
            tau=np.hstack([log.tau, np.column_stack([self.table.columns[position][rows] for position in positions])]),
            origin=_add_origins(log.origin, origins, recorded),
        )


def find_sensor_columns(table: ColumnTable, robot: Robot, source: str) -> FixedColumns | None:
    """Return the columns of the wrenches of sensor joints; None if there are none, or if they are among tau1 …."""
    names = [name.casefold() for name in robot.sensor_coordinates]
    found = find_fixed_columns(table, names, source)
    return found if any(names[0] in known for known in found.by_scope.values()) else None


def choose_sensor_columns(
    table: ColumnTable, robot: Robot, found: FixedColumns, origin: Place, source: str
) -> SensorColumns:
    """Return the columns of the sensors that belong to the positions at ``origin``."""
    columns, place = found.choose("sensors", [name.casefold() for name in robot.sensor_coordinates], origin)
    assert place is not None
    return SensorColumns(table, robot, columns, place, source)


def list_joint_columns(robot: Robot, *, has_base: bool, has_sensors: bool) -> tuple[str, ...]:
    """Return the coordinates whose positions, velocities and torques are columns of the usual names."""
    first = len(robot.base_coordinates) if has_base else 0
    last = len(robot.actuated) - (len(robot.sensor_coordinates) if has_sensors else 0)
    return robot.actuated[first:last]


def _add_origins(origin: LogOrigin | None, columns: Sequence[ColumnOrigin], used: Sequence[str]) -> LogOrigin | None:
    """Return an origin with more columns, sorted by quantity; columns in use are not listed as unused."""
    if origin is None:
        return None
    order = ("t", "q", "qd", "tau")
    merged = sorted((*origin.columns, *columns), key=lambda column: order.index(column.quantity))
    return replace(origin, columns=tuple(merged), unused=tuple(name for name in origin.unused if name not in used))


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


# Columns whose names are fixed, such as those of a floating base, at any place of a file.
#
# They follow the rule of places: those at the place of the positions are used, then those of the places around it.
# Those of another place are used if there is only one.

Scope = tuple[str, ...]


@dataclass(frozen=True)
class FixedColumns:
    """The columns with fixed names; ``by_scope`` contains their positions by name, for every place."""

    index: ColumnIndex
    by_scope: Mapping[Scope, Mapping[str, int]]

    def choose(self, key: str, names: Sequence[str], origin: Place) -> tuple[dict[str, int], Place | None]:
        """Return the columns of a quantity ``key`` that belong to the positions at ``origin``, and their place.

        The place is None if there are no columns. Raise InputError if it is not known which of several are meant.
        """
        scopes = [scope for scope, known in self.by_scope.items() if any(name in known for name in names)]
        if not scopes:
            return {}, None
        inner = drop_quantity(origin.scope)
        around = [inner[:depth] for depth in range(len(inner), -1, -1)]
        near = next((scope for scope in around if scope in scopes), None)
        if near is None and len(scopes) > 1:
            listed = ", ".join(Place(scope).name for scope in scopes)
            raise InputError(
                f"{self.index.source} has the {QUANTITY_NOUNS[key]} at several places ({listed}); keep one of them, at "
                f"the place of the positions ({origin.name})"
            )
        scope = scopes[0] if near is None else near
        columns = {name: position for name, position in self.by_scope[scope].items() if name in names}
        return columns, Place(scope, tuple(self.index.list_times(scope)))


def find_fixed_columns(table: ColumnTable, names: Collection[str], source: str) -> FixedColumns:
    """Return the columns of a table with these names, in lower case; of equal ones, the first counts."""
    by_scope: dict[Scope, dict[str, int]] = {}
    for position, full_name in enumerate(table.names):
        *scope, name = [part for part in re.split(r"[/.]", full_name.strip().casefold()) if part] or [""]
        if name in names:
            by_scope.setdefault(tuple(scope), {}).setdefault(name, position)
    return FixedColumns(ColumnIndex(table, source), by_scope)
