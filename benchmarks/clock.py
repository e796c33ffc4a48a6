"""Time measurement: the shortest time of several repetitions, and a row that compares two such times."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table

from ytheta.report.benchmark import format_time


@dataclass(frozen=True)
class Row:
    """One comparison of ytheta with a peer. Times are in s.

    If ``limit`` is given, the peer is a part of the work of ytheta, which shall take at most ``limit`` times as long.
    """

    name: str
    ytheta: float
    peer: float
    peer_name: str
    limit: float | None = None

    @property
    def ratio(self) -> float:
        """The time of the peer divided by the time of ytheta."""
        return self.peer / self.ytheta

    @property
    def verdict(self) -> str:
        """The ratio as text; with a limit, how many times as long ytheta takes, and the limit."""
        if self.limit is None:
            return f"{self.ratio:.1f}×"
        return f"takes {1.0 / self.ratio:.2f}× (limit {self.limit:g}×{'' if self.is_within_limit else ', exceeded'})"

    @property
    def is_within_limit(self) -> bool:
        """Whether there is no limit, or ytheta keeps it."""
        return self.limit is None or self.ytheta <= self.limit * self.peer

    @property
    def times(self) -> tuple[str, str]:
        """Both times as text."""
        return format_time(self.ytheta), format_time(self.peer)


def print_rows(rows: Iterable[Row]) -> None:
    """Print one table."""
    table = Table("what", "ytheta", "peer", "peer's name", "faster", box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(row.name, *row.times, row.peer_name, row.verdict)
    Console().print(table)


MIN_TOTAL_SECONDS = 0.3


def measure_best(
    work: Callable[[], object], *, runs: int = 7, calls: int = 1, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the time per call in s: the shortest of several runs, which last at least MIN_TOTAL_SECONDS in total.

    For work on one thread, ``clock`` should be time.process_time, so that other processes do not disturb the
    measurement. They would disturb a long job more than a short one and distort the ratio of both times.
    """
    times: list[float] = []
    while len(times) < runs or (runs > 1 and sum(times) * calls < MIN_TOTAL_SECONDS):
        start = clock()
        for _ in range(calls):
            work()
        times.append((clock() - start) / calls)
    return min(times)
