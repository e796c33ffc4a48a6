"""The local engine: threads of this process.

Kernels, filters and BLAS release Python's global lock while they compute, so threads are sufficient. Results come in
the order of the items. If they are merged in that order, sums do not depend on the number of threads.

By default, BLAS starts its own threads for each matrix product of a few hundred samples. These threads wait for each
other in busy loops. If other programs use the same processors, a product then takes ten times as long. Therefore
BLAS is limited to one thread while the threads of the engine work.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ContextDecorator, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from threadpoolctl import ThreadpoolController

from ytheta.arguments import check_count
from ytheta.engine.engine import ITEMS_PER_WORKER, Item, Result

# Times of work in s.
SECONDS_OF_FIRST_ITEMS = 2e-4  # done without threads, to measure how long an item takes
MIN_SECONDS_OF_THREADS = 2e-3  # for less work no threads are started, which takes half a millisecond
MIN_SECONDS_PER_BATCH = 8e-4  # at every batch the main thread wakes up, and others wait for Python's global lock


@dataclass(frozen=True)
class Local:
    """Threads of this process; by default as many as there are processors."""

    threads: int | None = None

    def map_in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        return map_in_order(work, items, threads=self.threads)


def map_in_order(
    work: Callable[[Item], Result], items: Iterable[Item], *, threads: int | None = None
) -> Iterator[Result]:
    """Iterate over ``work(item)`` in the order of the items.

    By default there are as many threads as processors, except for work that takes no longer than starting threads.
    """
    count, size, remaining = choose_workers(threads), 1, iter(items)
    with limit_blas_threads():
        if threads is None and count > 1:
            rate = yield from _map_first_items(work, remaining)
            worthwhile, size = math.ceil(MIN_SECONDS_OF_THREADS * rate), math.ceil(MIN_SECONDS_PER_BATCH * rate)
            ahead = list(islice(remaining, worthwhile))
            count, remaining = count if len(ahead) == worthwhile else 1, chain(ahead, remaining)
        yield from map(work, remaining) if count == 1 else _map_with_threads(work, remaining, count, size)


def _map_first_items(work: Callable[[Item], Result], items: Iterator[Item]) -> Generator[Result, None, float]:
    """Iterate over ``work(item)`` for the first items, in this thread; return the number of items per second."""
    seconds, done = 0.0, 0
    for item in items:
        start = time.perf_counter()
        result = work(item)
        seconds, done = seconds + time.perf_counter() - start, done + 1
        yield result
        if seconds > SECONDS_OF_FIRST_ITEMS:
            break
    return done / seconds if seconds else 1.0


def _map_with_threads(work: Callable[[Item], Result], items: Iterator[Item], count: int, size: int) -> Iterator[Result]:
    """Iterate over ``work(item)`` with this thread and ``count - 1`` others; each gets ``size`` items at once."""

    def work_on(batch: list[Item]) -> list[Result]:
        return [work(item) for item in batch]

    with _borrow_pool(count - 1) as pool:
        waiting: deque[tuple[list[Item], Future[list[Result]]]] = deque()
        try:
            while batch := list(islice(items, size)):
                waiting.append((batch, pool.submit(work_on, batch)))
                if len(waiting) >= ITEMS_PER_WORKER * count:
                    yield from _take_first(work_on, waiting)
            while waiting:
                yield from _take_first(work_on, waiting)
        finally:  # after an error or an interruption no further items are started
            for _, future in waiting:
                future.cancel()
            # Those that this thread has begun itself are never marked as done if it was interrupted.
            wait([future for _, future in waiting if not future.cancelled()])


# Pools of threads that nobody uses at the moment, by their number of threads. The C library gives a new thread any of
# its many heaps, each of which keeps the memory that one piece of work needs; threads that stay keep the same few.
_idle_pools: dict[int, list[ThreadPoolExecutor]] = {}
if hasattr(os, "register_at_fork"):  # this function does not exist on every system
    os.register_at_fork(after_in_child=_idle_pools.clear)  # a child has no other threads


@contextmanager
def _borrow_pool(count: int) -> Iterator[ThreadPoolExecutor]:
    """Lend an idle pool of ``count`` threads, or a new one: work may itself need threads, or several callers do."""
    pools = _idle_pools.setdefault(count, [])
    try:
        pool = pools.pop()
    except IndexError:
        pool = ThreadPoolExecutor(count)
    try:
        yield pool
    finally:
        pools.append(pool)


def _take_first(
    work_on: Callable[[list[Item]], list[Result]], waiting: deque[tuple[list[Item], Future[list[Result]]]]
) -> list[Result]:
    """Remove and return the first results; until they are there, work on batches that no other thread has begun."""
    while not waiting[0][1].done():
        place = next((k for k, (_, future) in enumerate(waiting) if future.cancel()), None)
        if place is None:
            break
        batch, done = waiting[place][0], Future[list[Result]]()
        waiting[place] = batch, done
        try:
            done.set_result(work_on(batch))
        except BaseException as error:
            done.set_exception(error)
            if not isinstance(error, Exception):  # an interruption is raised at once
                raise
    return waiting.popleft()[1].result()


def choose_workers(threads: int | None) -> int:
    """Return ``threads``, or by default the number of usable processors."""
    return count_processors() if threads is None else check_count("threads", threads, "a whole number of at least 1")


def count_processors() -> int:
    """Return the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # this function does not exist on every system
        return os.cpu_count() or 1


class limit_blas_threads(ContextDecorator):  # noqa: N801  # used like a function, as those of contextlib
    """A context, or a decorator, in which BLAS and LAPACK use one thread; more are slower for small matrices.

    Decorate no generator function: the limit would end when the generator is made, before it runs.
    """

    def __enter__(self) -> None:
        _BLAS.limit_to_one_thread()

    def __exit__(self, *_: object) -> None:
        _BLAS.restore()


class _Blas:
    """The limit on BLAS threads. It applies to the whole process, and several threads may need it at once."""

    def __init__(self) -> None:
        # Reentrant, since a finalizer may interrupt the methods and fork, or use the limit itself.
        self._lock = threading.RLock()
        self._users = 0
        self._limit: AbstractContextManager[Any] = nullcontext()
        self._controller: ThreadpoolController | None = None
        self._module_count = 0
        if hasattr(os, "register_at_fork"):  # this function does not exist on every system
            # A fork waits until other threads have changed the setting. Else nobody would unlock the child's lock.
            release = self._lock.release
            os.register_at_fork(before=self._lock.acquire, after_in_parent=release, after_in_child=release)

    def limit_to_one_thread(self) -> None:
        """Limit BLAS to one thread; the first user changes the setting."""
        with self._lock:
            if self._users == 0:
                limit = self._find_libraries().limit(limits=1, user_api="blas")
                limit.__enter__()
                self._limit = limit
            self._users += 1

    def _find_libraries(self) -> ThreadpoolController:
        """Return the controller of all BLAS libraries that are loaded.

        Searching takes half a millisecond. A further library comes with a module that is imported.
        """
        module_count = len(sys.modules)
        if self._controller is None or self._module_count != module_count:
            self._controller, self._module_count = ThreadpoolController(), module_count
        return self._controller

    def restore(self) -> None:
        """End one use of the limit; the last user restores the setting."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.__exit__(None, None, None)


_BLAS = _Blas()
