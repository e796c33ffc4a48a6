"""Spectra of motion: the band of sines with noise, the noise floor, and the size of planted noise."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.identification.estimators.motion_spectrum import (
    BAND_PER_HIGHEST_FREQUENCY,
    RecordedSegment,
    choose_bands,
    close_motion,
    compute_noise,
    compute_spectrum,
    find_noise_floor,
)

RATE, COUNT = 100.0, 2950
FREQUENCIES = np.array([0.3, 1.7])  # Hz, of two joints


def make_segment(noise: float = 0.0, *, seed: int = 0) -> RecordedSegment:
    """Sines that end in the middle of a period; noise of position, and 10 and 100 times as much of its derivatives."""
    w, t = 2.0 * np.pi * FREQUENCIES, np.arange(COUNT)[:, None] / RATE
    draw = np.random.default_rng(seed).normal
    q, qd, qdd = np.sin(w * t + 0.4), w * np.cos(w * t + 0.4), -(w**2) * np.sin(w * t + 0.4)
    noisy = [
        signal + k * noise * draw(size=q.shape) for k, signal in zip((1.0, 10.0, 100.0), (q, qd, qdd), strict=True)
    ]
    return RecordedSegment(0, 0, 0, RATE, *noisy)


def close(part: RecordedSegment, joint: int) -> np.ndarray:
    return close_motion(part.q[:, joint], part.qd[:, joint], part.qdd[:, joint], RATE)


@pytest.mark.parametrize("noise", [0.0, 1e-4, 1e-2])
def test_the_band_is_twice_the_frequency_of_a_sine(noise: float) -> None:
    bands = choose_bands(make_segment(noise))
    np.testing.assert_allclose(bands, BAND_PER_HIGHEST_FREQUENCY * FREQUENCIES, rtol=0.2)
    assert abs(bands[0] / bands[1] - 1.0) > 0.5  # the twin: each joint has its own band


def test_the_spectrum_contains_accelerations_at_the_start_of_a_motion() -> None:
    """An oscillation of 1 Hz that decays within the first second: a window would hide it."""
    t = np.arange(COUNT) / RATE
    slow = make_segment()
    q = slow.q + (0.3 * np.exp(-t) * np.sin(2.0 * np.pi * t))[:, None]
    qd = np.gradient(q, 1.0 / RATE, axis=0)
    jerky = RecordedSegment(0, 0, 0, RATE, q, qd, np.gradient(qd, 1.0 / RATE, axis=0))
    (frequency, closed), (_, undisturbed) = (compute_spectrum(close(part, 0)[:, None], RATE) for part in (jerky, slow))
    place = int(np.searchsorted(frequency, 1.0))
    assert closed[place, 0] > 100.0 * undisturbed[place, 0]
    windowed = compute_spectrum(np.hanning(COUNT)[:, None] * jerky.q, RATE)[1][round(COUNT / RATE), 0]
    assert windowed < 0.05 * closed[place, 0]  # the twin: a window


def test_the_noise_floor_is_that_of_white_noise() -> None:
    """The floor is also found if the noise ends at a cut-off."""
    part, noise = make_segment(), np.random.default_rng(1).normal(0.0, 0.01, COUNT)
    spectrum = np.fft.rfft(noise)
    spectrum[np.fft.rfftfreq(COUNT, 1.0 / RATE) > 20.0] = 0.0
    for each in (noise, np.fft.irfft(spectrum, COUNT)):
        noisy = RecordedSegment(0, 0, 0, RATE, part.q + each[:, None], part.qd, part.qdd)
        for k in range(2):
            closed = close(noisy, k)
            expected = 2.0 * 0.01**2 * COUNT / len(closed) ** 2  # the polynomial contains no noise
            # The octave may contain a part of the cut-off, as long as the power of its halves differs by less than 2.
            assert 0.5 < find_noise_floor(compute_spectrum(closed[:, None], RATE)[1][:, 0]) / expected < 1.4
    twice = RecordedSegment(0, 0, 0, RATE, part.q + 2.0 * each[:, None], part.qd, part.qdd)
    assert find_noise_floor(compute_spectrum(close(twice, 1)[:, None], RATE)[1][:, 0]) > 1.4 * expected  # the twin
    for k in range(2):  # without noise, what is found is far below the motion
        exact = compute_spectrum(close(part, k)[:, None], RATE)[1][:, 0]
        assert find_noise_floor(exact) < 1e-3 * exact.max()


def test_the_noise_is_the_planted_one_except_below_the_band() -> None:
    part = make_segment(1e-3)
    bands = choose_bands(part)
    expected = np.outer([1e-3, 1e-2, 1e-1], np.sqrt(1.0 - 1.5 * bands / (0.5 * RATE)))
    np.testing.assert_allclose(compute_noise(part, bands), expected, rtol=0.06)
    assert (compute_noise(make_segment(), bands) < 0.1 * expected).all()  # the twin: no noise


def test_the_closed_motion_is_smooth_at_both_ends() -> None:
    part = make_segment()
    for k in range(2):
        q = close(part, k)
        np.testing.assert_array_equal(q[:COUNT], part.q[:, k])
        assert abs(q).max() < 1.5  # the polynomial does not leave the range of the motion by far
        jerks = RATE**3 * np.diff(np.concatenate([q, q[:3]]), n=3)
        assert abs(jerks).max() < 10.0 * abs(RATE * np.diff(part.qdd[:, k])).max()
        unclosed = RATE**3 * np.diff(np.concatenate([part.q[:, k], part.q[:3, k]]), n=3)
        assert abs(unclosed).max() > 100.0 * abs(jerks).max()  # the twin: without the polynomial, it jumps


def test_power_sums_to_the_variance() -> None:
    signal = np.random.default_rng(3).normal(size=(101, 2)) + 5.0
    for count in (100, 101):
        np.testing.assert_allclose(compute_spectrum(signal[:count], RATE)[1].sum(axis=0), signal[:count].var(axis=0))
