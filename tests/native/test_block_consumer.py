"""Consumers get the blocks of all samples, in order, from both backends."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.support.kernel_graphs import integer_inputs, linear_graph, linear_result
from ytheta.errors import InputError
from ytheta.native import compile_graph
from ytheta.native.kernel import BlockConsumer

ROWS = 130
CONTEXT = 4711


class Recorder:
    """A consumer that copies the blocks."""

    def __init__(self, samples: int, *, rows: int = ROWS) -> None:
        self.firsts: list[int] = []
        self.contexts: set[int] = set()
        self.blocks = [np.empty((0, ROWS))]
        integer, pointer = ctypes.c_int64, ctypes.c_void_p
        function = ctypes.CFUNCTYPE(None, pointer, integer, integer, pointer, integer)(self._record)
        address = ctypes.cast(function, pointer).value
        assert address is not None
        self.consumer = BlockConsumer(address, CONTEXT, rows, samples, function)

    def _record(self, context: int, first: int, count: int, values: int, stride: int) -> None:
        size = (ROWS - 1) * stride + count
        flat = np.ctypeslib.as_array(ctypes.cast(values, ctypes.POINTER(ctypes.c_double)), (size,))
        rows = [flat[k * stride : k * stride + count].copy() for k in range(ROWS)]
        flat[:count] = np.nan  # a consumer may overwrite values
        self.contexts.add(context)
        self.firsts.append(first)
        self.blocks.append(np.array(rows).T)


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
@pytest.mark.parametrize("samples", [0, 1, 7, 383, 384, 385, 1024, 2500])  # a block of machine code has 384 samples
def test_all_blocks_in_order(backend: str, samples: int) -> None:
    kernel, x = compile_graph(linear_graph(ROWS), backend=backend), integer_inputs(samples)
    recorder = Recorder(samples)
    kernel.feed(recorder.consumer, x)
    np.testing.assert_array_equal(np.concatenate(recorder.blocks), linear_result(x, ROWS))
    lengths = [len(block) for block in recorder.blocks[1:]]
    assert recorder.firsts == [0, *np.cumsum(lengths).tolist()][: len(lengths)]
    assert recorder.contexts == ({CONTEXT} if samples else set())
    assert (len(lengths) > 1) == (samples > kernel._runner.block_samples)
    if samples > 1:  # the comparison notices samples in the wrong order
        assert (np.concatenate(recorder.blocks) != linear_result(x[::-1], ROWS)).any()


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_inputs_that_are_not_plain_are_converted(backend: str) -> None:
    kernel, x = compile_graph(linear_graph(ROWS), backend=backend), integer_inputs(50)
    for argument in (x.tolist(), np.asfortranarray(x), x.astype(np.int32), x[::-1][::-1]):
        recorder = Recorder(50)
        kernel.feed(recorder.consumer, argument)
        np.testing.assert_array_equal(np.concatenate(recorder.blocks), linear_result(x, ROWS))


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_wrong_arguments_are_refused_before_the_consumer_is_called(backend: str) -> None:
    kernel, x = compile_graph(linear_graph(ROWS), backend=backend), integer_inputs(50)
    recorder = Recorder(49)
    with pytest.raises(InputError, match="the inputs have 50 samples, but their consumer expects 49"):
        kernel.feed(recorder.consumer, x)
    with pytest.raises(InputError, match="takes 1 arrays"):
        kernel.feed(recorder.consumer, x, x)
    with pytest.raises(InputError, match="needs 131"):
        kernel.feed(Recorder(50, rows=131).consumer, x)
    x[3, 1] = np.nan
    with pytest.raises(InputError, match="sample 3, element 1"):
        kernel.feed(Recorder(50).consumer, x)
    assert recorder.firsts == []
