"""Autocorrelation times of known processes, and sums over pieces against sums over whole segments."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.identification.equations.autocorrelation import (
    LAG_COUNT,
    AutocovarianceAccumulator,
    compute_autocorrelation_time,
    compute_noise_autocovariance,
)


def make_autocovariance(*ratios: float) -> np.ndarray:
    """Autocovariances of processes r(t + 1) = ratio · r(t) + noise, of different sizes."""
    lags = np.arange(LAG_COUNT)[:, None]
    return np.linspace(0.1, 7.0, len(ratios)) * np.array(ratios) ** lags


def test_the_time_of_a_first_order_process_is_known() -> None:
    """1 + 2 · sum of ratio^k is (1 + ratio) / (1 - ratio)."""
    time = compute_autocorrelation_time(make_autocovariance(0.0, 0.5, 0.9))
    np.testing.assert_allclose(time, [1.0, 3.0, 19.0], rtol=1e-6)
    assert compute_autocorrelation_time(make_autocovariance(0.4)) != pytest.approx(3.0)  # the twin


def test_alternating_residuals_and_zero_residuals_count_fully() -> None:
    assert compute_autocorrelation_time(make_autocovariance(-0.5)) == 1.0
    assert compute_autocorrelation_time(np.zeros((LAG_COUNT, 1))) == 1.0


def test_the_sum_ends_at_the_first_pair_that_is_not_positive() -> None:
    """What comes later is noise, also if it is positive again."""
    autocovariance = make_autocovariance(0.5)
    autocovariance[6], autocovariance[7], autocovariance[20] = -0.3, 0.1, 5.0
    expected = 1.0 + 2.0 * sum(0.5**k for k in range(1, 6))
    np.testing.assert_allclose(compute_autocorrelation_time(autocovariance), expected, rtol=1e-12)


@pytest.mark.parametrize(("ratio", "parameters"), [(0.0, 20), (0.8, 20), (0.9, 10)])
def test_noise_that_parameters_took_away(ratio: float, parameters: int) -> None:
    """Oracle: noise with a known autocorrelation time, of which a fit of slow functions took a large part away."""
    count, rng = 500, np.random.default_rng(0)
    t = np.arange(count) / count
    waves = np.pi * np.arange(parameters) * t[:, None]
    Q, _ = np.linalg.qr(np.cos(waves))
    drive = rng.normal(size=(200 + count, 300))
    noise = np.zeros_like(drive)
    for k in range(1, len(drive)):
        noise[k] = ratio * noise[k - 1] + np.sqrt(1.0 - ratio**2) * drive[k]
    residuals = noise[200:] - Q @ (Q.T @ noise[200:])
    lags = range(LAG_COUNT)
    autocovariance = np.array([(residuals[: count - lag] * residuals[lag:]).sum(axis=0) for lag in lags])
    hat = np.array([[np.trace(Q @ Q.T, lag)] for lag in lags]) * np.ones(300)
    counts = np.full(300, float(count))

    def compute_mean_power(corrected: np.ndarray) -> float:
        """The mean of v c, in units of its true value."""
        time = compute_autocorrelation_time(corrected)
        variances = autocovariance[0] / (counts - time * parameters)
        return float(np.mean(variances * time) * (1.0 - ratio) / (1.0 + ratio))

    residual_power = compute_mean_power(autocovariance)
    power = compute_mean_power(compute_noise_autocovariance(autocovariance, hat, counts))
    if ratio:
        # Not all can be put back: the noise at the frequencies of the motion is known from higher frequencies only.
        assert residual_power < 0.7  # the twin: residuals alone
        assert residual_power + 0.5 * (1.0 - residual_power) < power < 1.1
    else:
        assert power == pytest.approx(1.0, abs=0.25)  # sums of positive pairs are too large for white noise


def test_without_parameters_the_noise_is_the_residual() -> None:
    autocovariance, counts = make_autocovariance(0.0, 0.5, 0.9), np.full(3, 1e4)
    noise = compute_noise_autocovariance(autocovariance, np.zeros_like(autocovariance), counts)
    np.testing.assert_array_equal(noise, autocovariance)
    np.testing.assert_array_equal(compute_noise_autocovariance(0.0 * noise, 0.0 * noise, 0.0 * counts), 0.0)


@pytest.mark.parametrize("sizes", [(700,), (1, 2, 300, 5, 150, 242), (199, 200, 201, 100)])
def test_pieces_give_the_sums_of_whole_segments(sizes: tuple[int, ...]) -> None:
    """Products are summed within segments only, and for all lags however short the pieces are."""
    segments = np.random.default_rng(0).normal(size=(2, 2, 700))
    accumulator = AutocovarianceAccumulator(2)
    for k, segment in enumerate(segments):
        for piece in np.split(segment, np.cumsum(sizes)[:-1], axis=1):
            accumulator.add((0, k), piece)
    expected = [[r[: 700 - lag] @ r[lag:] for r in segments[0]] for lag in range(LAG_COUNT)]
    expected += np.array([[r[: 700 - lag] @ r[lag:] for r in segments[1]] for lag in range(LAG_COUNT)])
    np.testing.assert_allclose(accumulator.autocovariance, expected, rtol=0.0, atol=1e-10)


def test_a_segment_that_is_shorter_than_the_lags() -> None:
    accumulator = AutocovarianceAccumulator(1)
    accumulator.add((0, 0), np.array([[1.0, 2.0, 4.0]]))
    assert accumulator.autocovariance[:4, 0].tolist() == [21.0, 10.0, 4.0, 0.0]
