"""Cells that are not numbers: vectors with one entry for each joint, and dates.

Vectors are lists of Parquet files and DataFrames, or texts.
The entries of a vector ``position`` are columns called position1, position2, … In text files, vectors are texts such as
[0.1, 0.2], (0.1, 0.2) or array('d', [0.1, 0.2]). A column of lists of texts may contain the names of the joints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.shapes import PerSample, Shaped

# Largest number of entries of a vector in a cell. Chosen on: reasoning; no robot has so many joints.
MAX_WIDTH = 1000
# Largest number of characters of a list in a text. Chosen on: rule of thumb.
MAX_LIST_LENGTH = 100_000

_LIST = re.compile(r"(?:array\(\s*(?:'\w',\s*)?)?[\[(]([^\[\]()]*)[\])]\s*(?:,\s*dtype=\w+\s*)?\)?")
_ENTRY_BREAK = re.compile(r"\s*[,;]\s*|\s+")


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of one column, which are loaded when they are first needed; None stands for a missing vector."""

    name: str
    source: str
    width: int
    load: Callable[[], Sequence[Any]]

    @cached_property
    def values(self) -> Shaped[np.ndarray, "rows width"]:
        vectors = self.load()
        values = np.full((len(vectors), self.width), np.nan)
        for row, vector in enumerate(vectors):
            if vector is None:
                continue
            try:
                entries = np.asarray(vector, dtype=np.float64)
            except (TypeError, ValueError):
                entries = np.empty(0)
            if entries.shape != (self.width,):
                raise InputError(
                    f"{self.source}, row {row}: {str(vector)[:40]!r} in the column {self.name!r} is not a vector of "
                    f"{self.width} numbers, as in the first row; correct or remove it"
                )
            values[row] = entries
        return values

    def list_columns(self) -> list[tuple[str, VectorColumn]]:
        """Return names and columns of all entries."""
        return [(f"{self.name}{k + 1}", VectorColumn(self, k)) for k in range(self.width)]


@dataclass(frozen=True, eq=False)
class VectorColumn:
    """One entry of the vectors of a column."""

    vectors: Vectors
    number: int

    def __getitem__(self, rows: slice, /) -> PerSample:
        return np.asarray(self.vectors.values[rows, self.number])


def find_width(cell: Any) -> int:
    """Return the number of entries of a cell that is a vector of numbers; 0 if it is something else."""
    if isinstance(cell, str | bytes) or not hasattr(cell, "__len__"):
        return 0
    try:
        entries = np.asarray(cell)
    except (TypeError, ValueError):
        return 0
    is_vector = entries.ndim == 1 and 0 < len(entries) <= MAX_WIDTH
    if entries.dtype == object and is_vector:
        is_vector = all(entry is None or isinstance(entry, int | float) for entry in entries)
        return len(entries) if is_vector else 0
    return len(entries) if is_vector and entries.dtype.kind in "fiub" else 0


def parse_list(text: str) -> list[str]:
    """Return the entries of a list in a text; an empty list if it contains none."""
    match = _LIST.fullmatch(text.strip()) if len(text) <= MAX_LIST_LENGTH else None
    entries = _ENTRY_BREAK.split(match.group(1).strip().rstrip(",").strip()) if match else []
    return [entry.strip("'\"") for entry in entries if entry][: MAX_WIDTH + 1]


def parse_vector(text: str | None) -> list[float] | str | None:
    """Return the numbers of a list in a text, None if it is missing, and the text itself if it is something else."""
    if text is None or not text.strip():
        return None
    try:
        return [float(entry) for entry in parse_list(text)] or text
    except ValueError:
        return text


def read_repeated_list(lists: Sequence[Sequence[str] | None], name: str, source: str) -> tuple[str, ...]:
    """Return the list that all rows contain; raise InputError if they differ."""
    first = next((tuple(each) for each in lists if each is not None), ())
    for row, each in enumerate(lists):
        if each is not None and tuple(each) != first:
            raise InputError(
                f"{source}, row {row}: the joint names in the column {name!r} are others than those of the first row; "
                "write one group of columns for each joint"
            )
    return first


# Times as texts: dates such as 2026-03-01T12:00:00.25Z and 01.03.2026 12:00:00,25, and times of day.
#
# Dates become seconds since the first one, which floating-point numbers hold to nanoseconds. Times of day may pass
# midnight once per step. Dates whose day and month can be confused, such as 3/1/2026, are not recognized.

SECOND, DAY = 10**9, 86_400 * 10**9  # ns. Fixed by: the units.
MISSING_TEXTS = frozenset({"", "na", "n/a", "nan", "nat", "null", "none", "-"})

_DATE = r"(?:(?P<year>\d{4})[-/](?P<month>\d\d?)[-/](?P<day>\d\d?)|(?P<DAY>\d\d?)\.(?P<MONTH>\d\d?)\.(?P<YEAR>\d{4}))"
_CLOCK = r"(?P<hour>\d\d?):(?P<minute>[0-5]\d):(?P<second>[0-5]\d)(?:[.,](?P<fraction>\d{1,12}))?"
_ZONE = r"\s*(?:Z|UTC|(?P<sign>[+-])(?P<zone_hour>\d\d):?(?P<zone_minute>\d\d)?)?"
_TIME = re.compile(rf"(?:{_DATE}(?:[T ]\s*|\s*-\s*))?{_CLOCK}{_ZONE}", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class TextColumn:
    """A column that contains texts instead of numbers; it can only be the time, if the texts are dates.

    The texts are loaded when the column is first read.
    """

    load: Callable[[], Sequence[str | None]]
    name: str
    source: str

    def __getitem__(self, rows: slice, /) -> PerSample:
        row, text = next(((k, each) for k, each in enumerate(self.load()) if each and each.strip()), (0, ""))
        raise InputError(
            f"{self.source}: the column {self.name!r} contains texts ({text.strip()[:40]!r} in row {row}), not "
            "numbers; choose another column in a mapping, or store numbers"
        )

    def list_labels(self) -> list[str]:
        """Return the first two different texts of the column, fewer if there are fewer."""
        return list(islice(dict.fromkeys(text for text in self.load() if text and text.strip()), 2))

    def load_texts(self) -> Sequence[str | None]:
        """Return the texts of all rows."""
        return self.load()

    def read_seconds(self, rows: slice) -> PerSample:
        """Return the dates of some rows in seconds since the first date of the column."""
        return self._seconds[rows]

    @cached_property
    def _seconds(self) -> PerSample:
        return parse_seconds(self.load(), f"{self.source}: the time {self.name!r}")


def parse_seconds(texts: Sequence[str | None], source: str) -> PerSample:
    """Return dates or times of day in seconds since the first one; those that are missing are NaN."""
    seconds = np.full(len(texts), np.nan)
    first = last = None
    days = 0  # midnights that times of day have passed
    for k, text in enumerate(texts):
        if text is None or text.strip().casefold() in MISSING_TEXTS:
            continue
        moment, has_date = _parse_moment(text, source, k)
        if not has_date and last is not None and moment + days * DAY < last - DAY // 2:
            days += 1
        moment += 0 if has_date else days * DAY
        first, last = moment if first is None else first, moment
        seconds[k] = (moment - first) / SECOND
    return seconds


def _parse_moment(text: str, source: str, row: int) -> tuple[int, bool]:
    """Return nanoseconds since the year 1, or since midnight, and whether the text contains a date."""
    match = _TIME.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError
        parts = match.groupdict()
        year, month, day = (parts[name] or parts[name.upper()] for name in ("year", "month", "day"))
        moment = 0 if year is None else DAY * date(int(year), int(month), int(day)).toordinal()
        if int(parts["hour"]) > 23:
            raise ValueError
    except ValueError:
        raise InputError(
            f"{source}, row {row}: {text.strip()[:40]!r} is neither a number nor a date such as 2026-03-01T12:00:00.25 "
            "or 12:00:00.25; write seconds, or give the sampling rate in place of the time"
        ) from None
    moment += SECOND * (3600 * int(parts["hour"]) + 60 * int(parts["minute"]) + int(parts["second"]))
    moment += int((parts["fraction"] or "0")[:9].ljust(9, "0"))
    if parts["sign"]:
        ahead = SECOND * (3600 * int(parts["zone_hour"]) + 60 * int(parts["zone_minute"] or 0))
        moment += -ahead if parts["sign"] == "+" else ahead
    return moment, year is not None
