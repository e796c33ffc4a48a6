"""Spectra of positions and recorded velocities in windows of a log, and the valley between motion and noise.

The spectrum of the acceleration has two peaks: one of the motion and, at higher frequencies, one of the noise, because
differentiating twice multiplies amplitudes by the square of the frequency. The minimum between the two peaks is called
the valley; it separates motion from noise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ytheta.logs.log import Log
from ytheta.logs.preparing.resample import Grid
from ytheta.shapes import ChannelsBySample, Float, PerEdge, PerLine, SamplesByJoint, Shaped

WINDOW_SECONDS = 16.0  # s; long enough to resolve motion at 0.25 Hz
MAX_WINDOWS = 16  # limited, so that the computing time does not depend on the length of the log
MIN_SAMPLES = 64  # minimum number of samples for a spectrum
MAX_CUTOFF_RATIO = 0.4  # maximum cut-off divided by the sampling rate
BIN_RATIO = 1.5  # upper edge of a bin divided by its lower edge; bins should contain a line of periodic motion
LOBE_WIDTH = 3.0  # width of the window's main lobe, in spectral lines


def choose_window_size(log: Log, grid: Grid) -> int:
    """Return the number of samples of a window; fewer than MIN_SAMPLES if no segment is long enough."""
    longest = max((grid.count_samples(log, segment) for segment in log.segments), default=0)
    return min(max(int(WINDOW_SECONDS * grid.rate), MIN_SAMPLES), longest)


def make_taper(size: int) -> Float[np.ndarray, "samples"]:
    """Return the window function for ``size`` samples after they were differenced or averaged in pairs."""
    return np.asarray(np.kaiser(size, 9.0)[:-1])  # side lobes of 1e-7, so that the motion does not leak into the noise


def sample_windows(
    log: Log, grid: Grid, size: int, signals: tuple[SamplesByJoint, ...]
) -> Iterator[tuple[ChannelsBySample, ...]]:
    """Yield the signals in at most ``MAX_WINDOWS`` windows of equal length, distributed evenly across the log.

    Segments shorter than a window are left out, because they do not resolve low frequencies.
    """
    starts = [
        (segment, start)
        for segment in log.segments
        for start in range(0, grid.count_samples(log, segment) - size + 1, max(1, size // 2))
    ]
    for index in np.unique(np.linspace(0, len(starts) - 1, min(MAX_WINDOWS, len(starts))).astype(int)):
        segment, start = starts[index]
        yield tuple(grid.sample(log, segment, start, start + size, signals))


def transform(
    signal: ChannelsBySample, taper: Float[np.ndarray, "samples"], rate: float
) -> Shaped[np.ndarray, "channels lines"]:
    """Return the Fourier transform of a signal without its mean; the squared magnitude is a power per Hz."""
    centred = signal - signal.mean(axis=1, keepdims=True)
    lines = np.fft.rfft(centred * taper, axis=1)
    lines *= np.sqrt(2.0 / (rate * (taper @ taper)))  # adds the energy of the negative frequencies
    lines[:, 0] *= np.sqrt(0.5)
    return np.asarray(lines)


def compute_bin_edges(frequency: PerLine, rate: float) -> PerEdge:
    """Return the edges of logarithmic bins, from the edge of the main lobe around zero to the maximum cut-off."""
    lowest, highest = LOBE_WIDTH * float(frequency[0]), MAX_CUTOFF_RATIO * rate
    return np.geomspace(lowest, highest, max(3, int(np.log(highest / lowest) / np.log(BIN_RATIO)) + 1))


def find_valley(frequency: PerLine, velocity: PerLine, acceleration: PerLine, edges: PerEdge) -> float:
    """Return the frequency above the peak of the velocity spectrum at which the acceleration spectrum is smallest."""
    index = np.digitize(frequency, edges)
    bins = [index == i for i in range(1, len(edges)) if (index == i).any()]
    peak = int(np.argmax([velocity[lines].mean() for lines in bins]))
    levels = [acceleration[lines].mean() for lines in bins[peak:]]
    return float(frequency[bins[peak + int(np.argmin(levels))]].mean())
