"""Blocks of a kernel: they fit into the cache, and their memory is safe."""

from __future__ import annotations

import array
import gc
import threading
import warnings

import numpy as np
import pytest

from tests.support.kernel_graphs import integer_inputs, linear_graph, linear_result
from ytheta.errors import InputError
from ytheta.native import compile_graph


@pytest.mark.parametrize("rows", [1, 100, 400, 3000])
def test_blocks_fit_into_the_cache_for_any_size(rows: int) -> None:
    kernel, x = compile_graph(linear_graph(rows)), integer_inputs(2500)
    for size in (7, 1024, 10**6):
        widths: list[int] = []
        for block in kernel.blocks(x, size=size):
            assert block.first == sum(widths)
            widths.append(block.values.shape[1])
            assert block.values.nbytes <= max(8 * rows * 40, 450_000)
            samples = slice(block.first, block.first + widths[-1])
            np.testing.assert_array_equal(block.values, linear_result(x[samples], rows).T)
        assert sum(widths) == 2500
        assert max(widths) <= size


def test_a_block_that_is_still_in_use_is_not_overwritten_by_another_call() -> None:
    kernel, x = compile_graph(linear_graph(5)), integer_inputs(50)
    view = next(kernel.blocks(x)).values[2:4]  # its iterator is gone, and this is a view of a view
    expected = view.copy()
    for _ in range(4):
        for block in kernel.blocks(-x):
            np.testing.assert_array_equal(block.values, linear_result(-x, 5).T)
    np.testing.assert_array_equal(view, expected)
    for block, negated in zip(kernel.blocks(x, size=9), kernel.blocks(-x, size=9), strict=True):
        np.testing.assert_array_equal(block.values, -negated.values)


def test_a_block_outlives_its_kernel() -> None:
    x = integer_inputs(600)
    values = next(compile_graph(linear_graph(80)).blocks(x)).values
    gc.collect()
    others = [np.full(values.shape, np.nan) for _ in range(20)]
    np.testing.assert_array_equal(values, linear_result(x[: values.shape[1]], 80).T)
    assert len(others) == 20


def test_blocks_in_several_threads_at_once() -> None:
    kernel = compile_graph(linear_graph(60))
    wrong: list[int] = []

    def work(sign: int) -> None:
        x = sign * integer_inputs(900)
        for _ in range(30):
            for block in kernel.blocks(x, size=250):
                samples = slice(block.first, block.first + block.values.shape[1])
                wrong.extend([sign] * int((block.values != linear_result(x[samples], 60).T).any()))

    threads = [threading.Thread(target=work, args=(sign,)) for sign in (-2, -1, 1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_blocks_of_many_iterators_may_be_in_use() -> None:
    kernel, x = compile_graph(linear_graph(5)), integer_inputs(50)
    arrays = [next(kernel.blocks(k * x)).values for k in range(9)]
    for k, values in enumerate(arrays):
        np.testing.assert_array_equal(values, linear_result(k * x, 5).T)


def test_an_abandoned_iterator_releases_its_inputs() -> None:
    """An array of the standard library cannot be resized while its buffer is in use."""
    kernel, numbers = compile_graph(linear_graph(5, size=1)), array.array("d", range(50))
    view = memoryview(numbers).cast("B").cast("d", (50, 1))
    for abandon in ("before the first block", "after the first block", "after an error"):
        blocks = kernel.blocks(view, size=9)
        if abandon != "before the first block":
            next(blocks)
        if abandon == "after an error":
            numbers[20] = float("nan")
            with pytest.raises(InputError, match="is nan at sample 20"):
                list(blocks)
        view.release()
        if abandon != "after an error":
            with pytest.raises(BufferError):
                numbers.append(1.0)
        del blocks
        gc.collect()
        numbers.append(1.0)
        numbers.pop()
        view = memoryview(numbers).cast("B").cast("d", (50, 1))


def test_an_input_that_changes_between_two_blocks_is_refused() -> None:
    kernel, x = compile_graph(linear_graph(5)), integer_inputs(50)
    for attribute, value in (("shape", (100,)), ("dtype", np.dtype(np.int64))):
        before = getattr(x, attribute)
        blocks = kernel.blocks(x, size=9)
        next(blocks)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            setattr(x, attribute, value)
            with pytest.raises(InputError, match="was changed while the kernel used it"):
                next(blocks)
            setattr(x, attribute, before)


def test_blocks_are_compared_by_identity() -> None:
    kernel = compile_graph(linear_graph(5))
    first, second = (next(iter(kernel.blocks(*(np.ones((3, e.size)) for e in kernel.graph.inputs)))) for _ in range(2))
    assert first in [second, first]
    assert first != second
    assert len({first, second}) == 2
