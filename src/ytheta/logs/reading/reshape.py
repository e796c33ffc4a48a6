"""Tables of other shapes: one row per joint and sample, and times in two columns.

The first have a column of joint names beside time, position, velocity and effort.
Programs that collect the entries of JointState messages one by one write such tables. The rows of each joint become
columns of its own, called elbow/position.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import LogFindingCode
from ytheta.logs.reading.column_names import MAX_NAME_LENGTH, NameParser, parse_time_name
from ytheta.logs.reading.joint_columns import describe_missing_joints
from ytheta.logs.reading.table import ColumnTable, DatedColumn, LabelColumn, TableColumn, read_time_column
from ytheta.shapes import PerSample, RowIndices

JOINT_NAMES = frozenset(["joint", "joint_name", "name", "joints", "joint_names", "names"])
# Samples that a joint may have more than another. Chosen on: reasoning; a recording may end within a message.
MAX_SURPLUS = 1


@dataclass(frozen=True, eq=False)
class SelectedRows:
    """Some rows of a column."""

    column: TableColumn
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
    columns: list[tuple[str, TableColumn]] = [
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


def _select(column: TableColumn, rows: RowIndices, count: int) -> TableColumn:
    if isinstance(column, DatedColumn):
        return SelectedDates(column, rows, count)
    return SelectedRows(column, rows, count)


# Times in two columns, seconds and nanoseconds, as in the stamps of ROS messages: joined into one column of time.

# Words for seconds at the end of a name, and those for nanoseconds in a name that is otherwise equal.
WORDS = {
    "sec": ("nanosec", "nsec"),
    "secs": ("nsecs", "nanosecs"),
    "seconds": ("nanoseconds", "nanos"),
    "s": ("ns",),
}
# The stamp of a message is the time of everything in this message.
_STAMP = re.compile(r"(|.*?[/.])(?:header[/._])?stamp[/._]?")
_PART = re.compile(rf"(|.*[^a-z0-9])({'|'.join(WORDS)})")


@dataclass(frozen=True, eq=False)
class StampColumn:
    """Seconds since the first row, from whole seconds and nanoseconds."""

    seconds: TableColumn
    nanoseconds: TableColumn

    def __getitem__(self, rows: slice, /) -> PerSample:
        first = float(np.asarray(self.seconds[0:1])[0])
        with np.errstate(invalid="ignore", over="ignore"):
            whole = np.asarray(self.seconds[rows]) - (first if np.isfinite(first) else 0.0)
            return np.asarray(whole + 1e-9 * np.asarray(self.nanoseconds[rows]))


def join_stamps(table: ColumnTable) -> ColumnTable:
    """Return the table with a column of time for each pair of seconds and nanoseconds.

    There is none at a place that has another column of time.
    """
    places = {name.strip().casefold(): k for k, name in reversed(list(enumerate(table.names)))}
    pairs = {match.group(1): (k, ns) for match, k, ns in _find_pairs(places)}
    parts = {k for pair in pairs.values() for k in pair}
    times = {parse_time_name(name) for k, name in enumerate(table.names) if k not in parts}
    scopes = {time[0] for time in times if time is not None}
    names, columns = list(table.names), list(table.columns)
    joined: set[int] = set()
    for before, (k, ns) in pairs.items():
        title = _name_time(before)
        parsed = parse_time_name(title)
        if parsed is None or parsed[0] in scopes:
            continue
        scopes.add(parsed[0])
        joined |= {k, ns}
        names.append(title)
        columns.append(StampColumn(table.columns[k], table.columns[ns]))
    return replace(table, names=tuple(names), columns=columns, time_parts=frozenset(joined)) if joined else table


def _find_pairs(places: Mapping[str, int]) -> list[tuple[re.Match[str], int, int]]:
    """Return the columns of seconds, matched by _PART, and of nanoseconds that belong together."""
    pairs = []
    for name, k in places.items():
        match = _PART.fullmatch(name) if len(name) <= MAX_NAME_LENGTH else None
        partners = [f"{match.group(1)}{word}" for word in WORDS[match.group(2)]] if match else []
        partner = next((places[each] for each in partners if each in places), None)
        if match is not None and partner is not None:
            pairs.append((match, k, partner))
    return pairs


def _name_time(before: str) -> str:
    """Return the name of the time whose parts have this text before their words."""
    stamp = _STAMP.fullmatch(before)
    scope = stamp.group(1) if stamp else before[: 1 + max(before.rfind("/"), before.rfind("."))]
    return f"{scope}time"
