"""Sampled filters against filtering all samples, and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from ytheta.logs.preparing.derivatives import MAX_PERIOD, Differentiator, is_period_supported, make_differentiator

RATE = 1000.0
ORDERS = (0, 1, 2)


def draw_signal(samples: int, channels: int = 2) -> np.ndarray:
    return np.cumsum(np.random.default_rng(0).normal(size=(channels, samples)), axis=1)


def filter_everything(differentiator: Differentiator, signal: np.ndarray, kept: slice) -> list[np.ndarray]:
    smoothed = differentiator.smooth(signal)
    return [differentiator.differentiate(smoothed, order, kept) for order in ORDERS]


@pytest.mark.parametrize("kind", ["central", "spline"])
@pytest.mark.parametrize("cutoff", [3.0, 30.0])
@pytest.mark.parametrize(
    ("samples", "kept"),
    [
        (9000, slice(2000, 7000, 24)),  # margins at both ends
        (9000, slice(2000, 7000, 7)),  # the shortest period
        (9000, slice(2000, 7000, 200)),  # longer than a typical block
        (900, slice(0, 900, 24)),  # ends of a record
        (900, slice(5, 893, 13)),
        (40, slice(0, 40, 9)),  # shorter than a block and than the reach
        (9000, slice(3000, 3001, 24)),  # one sample
    ],
)
def test_outputs_are_those_of_filtering_all_samples(kind: str, cutoff: float, samples: int, kept: slice) -> None:
    differentiator, signal = make_differentiator(kind, cutoff, RATE), draw_signal(samples)
    expected = filter_everything(differentiator, signal, kept)
    for order, (values, others) in enumerate(zip(differentiator.evaluate(signal, ORDERS, kept), expected, strict=True)):
        # Differences of filtered samples lose digits to rounding, in proportion to the rate.
        np.testing.assert_allclose(values, others, rtol=0.0, atol=1e-12 * np.abs(signal).max() * RATE**order)
    later = slice(kept.start + 1, kept.stop + 1, kept.step)  # the twin: one sample later
    if later.stop <= samples:
        assert abs(differentiator.evaluate(signal, (0,), later)[0] - expected[0]).max() > 1e-6


def test_the_low_pass_is_that_of_scipy() -> None:
    signal, kept = draw_signal(20_000), slice(8000, 12_000, 25)
    (values,) = make_differentiator("central", 10.0, RATE).evaluate(signal, (0,), kept)
    expected = sosfiltfilt(butter(4, 10.0, fs=RATE, output="sos"), signal, axis=1)[:, kept]
    np.testing.assert_allclose(values, expected, atol=1e-9 * np.abs(signal).max())
    twin = sosfiltfilt(butter(4, 10.5, fs=RATE, output="sos"), signal, axis=1)[:, kept]
    assert abs(values - twin).max() > 1e-6 * np.abs(signal).max()


@pytest.mark.parametrize("period", [None, 3, MAX_PERIOD + 1])
def test_other_periods_are_filtered_completely(period: int | None) -> None:
    """Stencils of seven samples do not fit into shorter periods, and matrices of longer ones would be large."""
    differentiator, signal = make_differentiator("central", 30.0, RATE), draw_signal(900)
    kept = slice(100, 800, period)
    assert not is_period_supported(((0.0,) * 7,), period or 1)
    for values, expected in zip(
        differentiator.evaluate(signal, ORDERS, kept), filter_everything(differentiator, signal, kept), strict=True
    ):
        np.testing.assert_array_equal(values, expected)
