"""Autocorrelation times of known processes, and sums over pieces against sums over whole segments."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.identification.equations.autocorrelation import (
    LAG_COUNT,
    AutocovarianceAccumulator,
    compute_autocorrelation_time,
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
