"""Threads of this process: their reuse, and the limit of BLAS to one thread."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import islice
from types import ModuleType

import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from ytheta.engine import local
from ytheta.engine.local import limit_blas_threads, map_in_order


def count_blas_threads() -> int:
    return max(int(library["num_threads"]) for library in threadpool_info() if library["user_api"] == "blas")


def test_blas_uses_one_thread_until_the_first_user_ends() -> None:
    counts: list[int] = []

    def use_limit() -> None:
        with limit_blas_threads():
            counts.append(count_blas_threads())

    with threadpool_limits(2, user_api="blas"):
        assert count_blas_threads() == 2
        with limit_blas_threads():
            other = threading.Thread(target=use_limit)
            other.start()
            other.join()
            counts.append(count_blas_threads())
        assert counts == [1, 1]
        assert count_blas_threads() == 2


def test_the_limit_decorates_a_function_and_ends_with_an_error() -> None:
    @limit_blas_threads()
    def fail(name: str) -> None:
        raise ValueError(f"{name} {count_blas_threads()}")

    with threadpool_limits(2, user_api="blas"):
        for name in ("first", "second"):
            with pytest.raises(ValueError, match=f"{name} 1"):
                fail(name)
            assert count_blas_threads() == 2


def test_a_limit_that_cannot_be_set_has_no_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("a library cannot be read")

    with threadpool_limits(2, user_api="blas"):
        with monkeypatch.context() as patch:
            patch.setattr(local, "ThreadpoolController", fail)
            patch.setattr(local._BLAS, "_controller", None)
            with pytest.raises(OSError, match="cannot be read"):
                limit_blas_threads().__enter__()
        with limit_blas_threads():
            assert count_blas_threads() == 1
        assert count_blas_threads() == 2


def test_libraries_are_searched_again_after_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    created = []

    def count_creations() -> object:
        created.append(True)
        return ThreadpoolController()

    def use_limit() -> int:
        with limit_blas_threads():
            return len(created)

    with limit_blas_threads():  # whatever this imports, is imported
        pass
    monkeypatch.setattr(local, "ThreadpoolController", count_creations)
    monkeypatch.setattr(local._BLAS, "_controller", None)
    assert [use_limit(), use_limit()] == [1, 1]
    monkeypatch.setitem(sys.modules, "module_with_blas", ModuleType("module_with_blas"))
    assert [use_limit(), use_limit()] == [2, 2]


def test_the_calling_thread_works_with_the_others() -> None:
    barrier = threading.Barrier(3)  # passed only if three threads work at the same time
    threads: list[int] = []

    def work(item: int) -> int:
        barrier.wait(timeout=30.0)
        threads.append(threading.get_ident())
        return item

    assert list(local.map_in_order(work, range(6), threads=3)) == list(range(6))
    assert threading.get_ident() in threads
    assert len(set(threads)) == 3


@pytest.mark.parametrize("count", [1, 2, 4])
def test_an_error_is_raised_after_the_results_before_it(count: int) -> None:
    def work(item: int) -> int:
        if item in (5, 7):
            raise ValueError(f"item {item}")
        time.sleep(0.002 * (item == 0))  # meanwhile other threads reach the wrong items
        return item

    results = local.map_in_order(work, range(20), threads=count)
    assert list(islice(results, 5)) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="item 5"):
        next(results)


FORK = """
import os, signal, threading, time
from ytheta.engine import local

create, started, finished = local.ThreadpoolController, threading.Event(), []

def create_slowly():
    started.set()
    time.sleep(0.2)
    finished.append(True)
    return create()

def use_limit():
    with local.limit_blas_threads():
        return True

local.ThreadpoolController = create_slowly
threading.Thread(target=use_limit).start()
started.wait()
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(0 if finished and use_limit() else 1)
print(os.waitpid(child, 0)[1], use_limit())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_waits_while_another_thread_changes_the_limit() -> None:
    process = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stdout) == (0, "0 True\n"), process.stderr


def test_threads_are_used_again() -> None:
    def find_thread(_: int) -> int:
        time.sleep(0.002)  # so that every thread gets some of the items
        return threading.get_ident()

    first, again = (set(map_in_order(find_thread, range(20), threads=2)) for _ in range(2))
    assert len(first) == 2
    assert again == first
    assert threading.get_ident() in first  # this thread works too, with one other
    assert set(map_in_order(find_thread, range(20), threads=1)) == {threading.get_ident()}  # the twin


def test_work_may_need_threads_itself() -> None:
    """With one pool for all, the inner work would wait for threads that wait for it."""

    def add(number: int) -> int:
        return sum(map_in_order(lambda k: k * number, range(5), threads=2))

    assert list(map_in_order(add, range(10), threads=2)) == [10 * number for number in range(10)]


def test_threads_can_be_used_after_an_error() -> None:
    started: list[int] = []

    def work(number: int) -> int:
        started.append(number)
        if number == 3:
            raise ValueError("three")
        return number

    with pytest.raises(ValueError, match="three"):
        list(map_in_order(work, range(1000), threads=2))
    count = len(started)
    assert 3 < count < 20  # no further items were started
    assert list(map_in_order(lambda number: number, range(100), threads=2)) == list(range(100))
    assert len(started) == count


FORK_WITH_IDLE_THREADS = """
import os
from ytheta.engine.local import map_in_order
numbers = list(map_in_order(abs, range(-50, 0), threads=2))
child = os.fork()
if child == 0:
    os._exit(0 if list(map_in_order(abs, range(-50, 0), threads=2)) == numbers else 1)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_does_not_wait_for_the_threads_of_its_parent() -> None:
    subprocess.run([sys.executable, "-c", FORK_WITH_IDLE_THREADS], check=True, timeout=60)


INTERRUPTED = """
import time
from ytheta.engine.local import map_in_order

def work(item):
    time.sleep(0.02)
    return item

print("started", flush=True)
for _ in map_in_order(work, range(100_000), threads=2):
    pass
"""


@pytest.mark.parametrize("delay", [0.2, 0.31])
def test_an_interruption_ends_the_work(delay: float) -> None:
    """This thread works too, and is interrupted at its work or while it waits for the other."""
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    assert b"KeyboardInterrupt" in errors
