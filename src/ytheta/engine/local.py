"""The local engine: threads of this process.

Kernels, filters and BLAS release Python's global lock while they compute, so threads are sufficient. Results come in
the order of the items. If they are merged in that order, sums do not depend on the number of threads.

The threads are daemons that Python does not wait for when it ends. Those of ``concurrent.futures`` are waited for: if
Ctrl-C strikes between the start of such a thread and its registration, nobody tells the thread to stop, and the process
never ends. Nothing else here depends on when an interruption comes: it may raise KeyboardInterrupt between any two
instructions of the main thread, even within the methods of ``threading.Condition``, which then stays locked.

By default, BLAS starts its own threads for each matrix product of a few hundred samples. These threads wait for each
other in busy loops. If other programs use the same processors, a product then takes ten times as long. Therefore
BLAS is limited to one thread while the threads of the engine work.
"""

from __future__ import annotations

import _thread
import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, ContextDecorator, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import chain, islice
from queue import SimpleQueue
from typing import Any, Generic

from threadpoolctl import ThreadpoolController

from ytheta.arguments import check_count
from ytheta.engine.engine import ITEMS_PER_WORKER, Item, Result

# Times of work in s.
SECONDS_OF_FIRST_ITEMS = 2e-4  # done without threads, to measure how long an item takes
MIN_SECONDS_OF_THREADS = 2e-3  # for less work no threads are started, which takes half a millisecond
MIN_SECONDS_PER_BATCH = 8e-4  # at every batch the main thread wakes up, and others wait for Python's global lock
MAX_SECONDS_OF_REST = 0.5  # after an interruption; the work that other threads do then is not waited for any longer


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
        yield from map(work, remaining) if count == 1 else map_with_threads(work, remaining, count, size)


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


def map_with_threads(
    work: Callable[[Item], Result], items: Iterable[Item], count: int, size: int = 1
) -> Iterator[Result]:
    """Iterate over ``work(item)`` with this thread and ``count - 1`` others; each gets ``size`` items at once."""
    remaining = iter(items)
    with _borrow_pool(count - 1) as pool:
        waiting: deque[_Batch[Item, Result]] = deque()
        patience = -1.0  # without a limit
        try:
            while items_of_batch := list(islice(remaining, size)):
                waiting.append(_Batch(work, items_of_batch))
                pool.put(waiting[-1])
                if len(waiting) >= ITEMS_PER_WORKER * count:
                    yield from _take_first(waiting)
            while waiting:
                yield from _take_first(waiting)
        except Exception:
            raise
        except BaseException:  # an interruption, or the caller needs no further results
            patience = MAX_SECONDS_OF_REST
            raise
        finally:  # after an error or an interruption no further items are started
            for batch in [batch for batch in waiting if not batch.claim()]:
                batch.wait(patience)


def _take_first(waiting: deque[_Batch[Item, Result]]) -> list[Result]:
    """Remove and return the first results; until they are there, work on batches that no other thread has begun."""
    for batch in waiting:
        if waiting[0].is_done:
            break
        if batch.claim():
            batch.run()
    waiting[0].wait()
    return waiting.popleft().get_results()


class _Batch(Generic[Item, Result]):
    """Items for one thread. Its locks protect no section of code, which an interruption could leave locked."""

    def __init__(self, work: Callable[[Item], Result], items: list[Item]) -> None:
        self._work, self._items = work, items
        self._results: list[Result] = []
        self._error: BaseException | None = None
        self.is_done = False
        self._claimed, self._running = _thread.allocate_lock(), _thread.allocate_lock()
        self._running.acquire()

    def claim(self) -> bool:
        """Return whether the caller may work on this batch: whoever claims it first."""
        return self._claimed.acquire(blocking=False)

    def run(self) -> None:
        """Do the work; an interruption of this thread is raised at once."""
        try:
            self._results = [self._work(item) for item in self._items]
        except Exception as error:
            self._error = error
        except BaseException as error:
            self._error = error
            raise
        finally:
            self.is_done = True
            self._running.release()

    def wait(self, seconds: float = -1.0) -> None:
        """Wait until the work is done, for at most this time."""
        if not self.is_done and self._running.acquire(timeout=seconds):
            self._running.release()

    def get_results(self) -> list[Result]:
        """Return the results of work that is done, or raise its error."""
        if self._error is not None:
            raise self._error
        return self._results


# Queues of threads that nobody uses at the moment, by their number of threads. The C library gives a new thread any of
# its many heaps, each of which keeps the memory that one piece of work needs; threads that stay keep the same few.
_idle_pools: dict[int, list[SimpleQueue[_Batch[Any, Any]]]] = {}
if hasattr(os, "register_at_fork"):  # this function does not exist on every system
    os.register_at_fork(after_in_child=_idle_pools.clear)  # a child has no other threads


@contextmanager
def _borrow_pool(count: int) -> Iterator[SimpleQueue[_Batch[Any, Any]]]:
    """Lend the queue of ``count`` idle threads, or of new ones: work may itself need threads, or several callers do."""
    pools = _idle_pools.setdefault(count, [])
    try:
        pool = pools.pop()
    except IndexError:
        pool = SimpleQueue()
        with suppress(RuntimeError):  # no more threads: the calling thread does the work
            for _ in range(count):
                _thread.start_new_thread(_serve, (pool,))
    try:
        yield pool
    finally:
        pools.append(pool)


def _serve(pool: SimpleQueue[_Batch[Any, Any]]) -> None:
    """Work on the batches of a queue until the process ends."""
    while True:
        batch = pool.get()
        if batch.claim():
            with suppress(BaseException):  # the batch keeps it
                batch.run()
        del batch  # else the thread would keep it until the next one


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
