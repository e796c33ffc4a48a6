"""Repeated motion: how long one period takes, and the mean of all of them.

Averaging n periods leaves what repeats and divides what does not by sqrt(n), before any filter and without any lag.
Only on request: friction that warms up and drift do not repeat, and the mean would hide them.
"""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.logs.preparing.resample import Grid
from ytheta.shapes import Float, PerSample, SamplesByJoint

REPEATS = 0.02  # of the variance: the largest mean square difference of motions one period apart, halved
ALMOST = 4.0  # a shorter lag is the period if it repeats at most this much worse than the best
LONGEST = 65536  # samples looked at
MOST = 0.5  # of the segment: two complete periods are needed


def find_period(log: Log, grid: Grid) -> float | None:
    """Seconds after which the motion repeats itself at least once, or None; by autocorrelation of the positions."""
    unlike, step = _unlikeness(log, grid)
    count = len(unlike)
    top = int(MOST * (count - 1)) + 1
    # The walk begins beyond the first hill: a slow motion resembles itself a moment later.
    begin = int(np.argmax(unlike[:top] > 0.5)) if count else 0
    inner = np.arange(max(begin, 1), top)
    if not begin or not len(inner):
        return None
    best = float(unlike[inner].min())
    if best > REPEATS:
        return None
    dips = inner[(unlike[inner] <= unlike[inner - 1]) & (unlike[inner] <= unlike[inner + 1])]
    dips = dips[unlike[dips] <= max(ALMOST * best, 1e-6)]
    if not len(dips):
        return None
    lag = int(dips[0])
    before, here, after = unlike[lag - 1 : lag + 2]
    bend = before - 2.0 * here + after
    shift = 0.5 * (before - after) / bend if bend > 0.0 else 0.0
    return float((lag + shift) * step)


def check_period(log: Log, grid: Grid, period: float) -> None:
    """An error if the motion is another one after a period that was given; rest repeats itself always."""
    unlike, step = _unlikeness(log, grid)
    lag = period / step
    if not 0.0 < lag < len(unlike) - 1:
        return  # too long, which averaging says itself
    hill = int(np.argmax(unlike > 0.5))  # before it, a slow motion only resembles itself
    if lag < hill or min(unlike[int(lag)], unlike[int(lag) + 1]) > REPEATS:
        raise InputError(
            f"{log.source or 'log'}: the motion does not repeat itself after {period:.5g} s; leave averaging off, give "
            'the right period, or let "auto" look for it'
        )


def _unlikeness(log: Log, grid: Grid) -> tuple[Float[np.ndarray, "lags"], float]:
    """Mean square difference of the motion and itself some lags later, halved, by its variance; seconds of a lag.

    Of the joints that move in the longest segment; empty where none does.
    """
    segment = max(log.segments, key=lambda ends: ends[1] - ends[0])
    length = grid.length(log, segment)
    stride = -(-length // LONGEST)
    (samples,) = grid.sample(log, segment, 0, length, (log.q,))
    x = samples[:, ::stride]
    x = x - x.mean(axis=1, keepdims=True)
    spread = x.std(axis=1, keepdims=True)
    x = x[spread[:, 0] > 0.0] / spread[spread[:, 0] > 0.0]
    count = x.shape[1]
    if count < 8 or not len(x):
        return np.empty(0), stride * grid.step
    # mean (x[i + lag] - x[i])^2 = (energies of both ends - 2 * correlation) / overlap, all lags by one transform.
    size = 2 ** int(np.ceil(np.log2(2 * count)))
    correlation = np.fft.irfft(np.abs(np.fft.rfft(x, size, axis=1)) ** 2, size, axis=1)[:, :count].sum(axis=0)
    energy = np.concatenate([[0.0], np.cumsum((x**2).sum(axis=0))])
    lags = np.arange(count)
    ends = energy[count - lags] + energy[count] - energy[lags]
    return (ends - 2.0 * correlation) / (2.0 * len(x) * (count - lags)), stride * grid.step


def average_periods(log: Log, grid: Grid, period: float, margin: int) -> tuple[Log, Grid]:
    """One mean period, continued by itself for ``margin`` samples at both ends, from the longest segment."""
    segment = max(log.segments, key=lambda ends: ends[1] - ends[0])
    length = grid.length(log, segment)
    periods = int((length - 1) * grid.step / period + 1e-6) if period > 0.0 else 0
    if periods < 2:
        raise InputError(
            f"{log.source or 'log'}: {(length - 1) * grid.step:.4g} s hold no two periods of {period:.4g} s; "
            f"leave averaging off or give the right period"
        )
    count = max(2, round(period / grid.step))
    step = period / count
    at = np.arange(periods * count) * step
    around = np.arange(-margin, count + margin) % count
    ticks = grid.step * np.arange(length)

    def fold(signal: SamplesByJoint) -> Float[np.ndarray, "period joints"]:
        (samples,) = grid.sample(log, segment, 0, length, (signal,))
        means = [np.interp(at, ticks, column).reshape(periods, count).mean(axis=0)[around] for column in samples]
        return np.stack(means, axis=1)

    text = f"{periods} periods of {period:.5g} s averaged: what does not repeat is divided by {np.sqrt(periods):.3g}"
    times: PerSample = log.t[segment[0]] + step * np.arange(-margin, count + margin)
    mean = Log(
        joints=log.joints,
        t=times,
        q=fold(log.q),
        tau=None if log.tau is None else fold(log.tau),
        qd=None if log.qd is None else fold(log.qd),
        source=log.source,
        findings=(*log.findings, Finding("periods", Severity.NOTE, text)),
    )
    return mean, Grid(step)
