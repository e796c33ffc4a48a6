"""Machine code: its scratch buffers, and calls that are interrupted."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import ytheta
from tests.support.kernel_graphs import linear_graph
from ytheta.native import compile_graph
from ytheta.native.machine import Machine


def test_every_scratch_buffer_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler may call the kernel whose first call it interrupts."""
    runner = compile_graph(linear_graph(5), cache=False)._runner
    assert isinstance(runner, Machine)
    nested: list[int] = []

    def find_address(buffer: np.ndarray) -> int:
        if not nested:
            nested.append(0)
            nested[0] = runner._find_scratch()
        return int(buffer.ctypes.data)

    monkeypatch.setattr("ytheta.native.machine.find_address", find_address)
    address = runner._find_scratch()
    kept = [buffer.ctypes.data for buffer in runner._local.buffers]
    assert {address, nested[0], runner._find_scratch()} <= set(kept)


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
