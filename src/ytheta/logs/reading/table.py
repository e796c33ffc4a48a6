"""ColumnTable: the columns of a log by name, in the order of the file, before their meaning is known.

A column is an array, or an object that reads a slice of rows on demand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ytheta.findings import Finding
from ytheta.shapes import PerSample


@runtime_checkable
class Column(Protocol):
    """An array, or an object that reads slices of rows from a file."""

    def __getitem__(self, rows: slice, /) -> PerSample: ...


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """Named columns of equal length; if the file has no header, the columns are called 0, 1, 2, …

    ``repeated`` contains the names that several columns have; such a column is refused if it is needed. ``others``
    contains the entries of a dict that are not columns, and what they are instead, such as "a text".
    """

    columns: Mapping[str, Column]
    rows: int
    has_header: bool = True
    findings: tuple[Finding, ...] = ()
    repeated: frozenset[str] = frozenset()
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)
