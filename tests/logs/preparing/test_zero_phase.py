"""Zero-phase filters give the numbers of SciPy's forward and backward filters, and those of their definition."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt, zpk2sos

from ytheta.errors import InputError
from ytheta.logs.preparing.derivatives import SmoothingSpline
from ytheta.logs.preparing.filters import BLOCK, MAX_FILTERED_SAMPLES, Lowpass, ZeroPhaseFilter, extend_by_reflection

RATE = 1000.0
CUTOFFS = (0.05, 1.0, 6.25, 40.0, 449.0)


def compute_tolerance(cutoff: float) -> float:
    """Rounding errors of second-order sections relative to the signal: those of SciPy, not ours."""
    return 1e-15 * (10.0 + (RATE / (2.0 * np.pi * cutoff)) ** 2)


def make_walk(channels: int, samples: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(channels, samples)).cumsum(axis=1)


@pytest.mark.parametrize("cutoff", CUTOFFS)
@pytest.mark.parametrize("order", [2, 4, 6])
def test_the_low_pass_is_that_of_scipy(order: int, cutoff: float) -> None:
    lowpass = Lowpass(cutoff, RATE, order)
    signal = make_walk(2, lowpass.memory + 3000)
    sections = butter(order, cutoff, fs=RATE, output="sos")
    theirs = sosfiltfilt(sections, signal, padlen=lowpass.memory)
    size = np.abs(signal).max()
    np.testing.assert_allclose(
        lowpass.apply_to_channels(signal), theirs, rtol=0.0, atol=compute_tolerance(cutoff) * size
    )
    # The twins: another cut-off, another order, and a pole that is wrong by 1 % of its distance from the circle.
    wrong = lowpass.filter.poles[0] * (1.0 - 0.01 * (1.0 - abs(lowpass.filter.poles[0])))
    poles = np.array([wrong, *lowpass.filter.poles[1:]])
    for other in (
        Lowpass(min(1.01 * cutoff, 0.45 * RATE), RATE, order).filter,
        Lowpass(cutoff, RATE, order + 2).filter,
        replace(lowpass.filter, poles=poles),
    ):
        assert np.abs(other.apply(signal, lowpass.memory) - theirs).max() > 1e3 * compute_tolerance(cutoff) * size


@pytest.mark.parametrize("cutoff", [0.5, 7.0, 100.0, 449.0])
@pytest.mark.parametrize("degree", [3, 5])
def test_the_spline_is_a_forward_and_backward_filter(degree: int, cutoff: float) -> None:
    spline = SmoothingSpline(cutoff, RATE, degree)
    poles = np.concatenate([spline.filter.poles, spline.filter.poles[spline.filter.poles.imag != 0.0].conj()])
    assert len(poles) == (degree + 1) // 2
    gain = float(np.real(np.prod(1.0 - poles)))
    signal = make_walk(2, spline.memory + 3000)
    theirs = sosfiltfilt(zpk2sos(np.zeros(len(poles)), poles, gain), signal, padlen=spline.memory)
    tolerance = 10.0 * compute_tolerance(cutoff) * np.abs(signal).max()
    np.testing.assert_allclose(spline.smooth(signal), theirs, rtol=0.0, atol=tolerance)
    twin = replace(spline.filter, weights=1.001 * spline.filter.weights).apply(signal, spline.memory)
    assert np.abs(twin - theirs).max() > 1e3 * tolerance


@pytest.mark.parametrize("cutoff", CUTOFFS)
@pytest.mark.parametrize("order", [2, 4, 6])
def test_the_impulse_response_has_the_gain_of_butterworth(order: int, cutoff: float) -> None:
    """At all frequencies, without a reference that rounds: the sum of the geometric series of the modes."""
    own = Lowpass(cutoff, RATE, order).filter
    frequency = np.array([0.0, 0.3, 0.9, 1.0, 1.5, 4.0]) * cutoff
    frequency = frequency[frequency < 0.5 * RATE]
    turns = np.exp(2j * np.pi * frequency / RATE)[:, np.newaxis]
    series = own.weights * ((own.poles / turns) / (1.0 - own.poles / turns) + 1.0)
    mirrored = own.weights * (own.poles * turns) / (1.0 - own.poles * turns)
    conjugate = np.conj(own.weights) * (
        np.conj(own.poles) / turns / (1.0 - np.conj(own.poles) / turns)
        + 1.0
        + np.conj(own.poles) * turns / (1.0 - np.conj(own.poles) * turns)
    )
    gain = own.direct + 0.5 * (series + mirrored + conjugate).sum(axis=1)
    ratio = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * cutoff / RATE)
    np.testing.assert_allclose(gain, 1.0 / (1.0 + ratio ** (2 * order)), rtol=0.0, atol=1e-11)
    assert np.abs(gain - 1.0 / (1.0 + ratio ** (2 * order + 2))).max() > 1e-5


@pytest.mark.parametrize("samples", [1, 2, 3, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 7])
@pytest.mark.parametrize("reach", [1, 10, 400])
def test_the_output_is_the_sum_of_its_definition(samples: int, reach: int) -> None:
    """Short signals, partial blocks, repeated reflection: compared with the convolution written out."""
    own = ZeroPhaseFilter(np.array([0.9 + 0.1j, -0.4]), np.array([0.2 - 0.3j, 0.1]), 0.25)
    signal = make_walk(3, samples, seed=samples)
    beyond = 600  # constants; 0.91^600 is 1e-25
    extended = np.pad(extend_by_reflection(signal, reach, reach), ((0, 0), (beyond, beyond)), mode="edge")
    lag = np.arange(-(beyond + reach), beyond + reach + 1)
    response = np.real(own.weights * own.poles ** np.abs(lag)[:, np.newaxis]).sum(axis=1) + 0.25 * (lag == 0)
    padded = np.pad(extended, ((0, 0), (samples, samples)), mode="edge")
    start = beyond + reach + samples
    expected = [
        [row[start + k - beyond - reach : start + k + beyond + reach + 1] @ response for k in range(samples)]
        for row in padded
    ]
    filtered = own.apply(signal, reach)
    np.testing.assert_allclose(filtered, expected, rtol=0.0, atol=1e-11 * (1.0 + np.abs(signal).max()))
    if samples > 2 and reach < 50:  # the twin: another extension
        assert np.abs(own.apply(signal, reach + 1) - expected).max() > 1e-4


def test_channels_are_filtered_alike_in_groups() -> None:
    """More channels than fit into one group."""
    own = Lowpass(20.0, RATE)
    signal = make_walk(5, MAX_FILTERED_SAMPLES // 2 - 10)
    filtered = own.apply_to_channels(signal)
    for k in range(5):
        np.testing.assert_allclose(
            filtered[k : k + 1], own.apply_to_channels(signal[k : k + 1]), rtol=0.0, atol=1e-13 * np.abs(signal).max()
        )


@pytest.mark.parametrize("order", [0, 1, 3])
def test_odd_orders_are_refused(order: int) -> None:
    with pytest.raises(InputError, match="choose an even number such as 4"):
        Lowpass(10.0, RATE, order)


def test_preparing_does_not_import_scipy() -> None:
    code = """
import sys
import ytheta.logs.reading.read, ytheta.logs.preparing.prepared_log, ytheta.logs.checking.check
from ytheta.logs.preparing.filters import Lowpass
from ytheta.logs.preparing.derivatives import SmoothingSpline
import numpy as np
Lowpass(10.0, 100.0).apply(np.arange(50.0))
SmoothingSpline(10.0, 100.0).smooth(np.arange(50.0)[np.newaxis])
assert not [name for name in sys.modules if name.partition(".")[0] == "scipy"]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
