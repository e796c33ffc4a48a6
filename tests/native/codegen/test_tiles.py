"""Tiles: every input is read, every result is written, nothing out of bounds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.kernel_graphs import draw_inputs, integer_inputs, linear_graph, linear_result, sparse_graph
from ytheta.errors import InputError
from ytheta.native import Kernel, compile_graph
from ytheta.native.codegen.llvm import emit_object
from ytheta.native.compile import Machine


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 100])
def test_dense_arrays_of_any_length(rows: int, lanes: int) -> None:
    """Squares of lanes x lanes are written in pairs if two fit, and those at the end overlap."""
    for every in (1, 3, 11):
        graph = linear_graph(rows, every=every)
        machine = Machine(emit_object(graph, lanes=lanes))
        kernel = Kernel(graph, machine, cpu="", lanes=lanes, origin="compiled", seconds=0.0)
        for samples in (1, 5, 33, 40):
            x = integer_inputs(samples)
            guarded = np.full((samples + 2, rows), 7.0)
            kernel(x, out=guarded[1:-1])
            np.testing.assert_array_equal(guarded[1:-1], linear_result(x, rows, every))
            assert (guarded[[0, -1]] == 7.0).all()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 8, 9, 13])
def test_every_number_of_an_input_is_checked(size: int) -> None:
    kernel = compile_graph(linear_graph(2, size=size))
    for samples in (1, 3, 4, 6, 33):
        x = integer_inputs(samples, size)
        np.testing.assert_array_equal(kernel(x), linear_result(x, 2))
        for sample in {0, samples // 2, samples - 1}:
            for element in range(size):
                not_finite = x.copy()
                not_finite[sample, element] = (np.nan, np.inf, -np.inf)[element % 3]
                with pytest.raises(InputError, match=f"at sample {sample}, element {element}"):
                    kernel(not_finite)


def test_structural_zeros_are_neither_computed_nor_stored() -> None:
    kernel = compile_graph(sparse_graph())
    assert list(kernel.places) == [1, 4, 5, 7, 8, 10, 12, 14]
    rows, columns = kernel.indices
    assert list(zip(rows, columns, strict=True))[:3] == [(0, 1), (0, 4), (1, 0)]
    block = next(kernel.blocks(*draw_inputs(kernel.graph, 20)))
    assert block.values.shape == (8, 20)
    out = np.full((20, 3, 5), np.nan)
    kernel(*draw_inputs(kernel.graph, 20), out=out)
    flat = out.reshape(20, 15)
    assert (np.delete(flat, kernel.places, axis=1) == 0.0).all()
    assert np.isfinite(flat).all()


def test_nothing_is_read_or_written_out_of_bounds() -> None:
    kernel = compile_graph(sparse_graph())
    _, _, p = draw_inputs(kernel.graph, 1)
    for samples in range(1, 40):
        guarded = [np.full((samples + 20, size), np.nan) for size in (3, 2)]
        for x in guarded:
            x[10:-10] = 1.0
        out = np.full((samples + 20, 3, 5), 7.0)
        kernel(guarded[0][10:-10], guarded[1][10:-10], p, out=out[10:-10])
        assert (out[:10] == 7.0).all()
        assert (out[-10:] == 7.0).all()
        assert (out[10:-10, 1, 2] == 2.5).all()
