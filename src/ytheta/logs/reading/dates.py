"""Times as texts: dates such as 2026-03-01T12:00:00.25Z and 01.03.2026 12:00:00,25, and times of day.

Dates become seconds since the first one, which floating-point numbers hold to nanoseconds. Times of day may pass
midnight once per step. Dates whose day and month can be confused, such as 3/1/2026, are not recognized.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import islice

import numpy as np

from ytheta.errors import InputError
from ytheta.shapes import PerSample

SECOND, DAY = 10**9, 86_400 * 10**9  # ns
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
