"""Tables with one row per joint and sample: a column of joint names beside time, position, velocity and effort.

Programs that collect the entries of JointState messages one by one write such tables. The rows of each joint become
columns of its own, called elbow/position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.reading.columns.column_names import NameParser, parse_time_name
from ytheta.logs.reading.columns.families import describe_missing_joints
from ytheta.logs.reading.table import Column, ColumnTable, DatedColumn, LabelColumn, read_time_column
from ytheta.shapes import PerSample, RowIndices

JOINT_NAMES = frozenset(["joint", "joint_name", "name", "joints", "joint_names", "names"])
MAX_SURPLUS = 1  # samples that a joint may have more than another, since a recording may end within a message


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """Some rows of a column."""

    column: Column
    selected: RowIndices
    count: int  # rows of the column

    def __getitem__(self, rows: slice, /) -> PerSample:
        return self._values[rows]

    @cached_property
    def _values(self) -> PerSample:
        return np.asarray(self.column[0 : self.count])[self.selected]


@dataclass(frozen=True, eq=False)
class SelectedDates:
    """Some rows of a column of dates."""

    column: DatedColumn
    selected: RowIndices
    count: int  # rows of the column

    def __getitem__(self, rows: slice, /) -> PerSample:
        return self.read_seconds(rows)

    def read_seconds(self, rows: slice) -> PerSample:
        return self.column.read_seconds(slice(0, self.count))[self.selected[rows]]


def unstack_joints(table: ColumnTable, joints: Sequence[str], source: str) -> ColumnTable:
    """Return a table with one row per sample; the same table if it does not have one row per joint.

    Raise InputError if the joints have different times.
    """
    values = [k for k, name in enumerate(table.names) if _has_quantity(name, joints)]
    labels = next(
        (
            column
            for name, column in zip(table.names, table.columns, strict=True)
            if name.strip().casefold() in JOINT_NAMES and isinstance(column, LabelColumn)
        ),
        None,
    )
    if labels is None or not values or len(labels.list_labels()) < min(2, len(joints)):
        return table
    groups = _group_rows(labels.load_texts(), joints)
    known = [joint for joint in joints if joint in groups]
    if not known:
        raise InputError(
            f"{source} has rows of the joints {', '.join(list(groups)[:10])}; {describe_missing_joints(joints, joints)}"
        )
    times = [k for k, name in enumerate(table.names) if parse_time_name(name) is not None]
    rows = _align(table, {joint: groups[joint] for joint in known}, times, source)
    columns: list[tuple[str, Column]] = [
        (table.names[k], _select(table.columns[k], rows[known[0]], table.rows)) for k in times
    ]
    columns += [
        (f"{joint}/{table.names[k]}", SelectedRows(table.columns[k], rows[joint], table.rows))
        for k in values
        for joint in known
    ]
    samples = len(rows[known[0]])
    finding = Finding(
        LogFindingCode.COLUMNS,
        Severity.NOTE,
        f"the file has one row for each joint: its {table.rows} rows are {samples} samples",
        fields={"rows": table.rows, "samples": samples},
    )
    return replace(
        table,
        names=tuple(name for name, _ in columns),
        columns=[column for _, column in columns],
        rows=samples,
        findings=(*table.findings, finding),
        ignored_joints=tuple(sorted(set(groups) - set(joints))),
    )


def _has_quantity(name: str, joints: Sequence[str]) -> bool:
    """Whether a column is that of a quantity, such as position or effort [Nm], without a number or a joint."""
    if not joints or parse_time_name(name) is not None:
        return False
    parser = NameParser(tuple(joints))
    parsed = parser.parse(f"{joints[0]}/{name}")
    return parser.parse(name) is None and parsed is not None and parsed.index == joints[0]


def _group_rows(texts: Sequence[str | None], joints: Sequence[str]) -> dict[str, RowIndices]:
    """Return the rows of each joint, which is spelled as in the robot if it has this joint."""
    spelling = {joint.casefold(): joint for joint in joints}
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        if text and (label := text.strip()):
            rows.setdefault(spelling.get(label.casefold(), label), []).append(row)
    return {joint: np.array(each) for joint, each in rows.items()}


def _align(
    table: ColumnTable, groups: dict[str, RowIndices], times: Sequence[int], source: str
) -> dict[str, RowIndices]:
    """Return as many rows of each joint, which must have the same times."""
    counts = [len(rows) for rows in groups.values()]
    groups = {joint: rows[: min(counts)] for joint, rows in groups.items()}
    first, *others = groups
    is_same = max(counts) - min(counts) <= MAX_SURPLUS
    for position in times if is_same else ():
        t = np.asarray(read_time_column(table.columns[position], slice(0, table.rows)))
        is_same = is_same and all(np.array_equal(t[groups[first]], t[groups[each]], equal_nan=True) for each in others)
    if not is_same:
        raise InputError(
            f"{source} has one row for each joint, but not the same times for all of them ({first} has {counts[0]} "
            "rows); write one row per sample, with the values of all joints"
        )
    return groups


def _select(column: Column, rows: RowIndices, count: int) -> Column:
    if isinstance(column, DatedColumn):
        return SelectedDates(column, rows, count)
    return SelectedRows(column, rows, count)
