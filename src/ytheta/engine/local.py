"""Threads of this machine.

Kernels, filters and BLAS leave Python's lock while they compute, so threads are all that is needed. Results come in the
order of the items, whatever finishes first: merged in that order, sums do not depend on the number of threads.

BLAS would start threads of its own for each product of some hundred samples. They spin while they wait for each other,
and on processors that others use too a product then takes ten times as long. It gets one thread while ours work.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

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


def usable_processors() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[None]:
    """Within it BLAS and LAPACK use one thread: for matrices of some dozen rows, which more would only slow down."""
    return _BLAS.one_thread()


class _Blas:
    """The threads of the OpenBLAS that NumPy brings along; another BLAS is left as it is set up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = 1

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        """The setting is one for the whole process: the first who comes changes it, the last who leaves restores it."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._before = self._get()
                self._set(1)
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._set(self._before)

    @cached_property
    def _calls(self) -> tuple[Any, Any] | None:
        """OpenBLAS's own functions, found through the part of NumPy that is linked to it."""
        try:
            linked = ctypes.CDLL(sys.modules[f"{np.__name__}._core._multiarray_umath"].__file__)
            return linked.scipy_openblas_get_num_threads64_, linked.scipy_openblas_set_num_threads64_
        except (AttributeError, KeyError, OSError):
            return None

    def _get(self) -> int:
        return int(self._calls[0]()) if self._calls else 1

    def _set(self, count: int) -> None:
        if self._calls:
            self._calls[1](count)


_BLAS = _Blas()
