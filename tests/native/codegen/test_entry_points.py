"""Entry points: plain arrays are used directly, any other argument is refused, and nothing is held after a call."""

from __future__ import annotations

import ctypes
import itertools
import sys
from collections.abc import Callable
from typing import Any

import casadi
import numpy as np
import pytest

from tests.support.kernel_graphs import draw_inputs, integer_inputs, linear_graph, linear_result, sparse_graph
from ytheta.errors import InputError
from ytheta.native import Kernel, compile_graph
from ytheta.native.compile import Machine
from ytheta.native.graph import Input, trace
from ytheta.native.kernel import KernelOutcome, allocate_aligned

SAMPLES = 7


class ArraySubclass(np.ndarray):
    """A class of arrays that is not numpy.ndarray itself."""


class BadBuffer:
    """An object that looks like an array to NumPy, but has no buffer."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array


class Calls:
    """Correct arguments of the three entry points of a kernel, and the expected results."""

    def __init__(self) -> None:
        self.kernel = compile_graph(sparse_graph())
        assert isinstance(self.kernel._runner, Machine)
        self.machine = self.kernel._runner
        self.inputs = draw_inputs(self.kernel.graph, SAMPLES)
        self.expected = self.kernel(*self.inputs)
        self.scratch = bytearray(self.machine._scratch_bytes)
        nonzeros = len(self.kernel.places)
        vectors = [x if entry.shared else x[2] for entry, x in zip(self.kernel.graph.inputs, self.inputs, strict=True)]
        self.arguments: dict[str, list[Any]] = {
            "one": [self.scratch, np.full((3, 5), 7.0), *vectors],
            "dense": [self.scratch, np.full((SAMPLES, 3, 5), 7.0), 2, 5, *self.inputs],
            "block": [
                self.scratch,
                allocate_aligned((nonzeros, self.machine.columns)),
                2,
                5,
                *self.inputs,
            ],
        }
        self.arguments["block"][1][...] = 7.0

    def call(self, name: str, arguments: list[Any]) -> int:
        function: Callable[..., int] = getattr(self.machine, f"_{name}")
        return function(*arguments)


NAMES = ("one", "dense", "block")


def test_the_samples_of_the_range_are_written() -> None:
    calls = Calls()
    for name in NAMES:
        assert calls.call(name, calls.arguments[name]) == KernelOutcome.DONE
    np.testing.assert_array_equal(calls.arguments["one"][1], calls.expected[2])
    dense, block = (calls.arguments[name][1] for name in ("dense", "block"))
    np.testing.assert_array_equal(dense[2:5], calls.expected[2:5])
    assert (dense[[0, 1, 5, 6]] == 7.0).all()
    np.testing.assert_array_equal(block[:, :3].T, calls.expected[2:5].reshape(3, -1)[:, calls.kernel.places])


def test_an_empty_range_is_only_checked() -> None:
    calls = Calls()
    for name, first in itertools.product(("dense", "block"), (0, 3, SAMPLES)):
        scratch, out, _, _, *inputs = calls.arguments[name]
        assert calls.call(name, [scratch, out, first, first, *inputs]) == KernelOutcome.DONE
        assert calls.call(name, [scratch, out, first, first, *inputs[:-1], inputs[0]]) == KernelOutcome.NOT_PLAIN
        assert (out == 7.0).all()


def list_wrong_arrays(array: np.ndarray) -> list[Any]:
    """Arguments that are not plain arrays of the shape of this array."""
    read_only_bytes = np.zeros(array.nbytes + 1, dtype=np.uint8)
    unaligned = read_only_bytes[1:].view(np.float64).reshape(array.shape)
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]))
    return [
        None,
        1.0,
        "x",
        b"x" * array.nbytes,
        object(),
        array.tolist(),
        array.data,
        BadBuffer(array),
        array.view(ArraySubclass),
        np.ma.masked_array(array),
        array.astype(np.float32),
        array.astype(">f8"),
        array.astype(np.longdouble),
        array.astype(complex),
        array.astype(object),
        array.astype(np.int64),
        np.zeros(array.shape, dtype="M8[s]"),  # has no buffer
        np.zeros(array.shape, dtype=[("x", float)]),
        array[..., :-1].copy(),
        array[:-1].copy(),
        np.vstack([array, array]),
        array[np.newaxis],
        array.ravel() if array.ndim > 1 else array[:, np.newaxis],
        np.zeros(()),
        np.zeros((*array.shape[:-1], 0)),
        wide[..., ::2],
        unaligned,
    ]


@pytest.mark.parametrize("name", NAMES)
def test_no_argument_can_cause_harm(name: str) -> None:
    """Every wrong argument is refused before anything is written; no error is left behind, and nothing is held."""
    calls = Calls()
    correct = calls.arguments[name]
    first_input = len(correct) - len(calls.inputs)
    wrong: list[list[Any]] = [correct[:-1], [*correct, correct[-1]], [], correct[:1]]

    def replace(position: int, *arguments: Any) -> None:
        wrong.extend([*correct[:position], argument, *correct[position + 1 :]] for argument in arguments)

    replace(0, None, 1, b"\0" * len(calls.scratch), calls.scratch[:-1], bytearray(), "x")
    read_only = correct[1].copy()
    read_only.flags.writeable = False
    replace(1, read_only, *list_wrong_arrays(correct[1]))
    for position in range(first_input, len(correct)):
        replace(position, *list_wrong_arrays(correct[position]))
    if name != "one":
        replace(2, -1, 6, 2.0, None, 2**70, -(2**70), "2")
        replace(3, -1, 1, SAMPLES + 1, 5.0, None, 2**70, -(2**70), "5", sys.maxsize)
    for arguments in wrong:
        counts = [sys.getrefcount(argument) for argument in arguments]
        assert calls.call(name, arguments) == KernelOutcome.NOT_PLAIN, arguments
        assert [sys.getrefcount(argument) for argument in arguments] == counts
    assert (correct[1] == 7.0).all()
    calls.scratch.append(0)  # raises BufferError if the buffer is still held


def test_feeding_refuses_wrong_arguments_before_it_calls_the_function() -> None:
    calls = Calls()
    received: list[tuple[int, int]] = []
    integer, pointer = ctypes.c_int64, ctypes.c_void_p

    def consume(_context: int, first: int, count: int, _values: int, _stride: int) -> None:
        received.append((first, count))

    callback = ctypes.CFUNCTYPE(None, pointer, integer, integer, pointer, integer)(consume)
    function = ctypes.cast(callback, pointer).value
    correct: list[Any] = [calls.scratch, SAMPLES, function, 1, *calls.inputs]
    wrong: list[list[Any]] = [correct[:-1], [*correct, correct[-1]], [], correct[:1]]

    def replace(position: int, *arguments: Any) -> None:
        wrong.extend([*correct[:position], argument, *correct[position + 1 :]] for argument in arguments)

    replace(0, None, 1, b"\0" * len(calls.scratch), calls.scratch[:-1], bytearray(), "x")
    replace(1, -1, SAMPLES - 1, SAMPLES + 1, 0, 7.0, None, 2**70, -(2**70), "7")
    for position in (2, 3):
        replace(position, 0, -1, 1.0, None, 2**70, "1")
    for position in range(4, len(correct)):
        replace(position, *list_wrong_arrays(correct[position]))
    for arguments in wrong:
        counts = [sys.getrefcount(argument) for argument in arguments]
        assert calls.call("feed", arguments) == KernelOutcome.NOT_PLAIN, arguments
        assert [sys.getrefcount(argument) for argument in arguments] == counts
    assert received == []
    assert calls.call("feed", correct) == KernelOutcome.DONE
    assert received == [(0, SAMPLES)]
    calls.inputs[0][3] = np.nan
    assert calls.call("feed", correct) == KernelOutcome.NOT_FINITE
    assert received == [(0, SAMPLES)]
    calls.scratch.append(0)  # raises BufferError if the buffer is still held


@pytest.mark.parametrize("shift", range(8))
def test_a_block_begins_in_the_first_aligned_column(shift: int) -> None:
    """Nothing is written before and after the array, even by a block of the maximal width."""
    kernel = compile_graph(linear_graph(3))
    runner = kernel._runner
    assert isinstance(runner, Machine)
    width, size = runner.block_samples, 3 * runner.columns
    memory = allocate_aligned((size + 16,))
    memory[...] = 7.0
    values = memory[shift : shift + size].reshape(3, runner.columns)
    x = integer_inputs(width + 5)
    column = runner.write_block((x,), 5, 5 + width, values)
    assert column == -shift % 8
    np.testing.assert_array_equal(values[:, column : column + width], linear_result(x[5:], 3).T)
    assert (memory[:shift] == 7.0).all()
    assert (memory[shift + size :] == 7.0).all()
    assert runner.write_block((x,), 4, 5 + width, values) == KernelOutcome.NOT_PLAIN


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_held_after_a_call(name: str) -> None:
    calls = Calls()
    for outcome in (KernelOutcome.DONE, KernelOutcome.NOT_FINITE):
        arguments = calls.arguments[name]
        objects = [np.ndarray, *arguments]
        counts = [sys.getrefcount(value) for value in objects]
        for _ in range(5):
            assert calls.call(name, arguments) == outcome
        assert [sys.getrefcount(value) for value in objects] == counts
        arguments[-3].reshape(-1, 3)[-1 if name == "one" else 3] = np.nan
    calls.scratch.append(0)


def test_arrays_that_are_not_plain_are_converted() -> None:
    kernel, x = compile_graph(linear_graph(4)), integer_inputs(9)
    annotated = np.dtype(np.float64, metadata={"unit": "rad"})
    assert annotated == np.float64
    arrays = (
        x.view(ArraySubclass),
        x.view(annotated),
        np.asfortranarray(x),
        x.astype(np.int32),
        x.astype(">f8"),
        x.astype(object).astype(np.longdouble),
        x[::-1][::-1],
        np.ma.masked_array(x),
        np.frombuffer(b"\0" + x.tobytes(), offset=1).reshape(x.shape),
    )
    for argument in (x.tolist(), x.data, *arrays):
        row = argument[3] if not isinstance(argument, memoryview) else x[3].data
        np.testing.assert_array_equal(kernel(argument), linear_result(x, 4))
        np.testing.assert_array_equal(kernel.one(row), linear_result(x, 4)[3])
        (block,) = kernel.blocks(argument)
        np.testing.assert_array_equal(block.values, linear_result(x, 4).T)
    for out in (np.empty((9, 4)).view(ArraySubclass), np.empty((9, 4)).view(annotated)):
        assert kernel(x, out=out) is out
        np.testing.assert_array_equal(out, linear_result(x, 4))


@pytest.mark.parametrize(
    "argument",
    [
        object(),
        1.0,
        None,
        (),
        "x",
        np.float64(1.0),
        np.zeros(()),
        np.zeros((2, 2, 2)),
        np.zeros((9, 2), dtype="M8[s]"),
        np.zeros((9, 2), dtype=object),
    ],
)
@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_other_objects_are_refused(argument: object, backend: str) -> None:
    kernel, x = compile_graph(linear_graph(4), backend=backend), integer_inputs(9)
    for call in (kernel, kernel.one, kernel.blocks):
        with pytest.raises(InputError):
            call(argument)
    with pytest.raises(InputError, match="takes 1 arrays"):
        kernel()
    if isinstance(argument, np.ndarray) and argument.dtype == np.float64:
        with pytest.raises(InputError, match="out has shape"):
            kernel(x, out=argument)
    elif isinstance(argument, np.ndarray):
        with pytest.raises(InputError, match="out has numbers of type"):
            kernel(x, out=argument)


def test_read_only_inputs_are_accepted() -> None:
    kernel, x = compile_graph(linear_graph(4)), integer_inputs(9)
    frozen = x.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(kernel(frozen), linear_result(x, 4))
    np.testing.assert_array_equal(kernel.one(frozen[3]), linear_result(x, 4)[3])
    (block,) = kernel.blocks(frozen)
    np.testing.assert_array_equal(block.values, linear_result(x, 4).T)


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_a_result_may_be_adjacent_to_an_input_but_not_overlap_it(backend: str) -> None:
    kernel, memory = compile_graph(linear_graph(3), backend=backend), np.zeros(100)
    for first in (0, 45, 81):
        x = memory[first : first + 18].reshape(9, 2)
        x[...] = integer_inputs(9)
        for begin in range(0, 100 - 27 + 1, 1 if backend == "llvm" else 9):
            out = memory[begin : begin + 27].reshape(9, 3)
            if begin + 27 <= first or first + 18 <= begin:
                np.testing.assert_array_equal(kernel(x, out=out), linear_result(integer_inputs(9), 3))
            else:
                with pytest.raises(InputError, match="shares memory"):
                    kernel(x, out=out)


@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_empty_arrays_may_have_any_address(backend: str) -> None:
    """NumPy considers an array without elements as aligned and as sharing no memory."""
    kernel = compile_graph(linear_graph(4), backend=backend)
    memory = np.zeros(64, dtype=np.uint8)
    x, out = (np.ndarray((0, size), np.float64, memory, 1) for size in (2, 4))
    assert x.ctypes.data % 8 == 1
    assert kernel(x, out=out) is out
    assert kernel(x).shape == (0, 4)
    assert kernel(x, threads=3).shape == (0, 4)
    assert list(kernel.blocks(x)) == []
    with pytest.raises(InputError, match="has shape"):
        kernel(x.reshape(0, 2, 1))
    with pytest.raises(InputError, match="out has shape"):
        kernel(x, out=out.reshape(0, 2))
    # Also if there are samples: an input without elements, and results without entries inside the memory of an input.
    p = casadi.SX.sym("p", 2)
    inputs = [(Input("none", 0), casadi.SX.sym("none", 0)), (Input("p", 2), p)]
    numbers, empty = np.ones((3, 2)), np.ndarray((3, 0), np.float64, memory, 1)
    two = compile_graph(trace("two", inputs, np.array([p[0], p[1]], dtype=object)), backend=backend)
    none = compile_graph(trace("none", inputs, np.zeros((2, 0), dtype=object)), backend=backend)
    assert two(empty, numbers).tolist() == numbers.tolist()
    assert two.one(empty[0], numbers[0]).tolist() == [1.0, 1.0]
    assert [block.values.shape for block in two.blocks(empty, numbers)] == [(2, 3)]
    out = np.ndarray((3, 2, 0), np.float64, numbers, 16)
    assert none(empty, numbers, out=out) is out
    values = np.ndarray((0, none._runner.columns), np.float64, memory, 1)
    assert none._runner.write_block((empty, numbers), 0, 3, values) >= 0


def test_out_is_checked_if_there_are_no_inputs() -> None:
    kernel = compile_graph(trace("numbers", [], np.array([1.0, 2.0], dtype=object)))
    out = np.empty((1, 2))
    assert kernel(out=out) is out
    assert kernel().tolist() == out.tolist() == [[1.0, 2.0]]
    for wrong in (np.empty((1, 1)), np.empty((2, 2)), np.empty(2), np.empty((1, 2), dtype=np.float32)):
        with pytest.raises(InputError, match="out "):
            kernel(out=wrong)


def test_an_entry_point_keeps_its_code() -> None:
    function, x = _borrow_function(), np.array([2.0, 3.0])
    out = np.empty(4)
    assert function(bytearray(10**6), out, x) == KernelOutcome.DONE
    np.testing.assert_array_equal(out, [2.0, 5.0, 8.0, 11.0])


def _borrow_function() -> Callable[..., int]:
    kernel: Kernel = compile_graph(linear_graph(4), cache=False)
    assert isinstance(kernel._runner, Machine)
    return kernel._runner._one
