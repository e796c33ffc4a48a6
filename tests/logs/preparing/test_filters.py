"""The zero-phase low-pass: its gain and phase, linearity, and equality in pieces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import butter, sosfiltfilt

from ytheta.errors import InputError
from ytheta.logs.preparing.filters import Lowpass, Span, split_into_spans

RATE = 1000.0
TIME = np.arange(6000) / RATE
LOWPASS = Lowpass(10.0, RATE)
SECTIONS = butter(4, 10.0, fs=RATE, output="sos")


def get_interior(lowpass: Lowpass) -> slice:
    return slice(2 * lowpass.settling, -2 * lowpass.settling)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("frequency", [1.0, 5.0, 10.0, 20.0])
def test_gain_and_phase_of_a_sine(frequency: float, order: int) -> None:
    lowpass = Lowpass(10.0, RATE, order)
    sine, cosine = np.sin(2 * np.pi * frequency * TIME), np.cos(2 * np.pi * frequency * TIME)
    inside = slice(2000, 4000)
    basis = np.stack([sine, cosine], axis=1)[inside]
    in_phase, in_quadrature = np.linalg.lstsq(basis, lowpass.apply(sine)[inside], rcond=None)[0]
    # The bilinear transform bends frequencies by (pi f / rate)^2 / 3, here at most 1e-3.
    assert in_phase == pytest.approx(1.0 / (1.0 + (frequency / 10.0) ** (2 * order)), rel=2e-2)
    assert in_quadrature == pytest.approx(0.0, abs=1e-6)


def test_a_filter_run_one_way_lags() -> None:
    from scipy.signal import sosfilt

    sine = np.sin(2 * np.pi * 5.0 * TIME)
    lagging = sosfilt(SECTIONS, sine)
    assert np.abs(lagging - sine)[2000:4000].max() > 0.5
    assert np.abs(LOWPASS.apply(sine) - sine)[2000:4000].max() < 5e-3


def test_the_result_is_that_of_sosfiltfilt() -> None:
    signal = np.random.default_rng(1).normal(size=(3000, 3)).cumsum(axis=0)
    theirs = sosfiltfilt(SECTIONS, signal, axis=0, padlen=LOWPASS.memory)
    np.testing.assert_allclose(LOWPASS.apply(signal), theirs, rtol=0.0, atol=1e-12 * np.abs(signal).max())


def test_all_columns_are_filtered_alike() -> None:
    columns = np.random.default_rng(2).normal(size=(500, 6, 4))
    filtered = LOWPASS.apply(columns)
    assert filtered.shape == columns.shape
    np.testing.assert_allclose(filtered[:, 2, 3], LOWPASS.apply(columns[:, 2, 3]), rtol=0.0, atol=1e-14)


@given(st.floats(-5.0, 5.0), st.floats(-5.0, 5.0), st.integers(0, 2**32 - 1), st.integers(1, 400))
def test_the_filter_is_linear(a: float, b: float, seed: int, count: int) -> None:
    x, y = np.random.default_rng(seed).normal(size=(2, count))
    both = LOWPASS.apply(a * x + b * y)
    np.testing.assert_allclose(both, a * LOWPASS.apply(x) + b * LOWPASS.apply(y), rtol=0.0, atol=1e-11)


@given(st.floats(-1e3, 1e3), st.floats(-10.0, 10.0), st.integers(2, 3000), st.floats(0.5, 400.0))
def test_straight_lines_pass_unchanged_even_at_the_ends(level: float, slope: float, count: int, cutoff: float) -> None:
    line = level + slope * np.arange(count)
    scale = np.abs(line).max() + 1.0
    np.testing.assert_allclose(Lowpass(cutoff, RATE).apply(line), line, rtol=0.0, atol=1e-9 * scale)


def test_the_effect_of_the_ends_decays_within_settling() -> None:
    """Two records that share their middle differ there only within ``settling`` of the ends."""
    rng = np.random.default_rng(3)
    common = rng.normal(size=4000).cumsum()
    whole = LOWPASS.apply(common)
    part = LOWPASS.apply(common[1000:3000])
    off = np.abs(part - whole[1000:3000])
    at_the_end = max(off[0], off[-1])
    assert off[LOWPASS.settling : -LOWPASS.settling].max() < 0.1 * at_the_end
    assert off[LOWPASS.memory : -LOWPASS.memory].max(initial=0.0) < 1e-11 * np.abs(common).max()


def filter_in_pieces(lowpass: Lowpass, signal: np.ndarray, size: int, margin: int) -> np.ndarray:
    pieces = split_into_spans(0, len(signal), size, margin, len(signal))
    return np.concatenate([lowpass.apply(signal[piece.start : piece.stop])[piece.core] for piece in pieces])


@pytest.mark.parametrize("cutoff", [2.0, 10.0, 100.0])
@pytest.mark.parametrize("size", [700, 4096])
def test_pieces_equal_the_whole(cutoff: float, size: int) -> None:
    lowpass = Lowpass(cutoff, RATE)
    signal = np.random.default_rng(4).normal(size=(20000, 2)).cumsum(axis=0)
    whole = lowpass.apply(signal)
    scale = np.abs(signal).max()
    np.testing.assert_allclose(
        filter_in_pieces(lowpass, signal, size, lowpass.memory), whole, rtol=0.0, atol=1e-10 * scale
    )
    # The twin without margins fails, and so would one with margins of settling only.
    assert np.abs(filter_in_pieces(lowpass, signal, size, 0) - whole).max() > 1e-3
    assert np.abs(filter_in_pieces(lowpass, signal, size, lowpass.settling) - whole).max() > 1e-9 * scale


def test_spans_cover_every_sample_once() -> None:
    pieces = list(split_into_spans(10, 95, 20, 7, 100))
    assert pieces[0] == Span(10, 30, 3, 37)
    assert pieces[-1] == Span(90, 95, 83, 100)
    assert [row for piece in pieces for row in range(piece.core_start, piece.core_stop)] == list(range(10, 95))


def test_the_low_pass_before_decimation_prevents_aliasing() -> None:
    lowpass = Lowpass.before_decimation(RATE, 10)
    assert lowpass.cutoff == 40.0
    assert np.abs(lowpass.apply(np.sin(2 * np.pi * 90.0 * TIME))[get_interior(lowpass)]).max() < 2e-3


@pytest.mark.parametrize("cutoff", [0.0, -1.0, 451.0, float("nan")])
def test_impossible_cutoffs_are_refused(cutoff: float) -> None:
    with pytest.raises(InputError, match="at most 450 Hz"):
        replace(LOWPASS, cutoff=cutoff)
