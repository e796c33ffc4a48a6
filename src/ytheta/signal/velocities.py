"""Recorded velocities against positions: the velocity summed up over a window should be the way travelled.

Sums need no differentiation, so rounding and jitter hardly matter, and the ratio says what is wrong: 57.3 is a unit,
a thousand is a clock in milliseconds, a few percent is a bad gain or a filter.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.signal.log import Finding, Log, Weight
from ytheta.signal.scratch import scratch, steps_of

WINDOW = 0.25  # s
PAIRS = 20_000  # windows that are looked at
TOLERANCE = 0.03
LEAST_WAY = 2e-3  # rad or m, root of the mean square over the windows; less says nothing
CORRELATION = 0.9
DEGREES = 180.0 / math.pi
_NEAR = 0.05


def velocity_findings(log: Log) -> list[Finding]:
    """What is wrong with the recorded velocities, joint by joint in one finding."""
    if log.qd is None:
        return []
    ratios = _ratios(log)
    telling = {joint: ratio for joint, (ratio, _) in ratios.items()}
    for factor, weight, text in (
        (DEGREES, Weight.ERROR, 'velocities seem to be in degrees per second: write [scale] qd = "degrees"'),
        (1.0 / DEGREES, Weight.ERROR, 'positions seem to be in degrees: write [scale] q = "degrees"'),
        (1e3, Weight.ERROR, 'time seems to be in milliseconds: write [scale] t = "ms"'),
        (1e6, Weight.ERROR, 'time seems to be in microseconds: write [scale] t = "us"'),
        (1e9, Weight.ERROR, 'time seems to be in nanoseconds: write [scale] t = "ns"'),
    ):
        near = [joint for joint, ratio in telling.items() if abs(ratio / factor - 1.0) < _NEAR]
        if near and 2 * len(near) >= len(telling):
            figure = f"recorded velocity is {telling[near[0]]:.4g} times the differentiated position ({near[0]})"
            return [Finding("units", weight, f"{figure}; {text} in a mapping")]
    findings = []
    off = {joint: r for joint, (r, c) in ratios.items() if c >= CORRELATION and abs(r - 1.0) > TOLERANCE}
    if off:
        shown = ", ".join(f"{joint} {ratio:.3f}" for joint, ratio in off.items())
        text = (
            f"recorded velocity differs from the differentiated position by a factor ({shown}); differentiate q there"
        )
        findings.append(Finding("velocity", Weight.WARNING, text))
    strange = {joint: c for joint, (_, c) in ratios.items() if c < CORRELATION}
    if strange:
        shown = ", ".join(f"{joint} {c:.2f}" for joint, c in strange.items())
        text = (
            f"recorded velocity does not follow the position (correlation {shown}); check the columns' order and signs"
        )
        findings.append(Finding("velocity", Weight.WARNING, text))
    return findings


def _ratios(log: Log) -> dict[str, tuple[float, float]]:
    """Ratio and correlation of summed velocity and way travelled, for the joints that travel."""
    starts, window = _windows(log)
    found: dict[str, tuple[float, float]] = {}
    if log.qd is None or not len(starts):
        return found
    steps, summed = steps_of(log.t), scratch(len(log))
    for k, joint in enumerate(log.joints):
        speed = log.qd[:, k]
        np.add(speed[1:], speed[:-1], out=summed[1:])
        summed[1:] *= 0.5
        summed[1:] *= steps
        np.cumsum(summed[1:], out=summed[1:])
        way = log.q[starts + window, k] - log.q[starts, k]
        sums = summed[starts + window] - summed[starts]
        size = float(way @ way)
        if math.sqrt(size / len(starts)) > LEAST_WAY:
            ratio = float(sums @ way) / size
            both = math.sqrt(size * float(sums @ sums))
            found[joint] = (ratio, float(sums @ way) / both if both else 0.0)
    return found


def _windows(log: Log) -> tuple[np.ndarray, int]:
    """First rows of windows that lie within one segment, and their length in rows."""
    longest = max((last - first for first, last in log.segments), default=0)
    window = max(1, min(round(WINDOW * log.rate), longest // 4))
    stride = max(1, window // 2, len(log) // PAIRS)
    starts = [np.arange(first, last - window, stride) for first, last in log.segments if last - first > window]
    return (np.concatenate(starts) if starts else np.empty(0, dtype=np.int64)), window
