"""Several recordings in numbered groups of one file, such as demo_0, demo_1, … of robomimic: one after the other.

They are joined if all have arrays of the same names; each becomes a segment of the log. If their times start anew, they
follow each other with a pause.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.reading.arrays.client import StoredArray
from ytheta.logs.reading.columns.column_names import parse_time_name
from ytheta.logs.reading.table import Column, ColumnTable
from ytheta.shapes import PerSample

PAUSE = 1.0  # between recordings, in the unit of time

_NUMBERED = re.compile(r"(?P<before>(?:.*/)?)(?:demo|episode|ep|traj|trajectory)_?(?P<number>\d{1,9})/(?P<rest>.+)")


@dataclass(frozen=True, eq=False)
class JoinedColumn:
    """The same column of all recordings, one after the other; ``is_time``: those that start anew are shifted."""

    parts: Sequence[Column]
    rows: Sequence[int]
    is_time: bool

    def __getitem__(self, rows: slice, /) -> PerSample:
        parts = [np.asarray(part[0:count]) for part, count in zip(self.parts, self.rows, strict=True)]
        for k in range(1, len(parts) if self.is_time else 0):
            if not parts[k][0] > parts[k - 1][-1]:
                parts[k] = parts[k] + (parts[k - 1][-1] + PAUSE - parts[k][0])
        return np.concatenate(parts)[rows]


def join_tables(tables: Sequence[ColumnTable]) -> ColumnTable:
    """Return the table of all recordings, with the columns that each of them has."""
    names = [name for name in tables[0].names if all(name in table.names for table in tables)]
    rows = [table.rows for table in tables]
    columns = {
        name: JoinedColumn(
            [table.columns[table.names.index(name)] for table in tables], rows, parse_time_name(name) is not None
        )
        for name in names
    }
    finding = Finding(
        LogFindingCode.EPISODES,
        Severity.NOTE,
        f"the file has {len(tables)} recordings, each a segment of the log",
        remedy="choose one of them with --topic",
        fields={"episodes": len(tables)},
    )
    joined = ColumnTable.of(columns, sum(rows), kind=tables[0].kind)
    return replace(
        joined,
        starts=tuple(accumulate(rows[:-1])),
        findings=(finding,),
        others=tables[0].others,
        texts=tables[0].texts,
    )


def merge_texts(texts: Mapping[str, tuple[str, ...]], source: str) -> dict[str, tuple[str, ...]]:
    """Return lists of texts with names without the groups of recordings; they must be the same in all recordings."""
    merged: dict[str, tuple[str, ...]] = {}
    for full_name, labels in texts.items():
        match = _NUMBERED.fullmatch(full_name)
        name = full_name if match is None else match["before"] + match["rest"]
        if merged.setdefault(name, labels) != labels:
            raise InputError(
                f"{source}: {name!r} is not the same in all recordings, so their joints may have different orders; "
                "choose one recording with --topic"
            )
    return merged


def split_recordings(arrays: Sequence[StoredArray]) -> list[list[StoredArray]]:
    """Return the arrays of each recording, with names without its group, in the order of the numbers.

    The list is empty unless there are several recordings, in groups of the same place and with the same names.
    """
    recordings: dict[int, dict[str, StoredArray]] = {}
    places = set()
    for array in arrays:
        match = _NUMBERED.fullmatch(array.name)
        if match is None:
            continue
        places.add(match["before"])
        name = match["before"] + match["rest"]
        recordings.setdefault(int(match["number"]), {})[name] = replace(array, name=name)
    if len(recordings) < 2 or len(places) > 1 or len({frozenset(each) for each in recordings.values()}) > 1:
        return []
    return [list(recordings[number].values()) for number in sorted(recordings)]
