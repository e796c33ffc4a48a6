"""Threads of this machine.

Kernels, filters and BLAS leave Python's lock while they compute, so threads are all that is needed. Results come in the
order of the items, whatever finishes first: merged in that order, sums do not depend on the number of threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from ytheta.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")
AHEAD = 2  # items per thread that are under way or wait to be merged: memory stays the same however many there are


def in_order(work: Callable[[Item], Result], items: Iterable[Item], *, threads: int | None = None) -> Iterator[Result]:
    """``work(item)`` of every item, one after the other, by as many threads as there are processors unless given."""
    count = usable_processors() if threads is None else threads
    if count < 1:
        raise InputError(f"threads is {count}; give at least 1")
    if count == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(count) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) >= AHEAD * count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # after an error or an interruption nothing new is begun
            for future in waiting:
                future.cancel()


def usable_processors() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
