"""Buffers: arrays that begin at a cache line."""

from __future__ import annotations

import numpy as np

from tests.support.kernel_graphs import integer_inputs, linear_graph, linear_result
from ytheta.native import compile_graph
from ytheta.native.kernel import allocate_aligned, allocate_result


def test_aligned_arrays_begin_at_a_cache_line() -> None:
    arrays = [allocate_aligned(shape) for shape in ((1,), (3, 5), (7, 1001), (0, 40), (4, 1, 2)) for _ in range(10)]
    for array in arrays:
        assert array.ctypes.data % 64 == 0 or array.size == 0
        assert array.flags.c_contiguous
        array[...] = 1.0
    assert {array.shape for array in arrays} == {(1,), (3, 5), (7, 1001), (0, 40), (4, 1, 2)}


def test_large_results_begin_at_a_cache_line() -> None:
    assert allocate_result((2, 3)).shape == (2, 3)
    for rows in (33, 1000, 4099):
        array = allocate_result((rows, 1001))
        assert (array.shape, array.flags.c_contiguous, array.flags.writeable) == ((rows, 1001), True, True)
        assert array.ctypes.data % 64 == 0
    x = integer_inputs(3000)
    np.testing.assert_array_equal(compile_graph(linear_graph(50))(x), linear_result(x, 50))
