"""Periodic motion: its period is found, and averaging periods reduces noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.sine_logs import RATE
from ytheta.errors import InputError
from ytheta.logs.log import Log
from ytheta.logs.preparing.periods import find_period
from ytheta.logs.preparing.preparation import PreparationSettings, choose_preparation
from ytheta.logs.preparing.prepared_log import prepare_log
from ytheta.logs.preparing.resample import choose_grid


def make_periodic_log(periods: float, noise: float) -> Log:
    t = np.arange(round(periods * 4.0 * RATE)) / RATE
    base = 2 * np.pi / 4.0
    q = np.stack([np.sin(base * t) + 0.5 * np.sin(3 * base * t), np.cos(2 * base * t) + np.sin(base * t)], axis=1)
    rng = np.random.default_rng(9)
    errors = noise * rng.normal(size=(2, *q.shape))
    return Log(joints=("a", "b"), t=t, q=q + errors[0], tau=5.0 * q + errors[1])


def test_averaging_divides_noise_by_the_root_of_the_number_of_periods() -> None:
    log = make_periodic_log(9.2, 1e-2)
    settings = PreparationSettings(cutoff=10.0, decimate=1)
    plain, mean = prepare_log(log, settings), prepare_log(log, replace(settings, average_periods=4.0))
    assert len(mean.motion) == round(4.0 * RATE)
    clean = make_periodic_log(9.2, 0.0)
    truth = prepare_log(clean, replace(settings, average_periods=4.0)).motion.qdd
    noise = np.std(mean.motion.qdd - truth)
    usual = np.std(plain.motion.qdd - prepare_log(clean, settings).motion.qdd)
    assert usual / noise == pytest.approx(3.0, rel=0.2)
    assert any("9 periods" in finding.text for finding in mean.findings)
    # The mean period is continued periodically, so that its ends are as exact as its middle.
    np.testing.assert_allclose(truth[0], truth[-1], rtol=0.0, atol=0.2)


def test_the_period_is_found() -> None:
    log = make_periodic_log(2.57, 1e-3)
    grid, _ = choose_grid(log)
    assert find_period(log, grid) == pytest.approx(4.0, abs=2e-3)
    settings = prepare_log(log, PreparationSettings(average_periods="auto")).settings
    assert settings.average_periods == pytest.approx(4.0, abs=2e-3)
    once = log.select_rows(0, 3000)
    assert find_period(once, grid) is None
    with pytest.raises(InputError, match="does not repeat"):
        choose_preparation(once, PreparationSettings(average_periods="auto"))
    with pytest.raises(InputError, match="are shorter than two periods"):
        choose_preparation(once, PreparationSettings(average_periods=4.0))


def test_wrong_periods_are_refused() -> None:
    log = make_periodic_log(5.3, 1e-3)
    for period in (4.0, 4.005, 8.0):
        assert prepare_log(log, PreparationSettings(average_periods=period)).settings.average_periods == period
    for period in (3.3, 6.0, 0.01):  # in 0.01 s the arm has hardly moved, which is not a repetition
        with pytest.raises(InputError, match=f"does not repeat itself after {period:g} s"):
            choose_preparation(log, PreparationSettings(average_periods=period))


def test_exactly_two_periods_are_averaged() -> None:
    """A log of two periods ends one sample before the end of the second one."""
    log = make_periodic_log(2.0, 1e-3)
    grid, _ = choose_grid(log)
    assert find_period(log, grid) == pytest.approx(4.0, abs=1e-3)
    for period in ("auto", 4.0):
        preparation = choose_preparation(log, PreparationSettings(cutoff=5.0, average_periods=period))
        assert any("2 periods of 4" in finding.text for finding in preparation.findings)
    with pytest.raises(InputError, match="does not repeat itself"):
        choose_preparation(make_periodic_log(1.95, 1e-3), PreparationSettings(cutoff=5.0, average_periods="auto"))
    with pytest.raises(InputError, match="shorter than two periods"):
        choose_preparation(make_periodic_log(1.95, 1e-3), PreparationSettings(cutoff=5.0, average_periods=4.0))
