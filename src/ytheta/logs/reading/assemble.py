"""A Log from a table of columns: the right ones, in SI units, in the robot's coordinates and their order.

Columns are written block by block into arrays of their final size, and everything else happens in place: a log needs
its own memory and one block's.
"""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.logs.reading.columns import Places, find_columns, remedy
from ytheta.logs.reading.mapping import ColumnMapping
from ytheta.logs.reading.mapping_values import Factor
from ytheta.logs.reading.table import Table
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, MotorsByJoint, PerSample, SamplesByJoint

BLOCK = 1 << 17  # rows at a time: one megabyte of a column


def assembled(table: Table, robot: Robot, mapping: ColumnMapping, place: str) -> Log:
    """The log that a table holds; ``place`` is the file's name."""
    joints = robot.actuated
    if not joints:
        raise InputError(f"robot {robot.name!r} has no actuated coordinate, so no log can belong to it")
    if table.rows == 0:
        raise InputError(f"{place} holds no rows; record the motion again or name another file")
    if mapping.matrix is not None and len(mapping.matrix) != len(joints):
        raise InputError(
            f"{mapping.place}, [motor]: 'matrix' has {len(mapping.matrix)} rows, and the robot {len(joints)} actuated "
            "coordinates; write one row for each motor"
        )
    places = find_columns(table, joints, mapping, place)
    rows = _chosen(table, mapping, place)
    build = _Builder(table, mapping, rows, len(joints))
    tau = build.columns("current", places.current) if places.current else build.columns("tau", places.tau)
    q = build.columns("q", places.q)
    if q is None:
        raise InputError(f"{place} has no positions; name their columns in a mapping")
    return Log(
        joints=joints,
        t=build.time(places),
        q=q,
        qd=build.columns("qd", places.qd),
        tau=tau,
        source=place,
        findings=(*table.findings, *_told(places, table, joints, place)),
    )


def _chosen(table: Table, mapping: ColumnMapping, place: str) -> slice:
    first, last = mapping.rows
    if first >= table.rows or (last or 0) > table.rows:
        raise InputError(
            f"{mapping.place}: 'rows' = [{first}, {last}] goes beyond the {table.rows} rows of {place}; "
            "counted from 0, the last one is left out"
        )
    return slice(first, table.rows if last is None else last)


def _told(places: Places, table: Table, joints: tuple[str, ...], place: str) -> list[Finding]:
    told: list[Finding] = []
    if places.guessed:
        order = "t, q, qd, tau" if places.qd else "t, q, tau"
        text = (
            f"no header: the {len(table.names)} columns were taken as {order} in the robot's order; say in a mapping "
            "which is which"
        )
        told.append(Finding("header", Severity.WARNING, text))
    if not places.tau and not places.current:
        left = [name for name in table.names if name not in (*places.q, *places.qd, places.t)]
        text = f"{place} holds no torque: no {remedy('tau', joints, left)}"
        told.append(Finding("torque", Severity.WARNING, text))
    return told


class _Builder:
    """Arrays of a log, made one quantity at a time."""

    def __init__(self, table: Table, mapping: ColumnMapping, rows: slice, joints: int) -> None:
        self.table = table
        self.mapping = mapping
        self.rows = rows
        self.count = rows.stop - rows.start
        self.joints = joints

    def time(self, places: Places) -> PerSample:
        mapping = self.mapping
        if places.t is None:
            t = np.arange(self.count) / (mapping.rate or 1.0)
        else:
            t = np.empty(self.count)
            self._fill(t, places.t, float(self._factors("scale", mapping.scale.get("t"))[0]))
        t += self._factors("offset", mapping.offset.get("t", (0.0,)))[0]
        return t

    def columns(self, key: str, names: tuple[str, ...]) -> SamplesByJoint | None:
        """One quantity of all joints; None where the file has none."""
        if not names:
            return None
        mapping, side = self.mapping, "tau" if key == "current" else key
        factor = self._factors("scale", mapping.scale.get(key)) * self._factors("sign", mapping.sign.get(key))
        if key == "current":
            factor = factor * self._factors("gain", mapping.gain)
        values = np.empty((self.count, self.joints))
        for k, name in enumerate(names):
            self._fill(values[:, k], name, float(factor[k]))
        if mapping.matrix is not None:
            _transform(values, mapping.matrix if side == "tau" else np.linalg.inv(mapping.matrix).T)
        if side in mapping.offset:
            values += self._factors("offset", mapping.offset[side])
        return values

    def _fill(self, column: PerSample, name: str, factor: float) -> None:
        """Write the chosen rows of a column of the table, times a factor."""
        stored, skipped = self.table.columns[name], self.rows.start
        for first in range(0, self.count, BLOCK):
            last = min(first + BLOCK, self.count)
            np.multiply(stored[skipped + first : skipped + last], factor, out=column[first:last])

    def _factors(self, section: str, factor: Factor | None) -> Float[np.ndarray, "joints"]:
        """One factor for each joint."""
        if factor is None:
            return np.ones(self.joints)
        if len(factor) not in (1, self.joints):
            raise InputError(
                f"{self.mapping.place}, [{section}]: a list of {len(factor)} numbers for {self.joints} joints; "
                "give one number for all or one for each"
            )
        return np.broadcast_to(np.array(factor, dtype=np.float64), (self.joints,))


def _transform(values: SamplesByJoint, matrix: MotorsByJoint) -> None:
    """Rows times a matrix, in place."""
    for first in range(0, len(values), BLOCK):
        values[first : first + BLOCK] = values[first : first + BLOCK] @ matrix
