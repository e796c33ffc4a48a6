"""Columns whose names are fixed, such as those of a floating base, at any place of a file.

They follow the rule of places: those at the place of the positions are used, then those of the places around it. Those
of another place are used if there is only one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ytheta.errors import InputError
from ytheta.logs.reading.columns.column_index import ColumnIndex
from ytheta.logs.reading.columns.column_names import drop_quantity
from ytheta.logs.reading.columns.messages import QUANTITY_NOUNS
from ytheta.logs.reading.columns.places import Place
from ytheta.logs.reading.table import ColumnTable

Scope = tuple[str, ...]


@dataclass(frozen=True)
class FixedColumns:
    """The columns with fixed names; ``by_scope`` contains their positions by name, for every place."""

    index: ColumnIndex
    by_scope: Mapping[Scope, Mapping[str, int]]

    def choose(self, key: str, names: Sequence[str], origin: Place) -> tuple[dict[str, int], Place | None]:
        """Return the columns of a quantity ``key`` that belong to the positions at ``origin``, and their place.

        The place is None if there are no columns. Raise InputError if it is not known which of several are meant.
        """
        scopes = [scope for scope, known in self.by_scope.items() if any(name in known for name in names)]
        if not scopes:
            return {}, None
        inner = drop_quantity(origin.scope)
        around = [inner[:depth] for depth in range(len(inner), -1, -1)]
        near = next((scope for scope in around if scope in scopes), None)
        if near is None and len(scopes) > 1:
            listed = ", ".join(Place(scope).name for scope in scopes)
            raise InputError(
                f"{self.index.source} has the {QUANTITY_NOUNS[key]} at several places ({listed}); keep one of them, at "
                f"the place of the positions ({origin.name})"
            )
        scope = scopes[0] if near is None else near
        columns = {name: position for name, position in self.by_scope[scope].items() if name in names}
        return columns, Place(scope, tuple(self.index.list_times(scope)))


def find_fixed_columns(table: ColumnTable, names: Collection[str], source: str) -> FixedColumns:
    """Return the columns of a table with these names, in lower case; of equal ones, the first counts."""
    by_scope: dict[Scope, dict[str, int]] = {}
    for position, full_name in enumerate(table.names):
        *scope, name = [part for part in re.split(r"[/.]", full_name.strip().casefold()) if part] or [""]
        if name in names:
            by_scope.setdefault(tuple(scope), {}).setdefault(name, position)
    return FixedColumns(ColumnIndex(table, source), by_scope)
