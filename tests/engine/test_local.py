"""Threads of this process: the limit of BLAS to one thread."""

from __future__ import annotations

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from ytheta.engine.local import limit_blas_threads


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
