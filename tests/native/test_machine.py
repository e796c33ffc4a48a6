"""Machine code: its scratch buffers, and calls that are interrupted."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.kernel_graphs import integer_inputs, linear_graph, linear_result
from ytheta.native import compile_graph
from ytheta.native.compile import Machine
from ytheta.native.kernel import KernelOutcome, allocate_aligned


def test_a_new_scratch_buffer_may_be_replaced_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler may call the kernel whose first call it interrupts; then both calls have their own buffer."""
    kernel = compile_graph(linear_graph(5), cache=False)
    runner, x = kernel._runner, np.array([2.0, 3.0])
    assert isinstance(runner, Machine)
    allocate = runner._allocate_scratch
    buffers: list[bytearray] = []
    nested: list[np.ndarray] = []

    def interrupt() -> bytearray:
        scratch = allocate()
        buffers.append(scratch)
        if len(buffers) == 1:
            del runner._local.scratch
            nested.append(kernel.one(-x))
        return scratch

    monkeypatch.setattr(runner, "_allocate_scratch", interrupt)
    np.testing.assert_array_equal(kernel.one(x), 2.0 + 3.0 * np.arange(5))
    assert len(buffers) == 2
    np.testing.assert_array_equal(nested[0], -2.0 - 3.0 * np.arange(5))


def test_a_call_can_be_interrupted_by_a_call_of_the_same_kernel() -> None:
    """A signal handler that calls the same kernel must not change the result of the interrupted call."""
    kernel = ytheta.inverse_dynamics(ytheta.load("ur10"))
    x, another = np.full(6, 0.3), np.full(6, -0.9)
    expected = kernel.one(x, x, x)
    calls = 0

    def handler(*_: object) -> None:
        nonlocal calls
        calls += 1
        kernel.one(another, another, another)
        if calls < 300:
            signal.setitimer(signal.ITIMER_REAL, 1e-4)  # again, but never inside the handler

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-4)
    wrong = tries = 0
    try:
        while calls < 300 and tries < 100_000:
            tries += 1
            wrong += not np.array_equal(kernel.one(x, x, x), expected)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert calls > 100
    assert wrong == 0


def test_arrays_may_be_changed_by_other_threads() -> None:
    """A call uses an array as it was, or refuses it."""
    kernel, x = compile_graph(linear_graph(40)), integer_inputs(400)
    runner, done = kernel._runner, threading.Event()
    assert isinstance(runner, Machine)
    expected, results = linear_result(x, 40), np.empty((400, 40))
    values, out = allocate_aligned((40, runner.columns)), results.view()
    arrays: list[Any] = [x, out]

    def disturb() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            while not done.is_set():
                for array in arrays:
                    shape = array.shape
                    array.shape = (array.size,)
                    array.shape = shape
                    array.dtype = np.dtype([("number", np.float64)])
                    array.dtype = np.dtype(np.float64)
                    array.flags.writeable = False
                    array.flags.writeable = True

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=disturb)
    thread.start()
    outcomes: set[tuple[int, int]] = set()
    try:
        for _ in range(1000):
            results[...] = values[...] = 0.0
            dense = runner.write_dense((x,), 0, 400, out)
            block = runner.write_block((x,), 100, 200, values)
            outcomes.add((dense, block))
            np.testing.assert_array_equal(results, 0.0 if dense else expected)
            np.testing.assert_array_equal(values[:, :100], 0.0 if block else expected[100:200].T)
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert {outcome for pair in outcomes for outcome in pair} == {KernelOutcome.DONE, KernelOutcome.NOT_PLAIN}


EXIT = """
import threading, time
import numpy as np
from tests.support.kernel_graphs import draw_inputs, planar_chain
from ytheta.native import compile_graph
from ytheta.native.kernel import allocate_aligned

kernel = compile_graph(planar_chain(6))
inputs = draw_inputs(kernel.graph, 20_000)
started = threading.Barrier(4)

def work():
    started.wait()
    while True:
        kernel(*inputs, threads=1)

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(0.02)
"""


def test_a_program_may_end_while_other_threads_compute() -> None:
    for _ in range(3):
        process = subprocess.run([sys.executable, "-c", EXIT], capture_output=True, text=True, timeout=60)
        assert (process.returncode, process.stderr) == (0, "")
