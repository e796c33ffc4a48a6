"""Kernels: bit-identical results for batches, blocks, threads and single samples."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import casadi
import numpy as np
import pytest

import ytheta
from tests.support.kernel_graphs import draw_inputs, planar_chain, sparse_graph
from ytheta.native import compile_graph
from ytheta.native.graph import Graph, Input, trace

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 1023, 1024, 1025)


@pytest.mark.parametrize("make", [sparse_graph, lambda: planar_chain(5), lambda: planar_chain(1)])
def test_all_calls_give_bit_identical_results(make: Callable[[], Graph]) -> None:
    kernel = compile_graph(make())
    inputs = draw_inputs(kernel.graph, max(SIZES))
    whole = kernel(*inputs, threads=1)
    for samples in SIZES:
        part = [x if entry.shared else x[:samples] for entry, x in zip(kernel.graph.inputs, inputs, strict=True)]
        for threads in (1, 2, 4):
            np.testing.assert_array_equal(kernel(*part, threads=threads), whole[:samples])
        flat = whole.reshape(len(whole), -1)
        for size in (1, 5, 16, 100, 1024, 5000):
            count = 0
            if size == 1 and samples > 40:
                continue
            for block in kernel.blocks(*part, size=size):
                assert block.first == count
                count += block.values.shape[1]
                np.testing.assert_array_equal(block.values.T, flat[block.first : count, kernel.places])
            assert count == samples
    for k in (0, 1, 17, 1024):
        row = [x if entry.shared else x[k] for entry, x in zip(kernel.graph.inputs, inputs, strict=True)]
        np.testing.assert_array_equal(kernel.one(*row), whole[k])


def test_out_is_used_and_blocks_share_memory() -> None:
    kernel = compile_graph(planar_chain(2))
    inputs = draw_inputs(kernel.graph, 50)
    out = np.empty((50, 2))
    assert kernel(*inputs, out=out) is out
    first, second = list(kernel.blocks(*inputs, size=25))
    assert np.shares_memory(first.values, second.values)


def test_graphs_without_inputs_outputs_or_samples() -> None:
    nothing = trace("nothing", [(Input("x", 2), casadi.SX.sym("x", 2))], np.zeros((2, 3), dtype=object))
    p = casadi.SX.sym("p", 2)
    shared = trace("shared", [(Input("p", 2, shared=True), p)], np.array([p[0] * p[1], 1.0], dtype=object))
    scalar = trace("scalar", [(Input("p", 2), p)], np.array(p[0] * p[1], dtype=object))
    empty = trace("empty", [(Input("none", 0), casadi.SX.sym("none", 0)), (Input("p", 2), p)], np.array([p[0], p[1]]))
    for backend in ("llvm", "interpreter"):
        kernel = compile_graph(nothing, backend=backend)
        assert (kernel(np.ones((4, 2))) == np.zeros((4, 2, 3))).all()
        assert (kernel.one(np.ones(2)) == np.zeros((2, 3))).all()
        assert [block.values.shape for block in kernel.blocks(np.ones((4, 2)), size=3)] == [(0, 3), (0, 1)]
        assert compile_graph(shared, backend=backend)(np.array([2.0, 3.0])).tolist() == [[6.0, 1.0]]
        kernel = compile_graph(scalar, backend=backend)
        assert kernel(np.array([[2.0, 3.0], [4.0, 5.0]])).tolist() == [6.0, 20.0]
        assert kernel.one(np.array([2.0, 3.0])).shape == ()
        kernel = compile_graph(empty, backend=backend)
        assert kernel(np.ones((3, 0)), np.ones((3, 2))).tolist() == [[1.0, 1.0]] * 3
        assert kernel.one(np.ones(0), np.ones(2)).tolist() == [1.0, 1.0]
        assert list(kernel.blocks(np.ones((0, 0)), np.ones((0, 2)))) == []


def test_results_without_entries() -> None:
    robot = ytheta.load("ur10")
    q = np.ones(6)
    assert ytheta.regressor(robot, parameters=[]).one(q, q, q).shape == (6, 0)
    assert ytheta.regressor(robot, parameters=[])(q[None], q[None], q[None]).shape == (1, 6, 0)


def test_backends_agree_on_a_graph_without_inputs() -> None:
    graph = trace("numbers", [], np.array([1.0, 2.0]))
    assert compile_graph(graph, backend="interpreter").one().tolist() == compile_graph(graph).one().tolist() == [1, 2]


def test_all_calls_of_one_kernel_from_eight_threads_at_once() -> None:
    """Threads share neither scratch buffers nor blocks: every result is bit-identical to that of a single thread."""
    kernel = compile_graph(planar_chain(6))
    batches = [draw_inputs(kernel.graph, 300 + k, seed=k) for k in range(8)]
    expected = [kernel(*inputs, threads=1) for inputs in batches]
    start, wrong = threading.Barrier(8), []

    def compare(name: str, results: np.ndarray, truth: np.ndarray) -> None:
        if results.tobytes() != truth.tobytes():
            wrong.append(name)

    def work(k: int) -> None:
        inputs, truth = batches[k], expected[k]
        out = np.empty_like(truth)
        start.wait()
        for turn in range(25):
            compare("dense", kernel(*inputs, threads=1), truth)
            compare("out", kernel(*inputs, out=out, threads=2), truth)
            for block in kernel.blocks(*inputs, size=64 + turn):
                samples = slice(block.first, block.first + block.values.shape[1])
                compare("block", block.values.T, truth[samples])
            for sample in range(turn, 300, 25):
                compare("one", kernel.one(*(x[sample] for x in inputs[:3]), inputs[3]), truth[sample])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # seconds; threads take turns as often as possible
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


def test_many_samples_use_several_threads_by_default() -> None:
    kernel = compile_graph(planar_chain(12))
    inputs = draw_inputs(kernel.graph, 200_000)
    np.testing.assert_array_equal(kernel(*inputs), kernel(*inputs, threads=1))
