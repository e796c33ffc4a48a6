"""Assembling a Log from the columns of a table, in SI units and in the order of the robot's actuated coordinates.

Columns are copied chunk by chunk into arrays of the final size, and all conversions are done in place. Therefore peak
memory is the size of the log plus one chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ytheta.engine.memory import measure_free_memory
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import ColumnOrigin, Log, LogFindingCode, LogOrigin
from ytheta.logs.reading.base_columns import (
    choose_base_columns,
    choose_sensor_columns,
    find_base_columns,
    find_sensor_columns,
    list_joint_columns,
)
from ytheta.logs.reading.column_names import NameParser, parse_label_name
from ytheta.logs.reading.column_search import LogColumns, find_columns
from ytheta.logs.reading.columns import Place, compare_clocks, describe_missing, report_places
from ytheta.logs.reading.formats.expansion import ENCODED
from ytheta.logs.reading.joint_columns import JointLabels, contradict_numbers
from ytheta.logs.reading.mapping import (
    EPOCH_UNITS,
    ColumnMapping,
    describe_columns,
    find_conversion,
    find_epoch_unit,
    list_corrections,
)
from ytheta.logs.reading.reshape import StampColumn
from ytheta.logs.reading.table import ColumnTable, DatedColumn
from ytheta.robot.robot import Robot
from ytheta.shapes import MotorsByJoint, PerSample, SamplesByJoint

ROWS_PER_CHUNK = 1 << 17  # 1 MB per column; affects only memory
# Absolute value in SI units below which numbers are read as 0. Chosen on: reasoning; squares and ratios of smaller ones
# would be 0 or infinite.
MIN_MAGNITUDE = 1e-30
# Memory that a log takes, divided by the size of its numbers. Chosen on: `check` of 4 million rows (1.4), and
# `identify` of 86 million (1.25).
MEMORY_PER_BYTE = 2
# Size in bytes of a log from which the free memory is looked at. Chosen on: rule of thumb.
MIN_CHECKED_SIZE = 2**26


def assemble_log(table: ColumnTable, robot: Robot, mapping: ColumnMapping, source: str) -> Log:
    """Return the log that a table contains; ``source`` is the name of the table's file."""
    found_base = find_base_columns(table, robot, source)
    found_sensors = find_sensor_columns(table, robot, source) if robot.sensor_coordinates else None
    joints = list_joint_columns(robot, has_base=found_base is not None, has_sensors=found_sensors is not None)
    mapping = mapping.restrict(robot.actuated, joints)
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
    count = 1 + len(columns.q) + len(columns.qd) + len(columns.tau or columns.current)
    _check_size(table, rows.stop - rows.start, count, source)
    scale = mapping.scale.get("t", (1.0,))[0]
    origin_place = columns.places.get("q", Place())
    base = None if found_base is None else choose_base_columns(table, found_base, origin_place, source)
    sensors = (
        None if found_sensors is None else choose_sensor_columns(table, robot, found_sensors, origin_place, source)
    )
    places = dict(columns.places)
    places |= {} if base is None else base.places
    places |= {} if sensors is None else {"sensors": sensors.place}
    compare_clocks(table, places, columns.clock, rows, source, scale=scale)
    reader = _QuantityReader(table, mapping, rows, robot, joints, columns.units)
    t = reader.read_time(columns.t)
    q = reader.read_quantity("q", columns.q)
    if q is None:
        raise InputError(f"{source} has no positions; name their columns in a mapping")
    qd = reader.read_quantity("qd", columns.qd)
    if columns.current:
        tau = reader.read_quantity("current", columns.current)
    else:
        tau = reader.read_quantity("tau", columns.tau)
    used = {columns.t, *columns.q, *columns.qd, *columns.tau, *columns.current}
    if columns.labels is not None:  # the names of the joints are in use, too
        used |= {k for k, name in enumerate(table.names) if parse_label_name(name) is not None}
    if columns.t is not None and isinstance(table.columns[columns.t], StampColumn):
        used |= table.time_parts
    origin = LogOrigin(
        format=table.kind,
        topic=table.topic,
        message_type=table.message_type,
        columns=tuple(reader.origins),
        unused=tuple(name for k, name in enumerate(table.names) if k not in used),
        ignored_joints=table.ignored_joints,
        rows=table.rows,
        first=rows.start,
        stop=rows.stop,
        motor_matrix=mapping.matrix is not None,
    )
    locked = check_locked_joints(table, robot, mapping, rows, source)
    log = Log(
        joints=joints,
        t=t,
        q=q,
        qd=qd,
        tau=tau,
        segments=_list_segments(table, rows),
        source=source,
        findings=(
            *table.findings,
            report_origin(origin),
            *reader.findings,
            *report_corrections(mapping),
            *locked,
            *report_places(places),
            *report_columns(columns, table, joints, source),
        ),
        origin=origin,
    )
    log = log if base is None else base.add_to(log, rows)
    log = log if sensors is None else sensors.add_to(log, rows)
    return move_delayed(log, reader.origins, source)


def move_delayed(log: Log, columns: Sequence[ColumnOrigin], source: str) -> Log:
    """Return the log with columns moved by their delays; rows at its ends for which no values remain are left out."""
    delays = [column.delay for column in columns]
    if not any(delays):
        return log
    t = np.maximum.accumulate(log.t)  # the checks report times that run backwards
    q, qd, tau = log.q.copy(), None if log.qd is None else log.qd.copy(), None if log.tau is None else log.tau.copy()
    arrays = {"q": q, "qd": qd, "tau": tau}
    for column in columns:
        values = arrays.get(column.quantity)
        if column.delay and values is not None:
            k = log.joints.index(column.joint)
            for start, stop in log.segments or ((0, len(log)),):
                part = slice(start, stop)
                values[part, k] = np.interp(t[part] + column.delay, t[part], values[part, k])
    first = int(np.searchsorted(t, t[0] - min(0.0, *delays)))
    stop = int(np.searchsorted(t, t[-1] - max(0.0, *delays), side="right"))
    if stop - first < 2:
        raise InputError(f"{source} is shorter than the delays of its columns; give the delays in seconds")
    return replace(log, q=q, qd=qd, tau=tau).select_rows(first, stop)


def _list_segments(table: ColumnTable, rows: slice) -> tuple[tuple[int, int], ...]:
    """Return the recordings of a table, relative to the first chosen row; an empty tuple if there is only one."""
    inner = [start - rows.start for start in table.starts if rows.start < start < rows.stop]
    return tuple(pairwise([0, *inner, rows.stop - rows.start])) if inner else ()


def _choose_rows(table: ColumnTable, mapping: ColumnMapping, source: str) -> slice:
    start, stop = mapping.rows
    if start >= table.rows or (stop or 0) > table.rows:
        end = "" if stop is None else stop
        chosen = (
            f"{mapping.rows_option} {start}:{end}"
            if mapping.rows_option
            else f"{mapping.source}: 'rows' = [{start}, {end}]"
        )
        raise InputError(
            f"{chosen} goes beyond the {table.rows} rows of {source}; rows are counted from 0, and row stop is excluded"
        )
    return slice(start, table.rows if stop is None else stop)


def _check_size(table: ColumnTable, rows: int, columns: int, source: str) -> None:
    """Raise InputError if the numbers of a log are far more than its file can contain, or than memory can hold."""
    size = 8 * rows * columns
    if table.stored_size is not None and not ENCODED.allows(size, table.stored_size):
        raise InputError(
            f"{source} declares {rows:,} rows in {table.stored_size:,} bytes, so it is no record of a motion; check "
            "the file"
        )
    needed, free = size * MEMORY_PER_BYTE, measure_free_memory()
    if size > MIN_CHECKED_SIZE and needed > free:
        raise InputError(
            f"{source} needs about {needed / 1e9:.2g} GB of memory for {rows:,} rows of {columns} columns, but "
            f"{free / 1e9:.2g} GB are free; choose rows with --rows, or record at a lower rate"
        )


class _QuantityReader:
    """Reads the arrays of a log, one quantity at a time; ``origins`` and ``findings`` collect what was read."""

    def __init__(
        self,
        table: ColumnTable,
        mapping: ColumnMapping,
        rows: slice,
        robot: Robot,
        joints: tuple[str, ...],
        units: Mapping[str, str],
    ) -> None:
        self.table = table
        self.mapping = mapping
        self.rows = rows
        self.count = rows.stop - rows.start
        self.robot = robot
        self.joints = joints
        self.units = units
        self.origins: list[ColumnOrigin] = []
        self.findings: list[Finding] = []

    def read_time(self, position: int | None) -> PerSample:
        mapping = self.mapping
        conversion = find_conversion("t", mapping, self.units, 1)
        if position is None:
            t = np.arange(self.count) / (mapping.rate or 1.0)
        else:
            t = self._read_time_column(position, float(conversion.factor[0]))
            is_known = (
                "t" in mapping.scale or "t" in self.units or isinstance(self.table.columns[position], DatedColumn)
            )
            if not is_known and (unit := find_epoch_unit(t)):
                conversion = find_conversion("t", mapping, {"t": unit}, 1)
                t *= conversion.factor[0]
                self.findings.append(report_epoch(self.table.names[position], unit))
        name = "" if position is None else self.table.names[position]
        self.origins += describe_columns("t", {"": name}, conversion, self.robot)
        t += conversion.offset[0]
        return t

    def _read_time_column(self, position: int, factor: float) -> PerSample:
        """Return the chosen rows of a column of time in seconds; ``factor``: its unit in s."""
        column = self.table.columns[position]
        if isinstance(column, DatedColumn):
            t = column.read_seconds(self.rows)
            if factor != 1.0:
                raise InputError(
                    f"the time {self.table.names[position]!r} consists of dates, which have no unit; remove [scale] t "
                    "from the mapping, or the unit from its name"
                )
            return t.copy()
        t = np.empty(self.count)
        self._copy_scaled(position, factor, t)
        return t

    def read_quantity(self, key: str, positions: tuple[int, ...]) -> SamplesByJoint | None:
        """Return one quantity of all joints; None if the file does not contain it."""
        if not positions:
            return None
        mapping, quantity = self.mapping, "tau" if key == "current" else key
        conversion = find_conversion(key, mapping, self.units, len(positions))
        factor = conversion.factor
        values = np.empty((self.count, len(positions)))
        for k, position in enumerate(positions):
            self._copy_scaled(position, float(factor[k]), values[:, k])
        if mapping.matrix is not None:
            _multiply_rows(values, mapping.matrix if quantity == "tau" else np.linalg.inv(mapping.matrix).T)
        if quantity in mapping.offset:
            values += conversion.offset
        names = [self.table.names[position] for position in positions]
        self.origins += describe_columns(key, dict(zip(self.joints, names, strict=True)), conversion, self.robot)
        return values

    def _copy_scaled(self, position: int, factor: float, target: PerSample) -> None:
        """Copy the chosen rows of a column, multiplied by a factor."""
        column, start = self.table.columns[position], self.rows.start
        for begin in range(0, self.count, ROWS_PER_CHUNK):
            end = min(begin + ROWS_PER_CHUNK, self.count)
            with np.errstate(over="ignore", invalid="ignore"):  # the checks report rows that are not finite
                np.multiply(column[start + begin : start + end], factor, out=target[begin:end])
            target[begin:end][np.abs(target[begin:end]) < MIN_MAGNITUDE] = 0.0


def _multiply_rows(values: SamplesByJoint, matrix: MotorsByJoint) -> None:
    """Multiply every row by a matrix, in place."""
    for start in range(0, len(values), ROWS_PER_CHUNK):
        values[start : start + ROWS_PER_CHUNK] = values[start : start + ROWS_PER_CHUNK] @ matrix


# Findings about the columns of a log: which were chosen, what is unusual about them, and what is missing.


def report_origin(origin: LogOrigin) -> Finding:
    """Return the finding about the chosen columns and rows, in brief."""
    groups: dict[str, list[str]] = {}
    for column in origin.columns:
        groups.setdefault(column.quantity, []).append(column.column or "rate")
    shown = {key: names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}" for key, names in groups.items()}
    where = f" of topic {origin.topic}" if origin.topic else ""
    chosen = f"; {rows}" if (rows := origin.describe_rows()) else ""
    return Finding(
        LogFindingCode.COLUMNS,
        Severity.NOTE,
        f"read {', '.join(f'{key} from {names}' for key, names in shown.items())}{where}{chosen}",
        remedy="ytheta check shows all columns, units and signs",
        fields={key: list(names) for key, names in groups.items()},
    )


def report_corrections(mapping: ColumnMapping) -> list[Finding]:
    """Return the finding about values that the mapping changes by more than their units, with what that assumes."""
    corrections = list_corrections(mapping)
    if not corrections:
        return []
    entries = []
    for section, values in corrections.items():
        for key, factor in values.items():
            shown = ", ".join(f"{value:.6g}" for value in factor)
            entries.append(f"[{section}] {key} = {shown if len(factor) == 1 else f'[{shown}]'}")
    return [
        Finding(
            LogFindingCode.CORRECTED,
            Severity.NOTE,
            f"the mapping corrects the log by {', '.join(entries)}",
            remedy="results hold only if these corrections are right; the log alone cannot confirm them",
            fields={
                section: {key: list(each) for key, each in values.items()} for section, values in corrections.items()
            },
        )
    ]


def report_columns(columns: LogColumns, table: ColumnTable, joints: tuple[str, ...], source: str) -> list[Finding]:
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
    if table.spellings:
        pairs = [f"{name} is {joint}" for joint, name in table.spellings.items()]
        statement = f"the joints have other names than in the robot: {', '.join(pairs)}"
        findings.append(
            Finding(LogFindingCode.ORDER, Severity.NOTE, statement, fields={"names": dict(table.spellings)})
        )
    if columns.labels is not None:
        findings.append(report_labels(columns.labels, joints))
    elif columns.by_number and contradict_numbers(joints):
        first = table.names[columns.q[0]]
        finding = Finding(
            LogFindingCode.ORDER,
            Severity.WARNING,
            f"the columns are numbered in the order of the robot's joints ({first} is of {joints[0]}), although the "
            f"names of the joints contain other numbers ({', '.join(joints)})",
            remedy="if the columns have the numbers of the joints, choose them in a mapping: [columns] q = […], in the "
            "order of the robot's joints",
        )
        findings.append(finding)
    if columns.computed_torque:
        name = table.names[columns.tau[0]]
        finding = Finding(
            LogFindingCode.COMPUTED_TORQUE,
            Severity.WARNING,
            f"the torques ({name} …) were computed by the controller from its own model, not measured",
            remedy="a model identified from them is the controller's; record currents or measured torques instead",
        )
        findings.append(finding)
    if not columns.tau and not columns.current:
        used = (*columns.q, *columns.qd, columns.t)
        unused = [name for k, name in enumerate(table.names) if k not in used]
        statement, remedy = describe_missing("tau", joints, unused)
        contents = f" ({table.contents})" if table.contents else ""
        statement = f"{source} contains no torque{contents}: no {statement}"
        if table.message_type:
            statement = f"{source} contains no torque: its messages have no efforts, or only some that are not numbers"
            remedy = "record the efforts of the joints too, or choose another topic with --topic"
        findings.append(Finding(LogFindingCode.TORQUE, Severity.WARNING, statement, remedy))
    return findings


def report_epoch(name: str, unit: str) -> Finding:
    return Finding(
        LogFindingCode.UNITS,
        Severity.NOTE,
        f"the time {name!r} counts {EPOCH_UNITS[unit]} since 1970, as its numbers show",
        remedy='if it does not, write [scale] t = "s" in a mapping',
        fields={"quantity": "t", "unit": unit},
    )


def report_labels(labels: JointLabels, joints: tuple[str, ...]) -> Finding:
    """Return the finding about joint names that the file contains as texts."""
    if labels.is_known(joints):
        return Finding(
            LogFindingCode.ORDER,
            Severity.NOTE,
            f"the joints of numbered columns are those in {labels.describe()}",
            fields={"labels": list(labels.texts)},
        )
    return Finding(
        LogFindingCode.ORDER,
        Severity.WARNING,
        f"the columns are numbered in the order of the robot's joints ({', '.join(joints)}), although the file has "
        f"other names for them in {labels.describe()}",
        remedy="if the order differs, choose the columns in a mapping: [columns] q = […], in the order of the robot's "
        "joints",
        fields={"labels": list(labels.texts)},
    )


# Joints that the robot has locked and the log recorded: their positions should be those of the lock.

# Range in rad or m up to which a locked joint rests with some play; one that moves farther is refused. Chosen on: rule
# of thumb.
MAX_STILL_RANGE = 0.1
# Distance in rad or m between the position of a lock and the mean recorded one, above which it is reported. Chosen on:
# rule of thumb.
MAX_OFFSET = 0.02


def check_locked_joints(
    table: ColumnTable, robot: Robot, mapping: ColumnMapping, rows: slice, source: str
) -> list[Finding]:
    """Return findings about locked joints that rest elsewhere; raise InputError if one moves.

    Only columns with the name of a joint can be those of a joint that the robot does not have any more.
    """
    locked = robot.locked
    if not locked:
        return []
    parser = NameParser(tuple(locked))
    findings: list[Finding] = []
    for name, column in zip(table.names, table.columns, strict=True):
        parsed = parser.parse(name)
        if parsed is None or parsed.is_command or parsed.quantity != "q" or not isinstance(parsed.index, str):
            continue
        joint = parsed.index
        recorded = np.asarray(column[rows], dtype=np.float64) * _find_scale(parsed.unit, mapping)
        recorded = recorded[np.isfinite(recorded)]
        if not len(recorded):
            continue
        lowest, highest, mean = float(recorded.min()), float(recorded.max()), float(recorded.mean())
        if highest - lowest > MAX_STILL_RANGE:
            raise InputError(
                f"{source}: {joint!r} is locked at {locked[joint]:g}, but moves from {lowest:.4g} to {highest:.4g} in "
                f"the log (column {name!r}); do not lock it, or choose rows in which it rests (--rows)"
            )
        if abs(mean - locked[joint]) > MAX_OFFSET:
            findings.append(
                Finding(
                    LogFindingCode.LOCKED,
                    Severity.WARNING,
                    f"{joint!r} is locked at {locked[joint]:g}, but rests at {mean:.4g} in the log",
                    f"lock it there: --lock {joint}={mean:.4g}",
                    names=(joint,),
                    fields={"locked": locked[joint], "recorded": mean},
                )
            )
    return findings


def _find_scale(unit: str, mapping: ColumnMapping) -> float:
    """Return the factor of positions; if the joints in use have several, this joint has the usual one of files, 1."""
    scales = set(mapping.scale.get("q", ()))
    if len(scales) == 1:
        return float(scales.pop())
    return float(find_conversion("q", replace(mapping, scale={}), {"q": unit} if unit else {}, 1).scale[0])
