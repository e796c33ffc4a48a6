"""Assembling a Log from the columns of a table, in SI units and in the order of the robot's actuated coordinates.

Columns are copied chunk by chunk into arrays of the final size, and all conversions are done in place. Therefore peak
memory is the size of the log plus one chunk.
"""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.logs.reading.base_columns import add_sensor_columns, find_base_columns, list_joint_columns
from ytheta.logs.reading.columns import LogColumns, describe_missing, find_columns
from ytheta.logs.reading.mapping import ColumnMapping
from ytheta.logs.reading.mapping_values import Factor
from ytheta.logs.reading.table import ColumnTable
from ytheta.robot.robot import Robot
from ytheta.shapes import MotorsByJoint, PerJoint, PerSample, SamplesByJoint

ROWS_PER_CHUNK = 1 << 17  # 1 MB per column
# In SI units; smaller numbers are read as 0, because squares and ratios of them would be 0 or infinite.
MIN_MAGNITUDE = 1e-30


def assemble_log(table: ColumnTable, robot: Robot, mapping: ColumnMapping, source: str) -> Log:
    """Return the log that a table contains; ``source`` is the name of the table's file."""
    base = find_base_columns(table, robot, source)
    joints = list_joint_columns(table, robot, base)
    if not robot.actuated:
        raise InputError(f"robot {robot.name!r} has no actuated coordinates, so it cannot have a log")
    if table.rows == 0:
        raise InputError(f"{source} contains no rows; record the motion again, or choose another log")
    if mapping.matrix is not None and len(mapping.matrix) != len(joints):
        raise InputError(
            f"{mapping.source}, [motor]: 'matrix' has {len(mapping.matrix)} rows, but the robot has {len(joints)} "
            "actuated coordinates; write one row for each motor"
        )
    columns = find_columns(table, joints, mapping, source)
    rows = _choose_rows(table, mapping, source)
    assembler = _Assembler(table, mapping, rows, len(joints))
    if columns.current:
        tau = assembler.read_quantity("current", columns.current)
    else:
        tau = assembler.read_quantity("tau", columns.tau)
    q = assembler.read_quantity("q", columns.q)
    if q is None:
        raise InputError(f"{source} has no positions; name their columns in a mapping")
    log = Log(
        joints=joints,
        t=assembler.read_time(columns.t),
        q=q,
        qd=assembler.read_quantity("qd", columns.qd),
        tau=tau,
        source=source,
        findings=(*table.findings, *_report_columns(columns, table, joints, source)),
    )
    log = log if base is None else base.add_to(log, rows)
    return add_sensor_columns(log, table, robot, rows, source)


def _choose_rows(table: ColumnTable, mapping: ColumnMapping, source: str) -> slice:
    start, stop = mapping.rows
    if start >= table.rows or (stop or 0) > table.rows:
        raise InputError(
            f"{mapping.source}: 'rows' = [{start}, {stop}] goes beyond the {table.rows} rows of {source}; rows are "
            "counted from 0, and row stop is excluded"
        )
    return slice(start, table.rows if stop is None else stop)


def _report_columns(columns: LogColumns, table: ColumnTable, joints: tuple[str, ...], source: str) -> list[Finding]:
    """Return the findings about guessed columns and missing torques."""
    findings: list[Finding] = []
    if columns.guessed:
        finding = Finding(
            LogFindingCode.HEADER,
            Severity.WARNING,
            f"no header: the {len(table.names)} columns were interpreted as "
            f"{'t, q, qd, tau' if columns.qd else 't, q, tau'}, with the joints in the robot's order",
            remedy="name the columns in a mapping",
            fields={"columns": len(table.names)},
        )
        findings.append(finding)
    if not columns.tau and not columns.current:
        used = (*columns.q, *columns.qd, columns.t)
        unused = [name for k, name in enumerate(table.names) if k not in used]
        statement, remedy = describe_missing("tau", joints, unused)
        findings.append(
            Finding(LogFindingCode.TORQUE, Severity.WARNING, f"{source} contains no torque: no {statement}", remedy)
        )
    return findings


class _Assembler:
    """Builds the arrays of a log, one quantity at a time."""

    def __init__(self, table: ColumnTable, mapping: ColumnMapping, rows: slice, joints: int) -> None:
        self.table = table
        self.mapping = mapping
        self.rows = rows
        self.count = rows.stop - rows.start
        self.joints = joints

    def read_time(self, position: int | None) -> PerSample:
        mapping = self.mapping
        if position is None:
            t = np.arange(self.count) / (mapping.rate or 1.0)
        else:
            t = np.empty(self.count)
            self._copy_scaled(position, float(self._broadcast("scale", mapping.scale.get("t"))[0]), t)
        t += self._broadcast("offset", mapping.offset.get("t", (0.0,)))[0]
        return t

    def read_quantity(self, key: str, positions: tuple[int, ...]) -> SamplesByJoint | None:
        """Return one quantity of all joints; None if the file does not contain it."""
        if not positions:
            return None
        mapping, quantity = self.mapping, "tau" if key == "current" else key
        factor = self._broadcast("scale", mapping.scale.get(key)) * self._broadcast("sign", mapping.sign.get(key))
        if key == "current":
            factor = factor * self._broadcast("gain", mapping.gain)
        values = np.empty((self.count, self.joints))
        for k, position in enumerate(positions):
            self._copy_scaled(position, float(factor[k]), values[:, k])
        if mapping.matrix is not None:
            _multiply_rows(values, mapping.matrix if quantity == "tau" else np.linalg.inv(mapping.matrix).T)
        if quantity in mapping.offset:
            values += self._broadcast("offset", mapping.offset[quantity])
        return values

    def _copy_scaled(self, position: int, factor: float, target: PerSample) -> None:
        """Copy the chosen rows of a column, multiplied by a factor."""
        column, start = self.table.columns[position], self.rows.start
        for begin in range(0, self.count, ROWS_PER_CHUNK):
            end = min(begin + ROWS_PER_CHUNK, self.count)
            with np.errstate(over="ignore", invalid="ignore"):  # the checks report rows that are not finite
                np.multiply(column[start + begin : start + end], factor, out=target[begin:end])
            target[begin:end][np.abs(target[begin:end]) < MIN_MAGNITUDE] = 0.0

    def _broadcast(self, section: str, factor: Factor | None) -> PerJoint:
        """Return one factor for each joint; all factors are 1 if the mapping contains none."""
        if factor is None:
            return np.ones(self.joints)
        if len(factor) not in (1, self.joints):
            raise InputError(
                f"{self.mapping.source}, [{section}]: a list of {len(factor)} numbers for {self.joints} joints; "
                "give one number for all joints, or one for each"
            )
        return np.broadcast_to(np.array(factor, dtype=np.float64), (self.joints,))


def _multiply_rows(values: SamplesByJoint, matrix: MotorsByJoint) -> None:
    """Multiply every row by a matrix, in place."""
    for start in range(0, len(values), ROWS_PER_CHUNK):
        values[start : start + ROWS_PER_CHUNK] = values[start : start + ROWS_PER_CHUNK] @ matrix
