"""How benchmarks measure: the best of several runs, and a row that compares two such times."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison; times in seconds."""

    name: str
    ytheta: float
    peer: float
    peer_name: str

    @property
    def ratio(self) -> float:
        """How many times faster than the peer."""
        return self.peer / self.ytheta

    @property
    def times(self) -> tuple[str, str]:
        return _printed(self.ytheta), _printed(self.peer)


LONG_ENOUGH = 0.3


def best_of(
    work: Callable[[], object], *, runs: int = 7, calls: int = 1, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds per call, the best of several runs of several calls each: of as many as fit into LONG_ENOUGH seconds.

    ``clock``: time.process_time for work on one thread, which others on the same processor then do not disturb. A
    long job is disturbed more than a short one, so that without it a ratio of the two would flatter the short one.
    """
    times: list[float] = []
    while len(times) < runs or (runs > 1 and sum(times) * calls < LONG_ENOUGH):
        began = clock()
        for _ in range(calls):
            work()
        times.append((clock() - began) / calls)
    return min(times)


def _printed(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
