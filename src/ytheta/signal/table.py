"""Table: what a log file holds before anyone knows what it means: columns of doubles by name, in file order.

``columns`` may read lazily, one column per look-up, so that a long Parquet file is never in memory twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ytheta.signal.log import Column, Finding


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of equal length; ``headed`` is False where the file names none and they are called 0, 1, 2, …"""

    columns: Mapping[str, Column]
    rows: int
    headed: bool = True
    findings: tuple[Finding, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)
