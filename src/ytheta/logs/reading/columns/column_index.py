"""The columns of a table by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ytheta.errors import InputError
from ytheta.logs.reading.columns.column_names import parse_time_name
from ytheta.logs.reading.table import ColumnTable


@dataclass(frozen=True)
class TimeColumn:
    """A column of time; ``unit`` is empty if its name has none."""

    position: int
    unit: str


@dataclass(frozen=True)
class ColumnIndex:
    """Finds columns by name; ``source`` is the name of the file in error messages."""

    table: ColumnTable
    source: str

    @cached_property
    def positions(self) -> dict[str, list[int]]:
        """The positions of the columns of every name; the keys are the names in lower case."""
        positions: dict[str, list[int]] = {}
        for k, name in enumerate(self.table.names):
            positions.setdefault(name.strip().casefold(), []).append(k)
        return positions

    @cached_property
    def _times(self) -> dict[tuple[str, ...], list[tuple[str, str]]]:
        """Names and units of the columns of time in every scope."""
        times: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for name, positions in self.positions.items():
            if positions[0] in self.table.time_parts:
                continue
            if (parsed := parse_time_name(name)) is not None:
                times.setdefault(parsed[0], []).append((name, parsed[1]))
        return times

    def get_name(self, name: str) -> str:
        """Return a name in lower case as it is in the file."""
        return self.table.names[self.positions[name][0]].strip()

    def find_position(self, name: str) -> int | None:
        """Return the position of the column with this name; if several have it, only their case may distinguish them.

        Raise InputError if several columns have this name, because it is not known which of them is meant.
        """
        name = name.strip()
        alike = self.positions.get(name.casefold(), [])
        equal = [k for k in alike if self.table.names[k].strip() == name] if len(alike) > 1 else alike
        if len(alike) > 1 and len(equal) != 1:
            numbers = ", ".join(map(str, alike))
            raise InputError(
                f"{self.source} has several columns {self.table.names[alike[0]]!r} (columns {numbers}, counted from 0);"
                " rename those that are not part of the log, or choose one by its number in a mapping"
            )
        return equal[0] if equal else None

    def list_times(self, scope: tuple[str, ...]) -> list[TimeColumn]:
        """Return the columns of time in a scope or, if it has none, in the nearest scope around it."""
        for depth in range(len(scope), -1, -1):
            if names := self._times.get(scope[:depth]):
                found = [(self.find_position(name), unit) for name, unit in names]
                return [TimeColumn(position, unit) for position, unit in found if position is not None]
        return []
