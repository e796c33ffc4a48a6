"""Periodic motion: the length of one period, and the mean of all periods.

Averaging n periods divides noise by sqrt(n) before any filter and without any lag. It is done only on request, since
the mean would hide drift and friction that changes as the drives warm up.
"""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.logs.preparing.resample import Grid
from ytheta.shapes import Float, PerSample, SamplesByJoint

MAX_DISSIMILARITY = 0.02  # of motions one period apart
MAX_RATIO_TO_BEST = 4.0  # a shorter lag is the period if its dissimilarity is at most this many times the least
MIN_DISSIMILARITY = 1e-6  # less is rounding
PEAK_DISSIMILARITY = (
    0.5  # reached before the motion can repeat itself: a slow motion is similar to itself a moment later
)
MAX_SAMPLES = 65536  # compared
MIN_SAMPLES = 8
MAX_PERIOD_SHARE = 0.5  # of the segment: two complete periods are needed


def find_period(log: Log, grid: Grid) -> float | None:
    """The seconds after which the motion repeats itself, or None; from the autocorrelation of the positions."""
    dissimilarity, step = _compute_dissimilarity(log, grid)
    count = len(dissimilarity)
    end = int(MAX_PERIOD_SHARE * (count - 1)) + 1
    begin = int(np.argmax(dissimilarity[:end] > PEAK_DISSIMILARITY)) if count else 0
    lags = np.arange(max(begin, 1), end)
    if not begin or not len(lags):
        return None
    best = float(dissimilarity[lags].min())
    if best > MAX_DISSIMILARITY:
        return None
    at_lags = dissimilarity[lags]
    minima = lags[(at_lags <= dissimilarity[lags - 1]) & (at_lags <= dissimilarity[lags + 1])]
    minima = minima[dissimilarity[minima] <= max(MAX_RATIO_TO_BEST * best, MIN_DISSIMILARITY)]
    if not len(minima):
        return None
    lag = int(minima[0])
    before, at_lag, after = dissimilarity[lag - 1 : lag + 2]
    curvature = before - 2.0 * at_lag + after
    shift = 0.5 * (before - after) / curvature if curvature > 0.0 else 0.0
    return float((lag + shift) * step)


def check_period(log: Log, grid: Grid, period: float) -> None:
    """Refuse a period after which the motion does not repeat itself; an arm at rest always does."""
    dissimilarity, step = _compute_dissimilarity(log, grid)
    lag = period / step
    if not 0.0 < lag < len(dissimilarity) - 1:
        return  # too long, which ``average_periods`` refuses
    peak = int(np.argmax(dissimilarity > PEAK_DISSIMILARITY))
    if lag < peak or min(dissimilarity[int(lag)], dissimilarity[int(lag) + 1]) > MAX_DISSIMILARITY:
        raise InputError(
            f"{log.source or 'log'}: the motion does not repeat itself after {period:.5g} s; leave averaging off, give "
            'the right period, or use "auto" to find it'
        )


def _compute_dissimilarity(log: Log, grid: Grid) -> tuple[Float[np.ndarray, "lags"], float]:
    """For each lag, half the mean square difference between the motion and itself after the lag, by its variance.

    Only joints that move in the longest segment count; the array is empty if none does. Also returns the seconds of a
    lag.
    """
    segment = max(log.segments, key=lambda ends: ends[1] - ends[0])
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
    # mean (x[i + lag] - x[i])^2 = (energies of both ends - 2 * correlation) / overlap, at all lags by one transform.
    size = 2 ** int(np.ceil(np.log2(2 * count)))
    correlation = np.fft.irfft(np.abs(np.fft.rfft(x, size, axis=1)) ** 2, size, axis=1)[:, :count].sum(axis=0)
    energy = np.concatenate([[0.0], np.cumsum((x**2).sum(axis=0))])
    lags = np.arange(count)
    ends = energy[count - lags] + energy[count] - energy[lags]
    return (ends - 2.0 * correlation) / (2.0 * len(x) * (count - lags)), stride * grid.step


def average_periods(log: Log, grid: Grid, period: float, margin: int) -> tuple[Log, Grid]:
    """The mean period of the longest segment, continued periodically for ``margin`` samples at both ends."""
    segment = max(log.segments, key=lambda ends: ends[1] - ends[0])
    length = grid.count_samples(log, segment)
    periods = int((length - 1) * grid.step / period + 1e-6) if period > 0.0 else 0
    if periods < 2:
        raise InputError(
            f"{log.source or 'log'}: {(length - 1) * grid.step:.4g} s are shorter than two periods of "
            f"{period:.4g} s; leave averaging off or give the right period"
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
        f"{periods} periods of {period:.5g} s are averaged, which divides noise by {np.sqrt(periods):.3g}",
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
