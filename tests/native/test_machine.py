"""Machine code: its scratch buffers, and calls that are interrupted."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import ytheta
from tests.support.kernel_graphs import linear_graph
from ytheta.native import compile_graph
from ytheta.native.machine import Machine


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
