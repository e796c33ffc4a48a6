"""Small versions of the load: memory does not grow with the number of samples."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.load import GeneratedSource, make_arm, measure_long_log, run_job

FEW, MANY = 200_000, 800_000
MAX_GROWTH = 8e-6 * (MANY - FEW)  # MB: eight bytes, one number per further sample; a stored sample has at least nine


def test_memory_does_not_grow_with_the_samples() -> None:
    few, many = (run_job("samples", count) for count in (FEW, MANY))
    assert (few["count"], many["count"]) == (FEW, MANY)
    assert many["error"] < few["error"] < 1e-2
    assert many["megabytes"] - few["megabytes"] < MAX_GROWTH


def test_samples_that_are_stored_would_be_noticed() -> None:
    """The twin: positions, velocities, accelerations and torques of two joints and the time."""
    motion = GeneratedSource(make_arm(), FEW).motion(0, 0, FEW)
    assert motion.tau is not None
    stored = sum(each.nbytes for each in (motion.t, motion.q, motion.qd, motion.qdd, motion.tau))
    assert 1e-6 * stored * (MANY - FEW) / FEW > 8.0 * MAX_GROWTH


def test_generated_motion_does_not_change() -> None:
    source = GeneratedSource(make_arm(), 1000)
    first, again = source.motion(0, 100, 200), source.motion(0, 100, 200)
    assert first.tau is not None
    assert again.tau is not None
    np.testing.assert_array_equal(first.tau, again.tau)
    step = 1.0 / source.rate
    np.testing.assert_allclose(np.gradient(first.q, step, axis=0)[1:-1], first.qd[1:-1], rtol=0, atol=1e-4)
    np.testing.assert_allclose(np.gradient(first.qd, step, axis=0)[1:-1], first.qdd[1:-1], rtol=0, atol=1e-4)


def test_runs_and_logs() -> None:
    assert run_job("runs", 20)["count"] == 20
    result = measure_long_log(30)
    assert result["count"] == 30_000
    assert result["error_percent"] == pytest.approx(0.1, abs=0.1)
