"""Array access: plain arrays are used directly, all other arguments are converted or refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.support.kernel_graphs import integer_inputs, linear_graph, linear_result
from ytheta.errors import InputError
from ytheta.native import compile_graph
from ytheta.native.codegen import array_access
from ytheta.native.graph import trace


class ArraySubclass(np.ndarray):
    """A class of arrays that is not numpy.ndarray itself."""


def test_arrays_that_are_not_plain_are_converted() -> None:
    kernel, x = compile_graph(linear_graph(4)), integer_inputs(9)
    annotated = np.dtype(np.float64, metadata={"unit": "rad"})
    assert annotated == np.float64
    arrays = (x.view(ArraySubclass), x.view(annotated), np.asfortranarray(x), x.astype(np.int32), x[::-1][::-1])
    for argument in (x.tolist(), *arrays):
        np.testing.assert_array_equal(kernel(argument), linear_result(x, 4))
        np.testing.assert_array_equal(kernel.one(argument[3]), linear_result(x, 4)[3])
        (block,) = kernel.blocks(argument)
        np.testing.assert_array_equal(block.values, linear_result(x, 4).T)
    for out in (np.empty((9, 4)).view(ArraySubclass), np.empty((9, 4)).view(annotated)):
        assert kernel(x, out=out) is out
        np.testing.assert_array_equal(out, linear_result(x, 4))


@pytest.mark.parametrize("argument", [object(), 1.0, None, (), "x", np.float64(1.0), np.zeros(()), np.zeros((2, 2, 2))])
def test_other_objects_are_refused(argument: object) -> None:
    kernel, x = compile_graph(linear_graph(4)), integer_inputs(9)
    for call in (kernel, kernel.one, kernel.blocks):
        with pytest.raises(InputError):
            call(argument)
    with pytest.raises(InputError, match="takes 1 arrays"):
        kernel()
    if isinstance(argument, np.ndarray):
        with pytest.raises(InputError, match="out has shape"):
            kernel(x, out=argument)


def test_read_only_inputs_are_accepted() -> None:
    kernel, x = compile_graph(linear_graph(4)), integer_inputs(9)
    frozen = x.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(kernel(frozen), linear_result(x, 4))
    np.testing.assert_array_equal(kernel.one(frozen[3]), linear_result(x, 4)[3])
    (block,) = kernel.blocks(frozen)
    np.testing.assert_array_equal(block.values, linear_result(x, 4).T)


def test_a_result_may_be_adjacent_to_an_input_but_not_overlap_it() -> None:
    kernel, memory = compile_graph(linear_graph(3)), np.zeros(100)
    for first in (0, 45, 81):
        x = memory[first : first + 18].reshape(9, 2)
        x[...] = integer_inputs(9)
        for begin in range(100 - 27 + 1):
            out = memory[begin : begin + 27].reshape(9, 3)
            if begin + 27 <= first or first + 18 <= begin:
                np.testing.assert_array_equal(kernel(x, out=out), linear_result(integer_inputs(9), 3))
            else:
                with pytest.raises(InputError, match="shares memory"):
                    kernel(x, out=out)


def test_out_is_checked_if_there_are_no_inputs() -> None:
    kernel = compile_graph(trace("numbers", [], np.array([1.0, 2.0], dtype=object)))
    out = np.empty((1, 2))
    assert kernel(out=out) is out
    assert kernel().tolist() == out.tolist() == [[1.0, 2.0]]
    for wrong in (np.empty((1, 1)), np.empty((2, 2)), np.empty(2), np.empty((1, 2), dtype=np.float32)):
        with pytest.raises(InputError, match="out "):
            kernel(out=wrong)


def test_an_unknown_array_layout_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert array_access.find_type_addresses() == (id(np.ndarray), id(np.dtype(np.float64)))
    fields = ("_TYPE", "_DATA", "_NDIM", "_SHAPE", "_STRIDES", "_DTYPE", "_FLAGS", "_TUPLE_LENGTH", "_TUPLE_ITEMS")
    for field, shift in itertools.product(fields, (-8, -4, 4, 8)):
        with monkeypatch.context() as patch:
            patch.setattr(array_access, field, getattr(array_access, field) + shift)
            with pytest.raises(InputError, match="does not know the array layout"):
                array_access.find_type_addresses.__wrapped__()
