"""The places of quantities: topics, structs or groups, each of which may have a time of its own.

The place of the positions decides the time of the log. Quantities are taken from the same place; if it does not have
them, those of another place are used with a warning. If that place has its own time, it must be that of the positions,
because quantities are combined row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.reading.columns.column_index import TimeColumn
from ytheta.logs.reading.columns.column_names import drop_quantity
from ytheta.logs.reading.columns.messages import QUANTITY_NOUNS
from ytheta.logs.reading.mapping_values import UNITS
from ytheta.logs.reading.table import ColumnTable, read_time_column
from ytheta.shapes import PerSample

MAX_TIME_DIFFERENCE = 0.1  # between two clocks, divided by the sampling interval


@dataclass(frozen=True)
class Place:
    """Where a quantity is.

    Attributes
    ----------
    scope      the names of topic, struct or group, from the outermost; empty for the top level of a file
    times      the columns of time that belong to it
    is_chosen  whether a mapping chose the columns, so that their place needs no warning
    """

    scope: tuple[str, ...] = ()
    times: tuple[TimeColumn, ...] = ()
    is_chosen: bool = False

    @property
    def name(self) -> str:
        return repr("/".join(self.scope)) if self.scope else "the top level of the file"

    def is_same(self, other: Place) -> bool:
        return drop_quantity(self.scope) == drop_quantity(other.scope)


def report_places(places: Mapping[str, Place]) -> list[Finding]:
    """Return a warning for each quantity that was found at another place than the positions."""
    origin = places.get("q", Place())
    return [
        Finding(
            LogFindingCode.PLACES,
            Severity.WARNING,
            f"the {QUANTITY_NOUNS[key]} are from {place.name}, but the positions from {origin.name}",
            remedy="check that both are of the same robot and recorded together, or choose columns in a mapping",
            fields={"quantity": key, "place": "/".join(place.scope), "positions": "/".join(origin.scope)},
        )
        for key, place in places.items()
        if not place.is_chosen and not place.is_same(origin)
    ]


def compare_clocks(
    table: ColumnTable,
    places: Mapping[str, Place],
    time: TimeColumn | None,
    rows: slice,
    source: str,
    *,
    scale: float = 1.0,
) -> None:
    """Raise InputError if a quantity has another time than the positions, whose column is ``time``.

    Without ``time``, the time was given for the whole file, and there is nothing to compare. ``scale`` is the unit of
    times in s, unless their names contain another one.
    """
    if time is None:
        return
    others = {
        key: place
        for key, place in places.items()
        if place.times and all(clock.position != time.position for clock in place.times)
    }
    if not others:
        return
    t = _read_seconds(table, time, rows, scale)
    steps = np.abs(np.diff(t[np.isfinite(t)]))
    interval = float(np.median(steps)) if len(steps) else 0.0
    for key, place in others.items():
        difference = min(_compare(t, _read_seconds(table, clock, rows, scale)) for clock in place.times)
        if difference > MAX_TIME_DIFFERENCE * interval:
            names = [table.names[clock.position] for clock in (place.times[0], time)]
            raise InputError(
                f"{source}: the {QUANTITY_NOUNS[key]} have their own time ({names[0]}), which differs from that of the "
                f"positions ({names[1]}) by up to {difference:.3g} s; interpolate them at the times of the positions "
                f'or, if their rows belong together, choose the time in a mapping: [columns] t = "{names[1]}"'
            )


def _read_seconds(table: ColumnTable, time: TimeColumn, rows: slice, scale: float) -> PerSample:
    values = np.asarray(read_time_column(table.columns[time.position], rows))
    return values * (UNITS["t"][time.unit] if time.unit else scale)


def _compare(t: PerSample, other: PerSample) -> float:
    """Return the greatest difference of two times in s; rows without a time are left out."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(other - t)
    finite = difference[np.isfinite(difference)]
    return float(finite.max()) if len(finite) else 0.0
