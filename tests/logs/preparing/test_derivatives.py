"""Velocity and acceleration of known signals; the spline compared with SciPy and with its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import make_smoothing_spline

from ytheta.errors import InputError
from ytheta.logs.preparing.derivatives import (
    QUINTIC,
    CentralDifferences,
    Differentiator,
    SmoothingSpline,
    make_differentiator,
)
from ytheta.logs.preparing.filters import Lowpass

KINDS = ("central", "spline")


def differentiate_all(method: Differentiator, signal: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    smooth = method.smooth(signal[np.newaxis])
    everything = slice(0, len(signal))
    position, velocity, acceleration = (method.differentiate(smooth, order, everything)[0] for order in range(3))
    return position, velocity, acceleration


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_a_sine(kind: str) -> None:
    rate, omega = 200.0, 2 * np.pi * 1.0
    t = np.arange(4000) / rate
    q, qd, qdd = differentiate_all(make_differentiator(kind, 15.0, rate), np.sin(omega * t))
    inside = slice(400, -400)
    assert np.abs(q - np.sin(omega * t))[inside].max() < 2e-7
    assert np.abs(qd / omega - np.cos(omega * t))[inside].max() < 2e-7
    assert np.abs(qdd / omega**2 + np.sin(omega * t))[inside].max() < 2e-7


def test_seven_samples_are_better_than_three_at_a_low_rate() -> None:
    """8 Hz at 95 samples per second, as in the logs of a UR10e."""
    rate, omega = 95.0, 2 * np.pi * 8.0
    t = np.arange(2000) / rate
    sine = np.sin(omega * t)
    smooth = sine[np.newaxis]
    central = CentralDifferences(Lowpass(40.0, rate))
    seven = central.differentiate(smooth, 1, slice(0, 2000))[0]
    three = np.gradient(sine, 1.0 / rate)
    inside = slice(10, -10)
    assert np.abs(seven - omega * np.cos(omega * t))[inside].max() < 3e-4 * omega
    assert np.abs(three - omega * np.cos(omega * t))[inside].max() > 4e-2 * omega


@pytest.mark.parametrize("kind", KINDS)
def test_acceleration_of_quantised_positions(kind: str) -> None:
    """Steps of 2e-5 rad at 5 kHz, as a TX40 records: unfiltered differences are useless."""
    rate, quantum = 5000.0, 2e-5
    t = np.arange(15000) / rate
    omega = 2 * np.pi * np.array([0.7, 1.9, 3.1])
    truth = -(omega**2) @ np.sin(np.outer(omega, t))
    measured = np.round(np.sin(np.outer(omega, t)).sum(axis=0) / quantum) * quantum
    acceleration = differentiate_all(make_differentiator(kind, 31.0, rate), measured)[2]
    unfiltered = np.gradient(np.gradient(measured, 1.0 / rate), 1.0 / rate)
    inside = slice(2500, -2500)
    error, plain = (float(np.std((a - truth)[inside])) for a in (acceleration, unfiltered))
    assert error < 2e-3 * np.std(truth)
    assert plain > 100.0 * error


@pytest.mark.parametrize("kind", KINDS)
def test_noise_of_accelerations_is_as_predicted(kind: str) -> None:
    """White noise of a known size through a known gain: the rms acceleration is an integral."""
    rate, cutoff, sigma = 500.0, 20.0, 1e-4
    noise = sigma * np.random.default_rng(5).normal(size=200_000)
    acceleration = differentiate_all(make_differentiator(kind, cutoff, rate), noise)[2]
    f = np.linspace(0.0, rate / 2, 20001)
    gain = 1.0 / (1.0 + (f / cutoff) ** (8 if kind == "central" else 6))
    expected = sigma * np.sqrt(np.mean((gain * (2 * np.pi * f) ** 2) ** 2))
    assert np.std(acceleration) == pytest.approx(expected, rel=0.06)


@given(
    st.sampled_from(KINDS), st.floats(-100.0, 100.0), st.floats(-1.0, 1.0), st.integers(2, 600), st.floats(1.0, 80.0)
)
def test_straight_lines_are_exact(kind: str, level: float, slope: float, count: int, cutoff: float) -> None:
    rate = 200.0
    line = level + slope * np.arange(count) / rate
    q, qd, qdd = differentiate_all(make_differentiator(kind, cutoff, rate), line)
    scale = np.abs(line).max() + 1.0
    np.testing.assert_allclose(q, line, rtol=0.0, atol=1e-11 * scale)
    np.testing.assert_allclose(qd, slope, rtol=0.0, atol=1e-11 * scale * rate)
    np.testing.assert_allclose(qdd, 0.0, rtol=0.0, atol=1e-11 * scale * rate**2)


@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1), st.floats(-3.0, 3.0))
def test_differentiators_are_linear(kind: str, seed: int, factor: float) -> None:
    x, y = np.random.default_rng(seed).normal(size=(2, 300))
    method = make_differentiator(kind, 10.0, 200.0)
    for a, b, both in zip(
        differentiate_all(method, x),
        differentiate_all(method, y),
        differentiate_all(method, x + factor * y),
        strict=True,
    ):
        np.testing.assert_allclose(both, a + factor * b, rtol=0.0, atol=1e-10 * (np.abs(both).max() + 1.0))


def test_the_cubic_spline_is_that_of_scipy() -> None:
    rate = 200.0
    t = np.arange(1500) / rate
    y = np.sin(6.0 * t) + 1e-2 * np.random.default_rng(6).normal(size=1500)
    spline = SmoothingSpline(6.0, rate, degree=3)
    # SciPy's weight counts seconds, ours samples: lam = weight * step^3.
    theirs = make_smoothing_spline(t, y, lam=spline.weight / rate**3)
    inside = slice(300, -300)
    for order, ours in enumerate(differentiate_all(spline, y)):
        scale = np.abs(theirs(t, order)).max()
        np.testing.assert_allclose(ours[inside], theirs(t, order)[inside], rtol=0.0, atol=1e-9 * scale)


def test_the_quintic_spline_solves_its_normal_equations() -> None:
    """In the interior its coefficients solve (B + weight * D) c = y, D the negative sixth difference."""
    spline = SmoothingSpline(4.0, 100.0)
    y = np.random.default_rng(7).normal(size=1200).cumsum()
    c = spline.smooth(y[np.newaxis])[0]
    sixth = -np.convolve(c, [1.0, -6.0, 15.0, -20.0, 15.0, -6.0, 1.0], "same")
    left = np.convolve(c, QUINTIC[0], "same") + spline.weight * sixth
    np.testing.assert_allclose(left[300:-300], y[300:-300], rtol=0.0, atol=1e-7 * np.abs(y).max())


@pytest.mark.parametrize("degree", [3, 5])
def test_the_spline_halves_the_amplitude_at_its_cutoff(degree: int) -> None:
    rate, cutoff = 1000.0, 7.0
    t = np.arange(8000) / rate
    sine = np.sin(2 * np.pi * cutoff * t)
    position = differentiate_all(SmoothingSpline(cutoff, rate, degree), sine)[0]
    assert position[2000:6000] @ sine[2000:6000] / (sine[2000:6000] @ sine[2000:6000]) == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_kept_samples_equal_those_of_the_whole(kind: str) -> None:
    method = make_differentiator(kind, 10.0, 200.0)
    smooth = method.smooth(np.random.default_rng(8).normal(size=(2, 500)))
    for order in range(3):
        whole = method.differentiate(smooth, order, slice(0, 500))
        for kept in (slice(0, 500, 7), slice(100, 400, 3), slice(1, 499, 1)):
            np.testing.assert_allclose(method.differentiate(smooth, order, kept), whole[:, kept], rtol=0.0, atol=1e-9)


def test_unknown_differentiators_are_refused() -> None:
    with pytest.raises(InputError, match='there are "central" and "spline"'):
        make_differentiator("kalman", 5.0, 100.0)
    with pytest.raises(InputError, match="choose degree 3 or 5"):
        SmoothingSpline(5.0, 100.0, degree=4)
