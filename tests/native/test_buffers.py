"""Buffers: aligned results, and a pool of reusable buffers."""

from __future__ import annotations

import gc
from collections import deque
from typing import Any

import numpy as np

from tests.support.kernel_graphs import integer_inputs, linear_graph, linear_result
from ytheta.native import compile_graph
from ytheta.native.buffers import BufferPool, allocate_result


def test_buffers_are_reused_once_nothing_refers_to_them() -> None:
    pool = BufferPool(3, 40)
    first, address = pool.acquire()
    part = first[1:, ::2].T
    second, another = pool.acquire()
    assert address != another
    assert (first.shape, first.flags.c_contiguous, address % 64) == ((3, 40), True, 0)
    del first
    gc.collect()
    _, third = pool.acquire()
    assert third not in (address, another)  # the view still refers to the first one
    del part
    assert pool.acquire()[1] == address
    assert pool.acquire()[1] == address
    assert not np.shares_memory(second, pool.acquire()[0])
    assert BufferPool(0, 40).acquire()[0].shape == (0, 40)


def test_a_new_buffer_is_not_handed_out_twice() -> None:
    """Another thread may run just when a new buffer is put into the pool."""
    pool = BufferPool(2, 3)
    others: list[Any] = []

    class Intruder(deque):  # type: ignore[type-arg]
        def append(self, item: object) -> None:
            super().append(item)
            if not others:
                others.append(None)
                others[0] = pool.acquire()

    pool._buffers = Intruder(maxlen=4)
    _, address = pool.acquire()
    assert others[0][1] != address


def test_large_results_begin_at_a_cache_line() -> None:
    assert allocate_result((2, 3)).shape == (2, 3)
    for rows in (33, 1000, 4099):
        array = allocate_result((rows, 1001))
        assert (array.shape, array.flags.c_contiguous, array.flags.writeable) == ((rows, 1001), True, True)
        assert array.ctypes.data % 64 == 0
    x = integer_inputs(3000)
    np.testing.assert_array_equal(compile_graph(linear_graph(50))(x), linear_result(x, 50))
