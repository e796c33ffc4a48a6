"""Recorded velocities against positions: the velocity summed up over a window should be the way travelled.

Sums need no differentiation, so rounding and jitter hardly matter, and the ratio says what is wrong: 57.3 is a unit,
a thousand is a clock in milliseconds, a few percent is a bad gain or a filter.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.units import CLOCKS, in_degrees
from ytheta.logs.log import Log
from ytheta.logs.temporary import scratch, steps_of
from ytheta.robot.robot import Robot

WINDOW, ROWS = 0.25, 25  # s, and rows at least: with a clock in milliseconds, a quarter of a second is no time
PAIRS = 20_000  # windows that are looked at
TOLERANCE = 0.03
LEAST_WAY = 2e-3  # rad or m, root of the mean square over the windows; less says nothing
CORRELATION = 0.9
DEGREES = 180.0 / math.pi
_NEAR = 0.05


def velocity_findings(log: Log, robot: Robot) -> list[Finding]:
    """What is wrong with the recorded velocities, joint by joint in one finding."""
    if log.qd is None:
        return []
    ratios = _ratios(log)
    telling = {joint: ratio for joint, (ratio, _) in ratios.items()}
    for factor in (DEGREES, 1.0 / DEGREES, *CLOCKS):
        near = [joint for joint, ratio in telling.items() if abs(ratio / factor - 1.0) < _NEAR]
        if near and 2 * len(near) >= len(telling):
            figure = f"recorded velocity is {telling[near[0]]:.4g} times the differentiated position ({near[0]})"
            if factor in CLOCKS:
                unit, word = CLOCKS[factor]
                text = f'time seems to be in {unit}: write [scale] t = "{word}"'
            else:
                words = in_degrees(robot, near, others_known=[joint for joint in telling if joint not in near])
                what, key = ("velocities", "qd") if factor == DEGREES else ("positions", "q")
                text = f"{what} seem to be in degrees: write [scale] {key} = {words}"
            return [Finding("units", Severity.ERROR, f"{figure}; {text} in a mapping")]
    findings = []
    off = {joint: r for joint, (r, c) in ratios.items() if c >= CORRELATION and abs(r - 1.0) > TOLERANCE}
    if off:
        shown = ", ".join(f"{joint} {ratio:.3f}" for joint, ratio in off.items())
        text = (
            f"recorded velocity differs from the differentiated position by a factor ({shown}); velocity is taken from "
            "position there, unless the recorded one is asked for"
        )
        findings.append(Finding("velocity", Severity.WARNING, text, names=tuple(off)))
    strange = {joint: c for joint, (_, c) in ratios.items() if c < CORRELATION}
    if strange:
        shown = ", ".join(f"{joint} {c:.2f}" for joint, c in strange.items())
        text = (
            f"recorded velocity does not follow the position (correlation {shown}); check the columns' order and "
            "signs; velocity is taken from position there, unless the recorded one is asked for"
        )
        findings.append(Finding("velocity", Severity.WARNING, text, names=tuple(strange)))
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
    window = max(1, min(max(round(WINDOW * log.rate), ROWS), longest // 4))
    stride = max(1, window // 2, len(log) // PAIRS)
    starts = [np.arange(first, last - window, stride) for first, last in log.segments if last - first > window]
    return (np.concatenate(starts) if starts else np.empty(0, dtype=np.int64)), window
