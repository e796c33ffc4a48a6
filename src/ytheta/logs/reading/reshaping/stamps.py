"""Times in two columns, seconds and nanoseconds, as in the stamps of ROS messages: joined into one column of time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ytheta.logs.reading.columns.column_names import MAX_NAME_LENGTH, parse_time_name
from ytheta.logs.reading.table import Column, ColumnTable
from ytheta.shapes import PerSample

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

    seconds: Column
    nanoseconds: Column

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
