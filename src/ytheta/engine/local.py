"""Threads of this machine.

Kernels, filters and BLAS leave Python's lock while they compute, so threads are all that is needed. Results come in the
order of the items, whatever finishes first: merged in that order, sums do not depend on the number of threads.

BLAS would start threads of its own for each product of some hundred samples. They spin while they wait for each other,
and on processors that others use too a product then takes ten times as long. It gets one thread while ours work.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from threadpoolctl import ThreadpoolController

from ytheta.engine.engine import AHEAD, Item, Result
from ytheta.errors import InputError


@dataclass(frozen=True)
class Local:
    """Threads of this process, as many as there are processors unless given."""

    threads: int | None = None

    def map_in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        return map_in_order(work, items, threads=self.threads)


def map_in_order(work: Callable[[Item], Result], items: Iterable[Item], *, threads: int | None = None) -> Iterator[Result]:
    """``work(item)`` of every item, one after the other, by as many threads as there are processors unless given."""
    count = processors(threads)
    if count == 1:
        with one_blas_thread():
            yield from map(work, items)
        return
    with one_blas_thread(), ThreadPoolExecutor(count) as pool:
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


def processors(wanted: int | None) -> int:
    """As many as wanted, or all that this process may use."""
    count = count_processors() if wanted is None else wanted
    if count < 1:
        raise InputError(f"threads is {count}; give at least 1")
    return count


def count_processors() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[None]:
    """Within it BLAS and LAPACK use one thread: for matrices of some dozen rows, which more would only slow down."""
    return _BLAS.one_thread()


class _Blas:
    """The threads of BLAS: a setting of the whole process, whoever of its threads changes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: AbstractContextManager[Any] = nullcontext()

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        """The first who comes changes the setting, the last who leaves restores it."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limit = self._controller.limit(limits=1, user_api="blas")
                self._limit.__enter__()
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._limit.__exit__(None, None, None)

    @cached_property
    def _controller(self) -> ThreadpoolController:
        return ThreadpoolController()


_BLAS = _Blas()
