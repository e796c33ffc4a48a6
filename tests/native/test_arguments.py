"""Arguments of kernels: wrong ones are named, numbers of any type are accepted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.kernel_graphs import draw_inputs, linear_graph, sparse_graph
from ytheta.errors import InputError
from ytheta.native import compile_graph


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_wrong_input_is_named(backend: str) -> None:
    kernel = compile_graph(sparse_graph(), backend=backend)
    x, y, p = draw_inputs(kernel.graph, 5)

    def assert_refused(match: str, *arrays: Any, **options: Any) -> None:
        with pytest.raises(InputError, match=match):
            kernel(*arrays, **options)

    assert_refused(r"takes 3 arrays \(x, y, p\), not 2", x, y)
    assert_refused(
        r"input 'x' has shape \(3,\), but needs \(samples, 3\); for a single sample use kernel.one", x[0], y, p
    )
    assert_refused(r"input 'y' has shape \(5, 3\), but needs \(samples, 2\)", x, x, p)
    assert_refused(r"input 'p' has shape \(5, 2\), but needs \(2,\)", x, y, y)
    assert_refused("input 'y' has 4 samples, but 'x' has 5", x, y[:4], p)
    assert_refused("entries of type complex128", x * 1j, y, p)
    assert_refused("entries of type <U", [["a"] * 3] * 5, y, p)
    assert_refused("not an array of numbers", [[1.0], [1.0, 2.0]], y, p)
    assert_refused("threads is 0; give a whole number of at least 1", x, y, p, threads=0)
    not_finite = x.copy()
    not_finite[3, 1], not_finite[4, 0] = np.nan, np.inf
    assert_refused(r"input 'x' is nan at sample 3, element 1 \(2 such values in total\)", not_finite, y, p)
    assert_refused("input 'x' is nan at sample 3", not_finite, y, p, threads=2)  # in the second half only
    assert_refused(r"input 'p' is inf at element 1", x, y, np.array([0.0, np.inf]))
    assert_refused(r"input 'y' is -inf at sample 0", x, np.full((5, 2), -np.inf), p, threads=2)
    swapped = np.empty((5, 5, 3)).swapaxes(1, 2)
    for out in (np.empty((5, 3, 4)), np.empty((5, 3, 5), dtype=np.float32), np.empty((5, 3, 5), dtype=">f8"), swapped):
        assert_refused(r"out .*np.empty\(\(5, 3, 5\)\)", x, y, p, out=out)
    shared = np.zeros(5 * 15 + 20)
    assert_refused("shares memory", shared[:15].reshape(5, 3), y, p, out=shared[:75].reshape(5, 3, 5))
    frozen = np.empty((5, 3, 5))
    frozen.flags.writeable = False
    assert_refused("writable", x, y, p, out=frozen)
    with pytest.raises(InputError, match="size is 0; give a whole number of at least 1"):
        kernel.blocks(x, y, p, size=0)
    with pytest.raises(InputError, match="is nan at sample 3"):
        list(kernel.blocks(not_finite, y, p, size=2))
    with pytest.raises(InputError, match=r"input 'x' has shape \(5, 3\), but needs \(3,\); for many samples"):
        kernel.one(x, y[0], p)
    with pytest.raises(InputError, match="takes 3 arrays"):
        kernel.one(x[0], y[0])
    with pytest.raises(InputError, match="takes 3 arrays"):
        kernel.one(x[0], y[0], p, p)
    with pytest.raises(InputError, match="input 'x' is nan at element 1"):
        kernel.one(not_finite[3], y[0], p)
    with pytest.raises(InputError, match=r"input 'x' has shape \(3, 1\)"):
        kernel.one(x[0][:, np.newaxis], y[0], p)
    with pytest.raises(InputError, match=r"input 'x' has shape \(\)"):
        kernel.one(1.0, y[0], p)
    np.testing.assert_array_equal(kernel.one(x[0], y[0], p), kernel(x, y, p)[0])


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_numbers_of_any_type_are_accepted(backend: str) -> None:
    kernel = compile_graph(sparse_graph(), backend=backend)
    x, y, p = ([[1, 2, 3], [4, 5, 6]], [[1, 0], [0, 1]], [2, 3])
    expected = kernel(np.array(x, float), np.array(y, float), np.array(p, float))
    for kind in (np.float32, np.int8, np.uint64, ">f8", "<f8"):
        result = kernel(np.array(x, dtype=kind), np.array(y, dtype=kind), np.array(p, dtype=kind))
        np.testing.assert_array_equal(result, expected)
        one = kernel.one(np.array(x[0], dtype=kind), np.array(y[0], dtype=kind), np.array(p, dtype=kind))
        np.testing.assert_array_equal(one, expected[0])
    np.testing.assert_array_equal(kernel(x, y, p), expected)
    np.testing.assert_array_equal(kernel(np.array(x, float)[::-1], np.array(y, bool)[::-1], p), expected[::-1])
    wide = np.zeros((2, 6))
    wide[:, ::2] = x
    np.testing.assert_array_equal(kernel(wide[:, ::2], np.asfortranarray(np.array(y, float)), p), expected)
    np.testing.assert_array_equal(kernel.one(wide[0, ::2], tuple(y[0]), p), expected[0])
    raw = np.frombuffer(b"\0" + np.array(x, float).tobytes(), dtype=float, offset=1).reshape(2, 3)  # not aligned
    np.testing.assert_array_equal(kernel(raw, y, p), expected)


def test_masked_entries_are_refused() -> None:
    kernel = compile_graph(linear_graph(5))
    arrays = [np.ma.masked_array(np.ones((3, entry.size))) for entry in kernel.graph.inputs]
    np.testing.assert_array_equal(kernel(*arrays), kernel(*(array.data for array in arrays)))
    arrays[0][1, 0] = np.ma.masked
    with pytest.raises(InputError, match="are masked"):
        kernel(*arrays)
