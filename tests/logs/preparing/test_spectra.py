"""Spectra of signals whose power is known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.sine_logs import RATE, make_sine_log
from ytheta.logs.preparing.cutoff import (
    WINDOW_SECONDS,
    choose_window_size,
    compute_bin_edges,
    find_valley,
    make_taper,
    sample_windows,
    transform,
)
from ytheta.logs.preparing.resample import choose_grid


def test_the_spectrum_contains_the_variance() -> None:
    rng, size = np.random.default_rng(0), 4096
    noise = 3.0 * rng.normal(size=(8, size - 1))
    lines = transform(noise, make_taper(size), RATE)
    spacing = RATE / (size - 1)
    variance = (np.abs(lines) ** 2).sum(axis=1).mean() * spacing
    assert variance == pytest.approx(9.0, rel=0.1)
    assert (np.abs(2.0 * lines) ** 2).sum(axis=1).mean() * spacing != pytest.approx(9.0, rel=0.1)


def test_windows_cover_the_log() -> None:
    log = make_sine_log(100.0)
    grid = choose_grid(log)[0]
    size = choose_window_size(log, grid)
    assert size == WINDOW_SECONDS * RATE
    windows = [q for (q,) in sample_windows(log, grid, size, (log.q,))]
    assert all(window.shape == (3, size) for window in windows)
    np.testing.assert_array_equal(windows[0], log.q[:size].T)
    assert choose_window_size(log.select_rows(0, 100), grid) == 100


def test_the_valley_is_between_motion_and_noise() -> None:
    f = np.linspace(0.1, 200.0, 2000)
    motion, noise = np.exp(-(f**1.1)), 1e-9 * f**2
    edges = compute_bin_edges(f, 500.0)
    valley = find_valley(f, motion + noise, (motion + noise) * f**2, edges)
    meeting = f[np.argmin(abs(np.log(motion / noise)))]
    assert 0.5 * meeting < valley < 2.0 * meeting
    assert find_valley(f, motion + 1e4 * noise, (motion + 1e4 * noise) * f**2, edges) < valley
