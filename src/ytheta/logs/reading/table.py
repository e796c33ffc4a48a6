"""Table: what a log file holds before anyone knows what it means: columns of doubles by name, in file order.

A column gives its rows by slices. It may be an array, or read the rows of each slice from a long file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ytheta.findings import Finding
from ytheta.shapes import PerSample


@runtime_checkable
class Stored(Protocol):
    """A column: an array, or what reads one."""

    def __getitem__(self, rows: slice, /) -> PerSample: ...


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of equal length; ``headed`` is False where the file names none and they are called 0, 1, 2, …"""

    columns: Mapping[str, Stored]
    rows: int
    headed: bool = True
    findings: tuple[Finding, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)
