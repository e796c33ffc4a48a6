"""Periodic motion: the length of one period, and the mean of all periods.

Averaging n periods divides the noise by sqrt(n) without filtering. Periods are averaged only on request, because the
mean hides drift, for example of the friction while the drives warm up.
"""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.resample import Grid
from ytheta.shapes import Float, PerSample, SamplesByJoint

# The dissimilarity of the motion and the same motion one lag later is defined in ``_compute_dissimilarity``.

# Largest dissimilarity at a lag of one period. Chosen on: rule of thumb.
MAX_DISSIMILARITY = 0.02
# The period is the shortest lag at which the dissimilarity has a local minimum of at most this factor times the global
# minimum. Chosen on: rule of thumb.
MAX_RATIO_TO_SMALLEST = 4.0
# Dissimilarity below which differences are rounding errors. Chosen on: reasoning.
MIN_DISSIMILARITY = 1e-6
# Any slow motion resembles itself at short lags. Therefore lags shorter than the first one whose dissimilarity exceeds
# this value are not periods. Chosen on: reasoning; half of what unrelated motions have.
PEAK_DISSIMILARITY = 0.5
MAX_SAMPLES = 65536  # samples that are compared; longer segments are decimated; affects only time
# Fewest samples that are compared. Chosen on: rule of thumb.
MIN_SAMPLES = 8
# Number of complete periods that are needed. Chosen on: reasoning; one period cannot show that it repeats.
MIN_PERIODS = 2
# Part of the last period that may be missing. Chosen on: reasoning; two periods of 10 s recorded at 100 Hz may end at
# 19.99 s.
MAX_MISSING_SHARE = 2e-3


def find_period(log: Log, grid: Grid) -> float | None:
    """Return the period of the motion in seconds, from the autocorrelation of the positions; None if there is none."""
    dissimilarity, step = _compute_dissimilarity(log, grid)
    count = len(dissimilarity)
    stop = min(int(count / (MIN_PERIODS - MAX_MISSING_SHARE)) + 1, count - 1)
    start = int(np.argmax(dissimilarity[:stop] > PEAK_DISSIMILARITY)) if count else 0
    lags = np.arange(max(start, 1), stop)
    if not start or not len(lags):
        return None
    smallest = float(dissimilarity[lags].min())
    if smallest > MAX_DISSIMILARITY:
        return None
    at_lags = dissimilarity[lags]
    minima = lags[(at_lags <= dissimilarity[lags - 1]) & (at_lags <= dissimilarity[lags + 1])]
    minima = minima[dissimilarity[minima] <= max(MAX_RATIO_TO_SMALLEST * smallest, MIN_DISSIMILARITY)]
    if not len(minima):
        return None
    lag = int(minima[0])
    before, at_lag, after = dissimilarity[lag - 1 : lag + 2]
    curvature = before - 2.0 * at_lag + after
    shift = 0.5 * (before - after) / curvature if curvature > 0.0 else 0.0
    return float((lag + shift) * step)


def check_period(log: Log, grid: Grid, period: float) -> None:
    """Raise InputError if the motion does not repeat itself after a period. For an arm at rest, accept any period."""
    dissimilarity, step = _compute_dissimilarity(log, grid)
    lag = period / step
    if not 0.0 < lag < len(dissimilarity) - 1:
        return  # if the period is too long, ``average_periods`` refuses it
    peak = int(np.argmax(dissimilarity > PEAK_DISSIMILARITY))
    if lag < peak or min(dissimilarity[int(lag)], dissimilarity[int(lag) + 1]) > MAX_DISSIMILARITY:
        raise InputError(
            f"{log.source or 'log'}: the motion does not repeat itself after {period:.5g} s; turn averaging off, give "
            'the right period, or use "auto" to find it'
        )


def _compute_dissimilarity(log: Log, grid: Grid) -> tuple[Float[np.ndarray, " lags"], float]:
    """Return the dissimilarity at each lag, and the seconds from one lag to the next.

    The dissimilarity is the mean square difference between the motion and the same motion one lag later, divided by
    twice the variance of the motion. It is computed from the joints that move in the longest segment; if no joint
    moves, the array is empty.
    """
    segment = max(log.segments, key=lambda segment: segment[1] - segment[0])
    length = grid.count_samples(log, segment)
    stride = -(-length // MAX_SAMPLES)
    (samples,) = grid.sample(log, segment, 0, length, (log.q,))
    x = samples[:, ::stride]
    x = x - x.mean(axis=1, keepdims=True)
    spread = x.std(axis=1, keepdims=True)
    x = x[spread[:, 0] > 0.0] / spread[spread[:, 0] > 0.0]
    count = x.shape[1]
    if count < MIN_SAMPLES or not len(x):
        return np.empty(0), stride * grid.step
    # mean (x[i + lag] - x[i])^2 = (energy of x[lag:] and x[:-lag] - 2 * correlation) / overlap; one Fourier transform
    # gives the correlation at all lags.
    size = 2 ** int(np.ceil(np.log2(2 * count)))
    correlation = np.fft.irfft(np.abs(np.fft.rfft(x, size, axis=1)) ** 2, size, axis=1)[:, :count].sum(axis=0)
    energy = np.concatenate([[0.0], np.cumsum((x**2).sum(axis=0))])
    lags = np.arange(count)
    energies = energy[count - lags] + energy[count] - energy[lags]
    return (energies - 2.0 * correlation) / (2.0 * len(x) * (count - lags)), stride * grid.step


def average_periods(log: Log, grid: Grid, period: float, margin: int) -> tuple[Log, Grid]:
    """Return the mean of all periods of the longest segment as a log, and the grid of this log.

    The mean is extended periodically by ``margin`` samples at each end.
    """
    segment = max(log.segments, key=lambda segment: segment[1] - segment[0])
    length = grid.count_samples(log, segment)
    periods = int(length * grid.step / period + MAX_MISSING_SHARE) if period > 0.0 else 0
    if periods < MIN_PERIODS:
        raise InputError(
            f"{log.source or 'log'}: {(length - 1) * grid.step:.4g} s are shorter than two periods of "
            f"{period:.4g} s; turn averaging off or give the right period"
        )
    count = max(2, round(period / grid.step))
    step = period / count
    resampled = np.arange(periods * count) * step
    continued = np.arange(-margin, count + margin) % count
    sampled = grid.step * np.arange(length)

    def average(signal: SamplesByJoint) -> Float[np.ndarray, "period joints"]:
        (samples,) = grid.sample(log, segment, 0, length, (signal,))
        means = [np.interp(resampled, sampled, column).reshape(periods, count).mean(axis=0) for column in samples]
        return np.stack([mean[continued] for mean in means], axis=1)

    finding = Finding(
        LogFindingCode.PERIODS,
        Severity.NOTE,
        f"{periods} periods of {period:.5g} s were averaged, which divides noise by {np.sqrt(periods):.3g}",
        fields={"periods": periods, "period": period},
    )
    times: PerSample = log.t[segment[0]] + step * np.arange(-margin, count + margin)
    mean = Log(
        joints=log.joints,
        t=times,
        q=average(log.q),
        tau=None if log.tau is None else average(log.tau),
        qd=None if log.qd is None else average(log.qd),
        source=log.source,
        findings=(*log.findings, finding),
    )
    return mean, Grid(step)
