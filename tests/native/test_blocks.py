"""Memory of native kernels: blocks that fit into the cache, buffers lent again, inputs and results of any size."""

from __future__ import annotations

import gc
import itertools
import threading
from collections import deque
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

import ytheta
from ytheta.errors import InputError
from ytheta.native import Kernel, compile_graph
from ytheta.native.codegen import array_access
from ytheta.native.codegen.llvm import object_code
from ytheta.native.graph import Graph, Input, trace
from ytheta.native.machine import Lender, Machine, fresh


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YTHETA_CACHE", str(tmp_path / "kernels"))


def sums(rows: int, *, every: int = 1, size: int = 2) -> Graph:
    """A vector whose entry k is x_0 + k x_1 if k is a multiple of ``every``, else zero by structure."""
    x = casadi.SX.sym("x", size)
    out = np.zeros(rows, dtype=object)
    for k in range(0, rows, every):
        out[k] = x[0] + k * x[size - 1]
    return trace("sums", [(Input("x", size), x)], out)


def expected(x: np.ndarray, rows: int, every: int = 1) -> np.ndarray:
    found = x[:, :1] + np.arange(rows) * x[:, -1:]
    found[:, np.arange(rows) % every != 0] = 0.0
    return found


def inputs(samples: int, size: int = 2) -> np.ndarray:
    """Integers: sums and products of them are exact in any order, fused or not."""
    return np.random.default_rng(samples).integers(-99, 99, (samples, size)).astype(float)


@pytest.mark.parametrize("rows", [1, 100, 400, 3000])
def test_blocks_fit_into_the_cache_whatever_size_is_asked_for(rows: int) -> None:
    kernel, x = compile_graph(sums(rows)), inputs(2500)
    for size in (7, 1024, 10**6):
        widths: list[int] = []
        for block in kernel.blocks(x, size=size):
            assert block.first == sum(widths)
            widths.append(block.values.shape[1])
            assert block.values.nbytes <= max(8 * rows * 40, 450_000)
            there = slice(block.first, block.first + widths[-1])
            np.testing.assert_array_equal(block.values, expected(x[there], rows).T)
        assert sum(widths) == 2500
        assert max(widths) <= size


def test_a_block_that_is_still_seen_is_not_written_again_by_another_call() -> None:
    kernel, x = compile_graph(sums(5)), inputs(50)
    held = next(kernel.blocks(x)).values[2:4]  # its iterator is gone, and this is a view of a view
    kept = held.copy()
    for _ in range(4):
        for block in kernel.blocks(-x):
            np.testing.assert_array_equal(block.values, expected(-x, 5).T)
    np.testing.assert_array_equal(held, kept)
    for one, other in zip(kernel.blocks(x, size=9), kernel.blocks(-x, size=9), strict=True):
        np.testing.assert_array_equal(one.values, -other.values)


def test_a_block_outlives_its_kernel() -> None:
    x = inputs(600)
    values = next(compile_graph(sums(80)).blocks(x)).values
    gc.collect()
    others = [np.full(values.shape, np.nan) for _ in range(20)]
    np.testing.assert_array_equal(values, expected(x[: values.shape[1]], 80).T)
    assert len(others) == 20


def test_buffers_are_lent_again_once_nobody_sees_them() -> None:
    lender = Lender(3, 40)
    first, place = lender.lend()
    part = first[1:, ::2].T
    second, another = lender.lend()
    assert place != another
    assert (first.shape, first.flags.c_contiguous, place % 64) == ((3, 40), True, 0)
    del first
    gc.collect()
    _, third = lender.lend()
    assert third not in (place, another)  # the view still shows the first one
    del part
    assert lender.lend()[1] == place
    assert lender.lend()[1] == place
    assert not np.shares_memory(second, lender.lend()[0])
    assert Lender(0, 40).lend()[0].shape == (0, 40)


def test_blocks_in_several_threads_at_once() -> None:
    kernel = compile_graph(sums(60))
    wrong: list[int] = []

    def work(sign: int) -> None:
        x = sign * inputs(900)
        for _ in range(30):
            for block in kernel.blocks(x, size=250):
                there = slice(block.first, block.first + block.values.shape[1])
                wrong.extend([sign] * int((block.values != expected(x[there], 60).T).any()))

    threads = [threading.Thread(target=work, args=(sign,)) for sign in (-2, -1, 1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 100])
def test_dense_arrays_of_any_length(rows: int, lanes: int) -> None:
    """Two squares of lanes x lanes at a time, one where there is no room for two; those at the end overlap."""
    for every in (1, 3, 11):
        graph = sums(rows, every=every)
        machine = Machine(object_code(graph, lanes=lanes))
        kernel = Kernel(graph, machine, cpu="", lanes=lanes, origin="compiled", seconds=0.0)
        for samples in (1, 5, 33, 40):
            x = inputs(samples)
            guarded = np.full((samples + 2, rows), 7.0)
            kernel(x, out=guarded[1:-1])
            np.testing.assert_array_equal(guarded[1:-1], expected(x, rows, every))
            assert (guarded[[0, -1]] == 7.0).all()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 8, 9, 13])
def test_every_number_of_an_input_is_seen(size: int) -> None:
    kernel = compile_graph(sums(2, size=size))
    for samples in (1, 3, 4, 6, 33):
        x = inputs(samples, size)
        np.testing.assert_array_equal(kernel(x), expected(x, 2))
        for sample in {0, samples // 2, samples - 1}:
            for element in range(size):
                bad = x.copy()
                bad[sample, element] = (np.nan, np.inf, -np.inf)[element % 3]
                with pytest.raises(InputError, match=f"at sample {sample}, element {element}"):
                    kernel(bad)


def test_inputs_that_cannot_be_written_are_taken() -> None:
    kernel, x = compile_graph(sums(4)), inputs(9)
    frozen = x.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(kernel(frozen), expected(x, 4))
    np.testing.assert_array_equal(kernel.one(frozen[3]), expected(x, 4)[3])
    (block,) = kernel.blocks(frozen)
    np.testing.assert_array_equal(block.values, expected(x, 4).T)


def test_large_results_begin_at_a_cache_line() -> None:
    assert fresh((2, 3)).shape == (2, 3)
    for rows in (33, 1000, 4099):
        array = fresh((rows, 1001))
        assert (array.shape, array.flags.c_contiguous, array.flags.writeable) == ((rows, 1001), True, True)
        assert array.ctypes.data % 64 == 0
    x = inputs(3000)
    np.testing.assert_array_equal(compile_graph(sums(50))(x), expected(x, 50))


class Own(np.ndarray):
    """A class of arrays that is not NumPy's own."""


def test_arrays_that_are_not_plain_are_made_so() -> None:
    kernel, x = compile_graph(sums(4)), inputs(9)
    marked = np.dtype(np.float64, metadata={"unit": "rad"})
    assert marked == np.float64
    for given in (x.view(Own), x.view(marked), x.tolist(), np.asfortranarray(x), x.astype(np.int32), x[::-1][::-1]):
        np.testing.assert_array_equal(kernel(given), expected(x, 4))
        np.testing.assert_array_equal(kernel.one(given[3]), expected(x, 4)[3])
        (block,) = kernel.blocks(given)
        np.testing.assert_array_equal(block.values, expected(x, 4).T)
    for out in (np.empty((9, 4)).view(Own), np.empty((9, 4)).view(marked)):
        assert kernel(x, out=out) is out
        np.testing.assert_array_equal(out, expected(x, 4))


@pytest.mark.parametrize("given", [object(), 1.0, None, (), "x", np.float64(1.0), np.zeros(()), np.zeros((2, 2, 2))])
def test_what_is_no_such_array_is_refused_whatever_it_is(given: object) -> None:
    kernel, x = compile_graph(sums(4)), inputs(9)
    for call in (kernel, kernel.one, kernel.blocks):
        with pytest.raises(InputError):
            call(given)
    with pytest.raises(InputError, match="takes 1 arrays"):
        kernel()
    if isinstance(given, np.ndarray):
        with pytest.raises(InputError, match="out has shape"):
            kernel(x, out=given)


def test_a_result_may_lie_beside_an_input_but_not_on_it() -> None:
    kernel, memory = compile_graph(sums(3)), np.zeros(100)
    for first in (0, 45, 81):
        x = memory[first : first + 18].reshape(9, 2)
        x[...] = inputs(9)
        for begin in range(100 - 27 + 1):
            out = memory[begin : begin + 27].reshape(9, 3)
            if begin + 27 <= first or first + 18 <= begin:
                np.testing.assert_array_equal(kernel(x, out=out), expected(inputs(9), 3))
            else:
                with pytest.raises(InputError, match="shares memory"):
                    kernel(x, out=out)


def test_a_result_without_inputs_is_checked_too() -> None:
    kernel = compile_graph(trace("numbers", [], np.array([1.0, 2.0], dtype=object)))
    out = np.empty((1, 2))
    assert kernel(out=out) is out
    assert kernel().tolist() == out.tolist() == [[1.0, 2.0]]
    for wrong in (np.empty((1, 1)), np.empty((2, 2)), np.empty(2), np.empty((1, 2), dtype=np.float32)):
        with pytest.raises(InputError, match="out "):
            kernel(out=wrong)


def test_arrays_with_other_fields_than_known_are_not_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    assert array_access.find_fields() == (id(np.ndarray), id(np.dtype(np.float64)))
    fields = ("_KIND", "DATA", "_AXES", "_LENGTHS", "_STRIDES", "_NUMBERS", "_FLAGS", "_COUNT", "_ITEMS")
    for field, away in itertools.product(fields, (-8, -4, 4, 8)):
        with monkeypatch.context() as patch:
            patch.setattr(array_access, field, getattr(array_access, field) + away)
            with pytest.raises(InputError, match="does not know the arrays"):
                array_access.find_fields.__wrapped__()


def test_more_blocks_than_are_kept_may_be_held() -> None:
    kernel, x = compile_graph(sums(5)), inputs(50)
    held = [next(kernel.blocks(k * x)).values for k in range(9)]
    for k, values in enumerate(held):
        np.testing.assert_array_equal(values, expected(k * x, 5).T)


def test_a_buffer_is_lent_once_whoever_comes_in_between() -> None:
    """As another thread does that runs just when a new buffer is put where all find it."""
    lender = Lender(2, 3)
    others: list[Any] = []

    class Crowded(deque):  # type: ignore[type-arg]
        def append(self, item: object) -> None:
            super().append(item)
            if not others:
                others.append(None)
                others[0] = lender.lend()

    lender._kept = Crowded(maxlen=4)
    _, place = lender.lend()
    assert others[0][1] != place


def test_scratch_is_kept_whoever_comes_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a signal handler does that calls the kernel whose first call it interrupts."""
    runner = compile_graph(sums(5), cache=False)._runner
    assert isinstance(runner, Machine)
    again: list[int] = []

    def address(buffer: np.ndarray) -> int:
        if not again:
            again.append(0)
            again[0] = runner._scratch()
        return int(buffer.ctypes.data)

    monkeypatch.setattr("ytheta.native.machine.address", address)
    place = runner._scratch()
    kept = [buffer.ctypes.data for buffer in runner._local.buffers]
    assert {place, again[0], runner._scratch()} <= set(kept)


def test_results_without_entries() -> None:
    robot = ytheta.load("ur10")
    q = np.ones(6)
    assert ytheta.regressor(robot, parameters=[]).one(q, q, q).shape == (6, 0)
    assert ytheta.regressor(robot, parameters=[])(q[None], q[None], q[None]).shape == (1, 6, 0)


def test_a_result_without_inputs_has_a_reference() -> None:
    graph = trace("numbers", [], np.array([1.0, 2.0]))
    assert compile_graph(graph, backend="interpreter").one().tolist() == compile_graph(graph).one().tolist() == [1, 2]


def test_masked_entries_are_refused() -> None:
    kernel = compile_graph(sums(5))
    given = [np.ma.masked_array(np.ones((3, entry.size))) for entry in kernel.graph.inputs]
    np.testing.assert_array_equal(kernel(*given), kernel(*(g.data for g in given)))
    given[0][1, 0] = np.ma.masked
    with pytest.raises(InputError, match="are masked"):
        kernel(*given)


def test_blocks_are_compared_by_identity() -> None:
    kernel = compile_graph(sums(5))
    one, other = (next(iter(kernel.blocks(*(np.ones((3, e.size)) for e in kernel.graph.inputs)))) for _ in range(2))
    assert one in [other, one]
    assert one != other
    assert len({one, other}) == 2
