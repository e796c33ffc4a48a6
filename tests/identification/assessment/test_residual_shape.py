"""Histogram and autocorrelation of residuals: against SciPy and against sums over all pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from ytheta.identification.assessment.residual_analysis import (
    compute_residual_autocorrelation,
    compute_residual_histogram,
)
from ytheta.identification.assessment.torque_errors import TorqueErrors, Trace


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> TorqueErrors:
    folder: Path = tmp_path_factory.mktemp("residuals")
    path = write_log(folder / "a.npz", true_arm(folder), noise=0.1)
    return yt.identify(yt.load("lu-two-link"), path).fit


def with_residual(errors: TorqueErrors, residual: np.ndarray, left_out: np.ndarray) -> TorqueErrors:
    """The same errors with another trace of residuals, the same for both joints."""
    columns = np.stack([residual, residual], axis=1)
    out = np.stack([left_out, left_out], axis=1)
    zeros = np.zeros_like(columns)
    return replace(
        errors, trace=Trace(np.arange(len(residual)) * 0.01, columns, zeros, columns, out, zeros, zeros, zeros)
    )


def test_histograms_are_densities(errors: TorqueErrors) -> None:
    residual = np.random.default_rng(1).normal(0.3, 2.0, 2000)
    left_out = np.zeros(2000, dtype=bool)
    histogram = compute_residual_histogram(with_residual(errors, residual, left_out), 1)
    assert histogram is not None
    assert (histogram.density * histogram.width).sum() == pytest.approx(1.0)
    expected = scipy.stats.norm(residual.mean(), residual.std()).pdf(histogram.centers)
    np.testing.assert_allclose(histogram.normal, expected, rtol=1e-9)
    assert abs(histogram.density - expected).max() < 0.04  # scatter of 2000 samples
    counts = [np.sum(abs(residual - center) <= 0.5 * histogram.width) for center in histogram.centers]
    np.testing.assert_allclose(histogram.density, np.array(counts) / (2000 * histogram.width), atol=1e-12)
    uniform = np.random.default_rng(1).uniform(-4.0, 4.0, 2000)
    twin = compute_residual_histogram(with_residual(errors, uniform, left_out), 0)
    assert twin is not None
    assert abs(twin.density - twin.normal).max() > 0.04


def test_samples_that_are_left_out_do_not_count(errors: TorqueErrors) -> None:
    residual = np.concatenate([np.random.default_rng(2).normal(size=500), np.full(500, 30.0), [np.nan]])
    left_out = residual == 30.0
    histogram = compute_residual_histogram(with_residual(errors, residual, left_out), 0)
    assert histogram is not None
    assert histogram.centers[-1] < 6.0
    assert histogram.outside == 0.0
    assert compute_residual_histogram(with_residual(errors, residual, np.ones(1001, dtype=bool)), 0) is None


def test_autocorrelation_of_a_known_sequence(errors: TorqueErrors) -> None:
    noise = np.random.default_rng(3).normal(size=400)
    lags = 50
    sums = np.array([(noise[: len(noise) - k] * noise[k:]).sum() for k in range(lags)])
    known = replace(errors, autocovariance=np.stack([sums, 2.0 * sums], axis=1), samples=400, seconds=4.0)
    shape = compute_residual_autocorrelation(known)
    np.testing.assert_allclose(shape.seconds, np.arange(lags) / 100.0)
    expected = np.correlate(noise, noise, "full")[len(noise) - 1 :][:lags] / (noise @ noise)
    np.testing.assert_allclose(shape.values, np.stack([expected, expected], axis=1), atol=1e-12)
    assert (shape.values[0] == 1.0).all()
