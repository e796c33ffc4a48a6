"""Whether two logs are the same trajectory: then one cannot validate a model that was fitted to the other.

Positions of both are laid on one even grid and shifted against each other; at the best shift they are compared with
the size of the motion itself. The mean square difference at all shifts at once is a correlation.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.shapes import SamplesByJoint

REPEATS = "repeats"  # the kind of the finding
GRID = 2000  # points of the longer log
OVERLAP = 0.5  # of the shorter log
SAME = 0.05  # of the motion's root mean square; two runs of one arm on one trajectory stay below 0.01


def find_repeated_motion(one: Log, other: Log) -> Finding | None:
    """A warning if both logs follow the same positions, perhaps shifted in time; else None."""
    from scipy.signal import correlate  # much to load, and only validation wants it

    if one.joints != other.joints:
        raise InputError(
            f"{one.source or 'one log'} and {other.source or 'the other'} have different joints; give one robot's logs"
        )
    if min(len(one), len(other)) < 2:
        return None
    step = max(one.t[-1] - one.t[0], other.t[-1] - other.t[0]) / GRID
    a, b = _even(one, step), _even(other, step)
    least = max(2, math.ceil(OVERLAP * min(len(a), len(b))))
    if min(len(a), len(b)) < least:
        return None
    centre = a.mean(axis=0)
    a, b = a - centre, b - centre
    shifts = np.arange(-(len(b) - 1), len(a))  # row k of b meets row k + shift of a
    cross = sum(correlate(a[:, k], b[:, k], mode="full", method="fft") for k in range(a.shape[1]))
    first, last = np.maximum(shifts, 0), np.minimum(shifts + len(b), len(a))
    overlap = last - first
    in_a = _window(a, first, last)
    in_b = _window(b, first - shifts, last - shifts)
    difference = np.maximum(in_a + in_b - 2.0 * np.asarray(cross), 0.0) / overlap
    size = float(np.mean(np.sum(a * a, axis=1)))
    rests = in_a / overlap < 0.5 * size  # two arms at rest are not the same motion
    difference[(overlap < least) | rests] = np.inf
    best = int(np.argmin(difference))
    if size == 0.0 or difference[best] > SAME**2 * size:
        return None
    rms = math.sqrt(difference[best] / a.shape[1])
    when = _when(one, other, float(shifts[best]) * step, step)
    text = (
        f"{other.source or 'the second log'} repeats the trajectory of {one.source or 'the first'}{when} (positions "
        f"within {rms:.2g} rad root mean square); it shows repeatability, not validity for other motions"
    )
    return Finding(LogFindingCode.REPEATED_MOTION, Severity.WARNING, text)


def _when(one: Log, other: Log, shift: float, step: float) -> str:
    """How much later by the clock; or, where each log has its own, how far into the other's motion one begins.

    One arm is in one place at a time: logs that share a clock do not overlap.
    """
    if one.t[-1] <= other.t[0] or other.t[-1] <= one.t[0]:
        later = float(other.t[0] - one.t[0]) - shift
        return f" {abs(later):.4g} s {'later' if later > 0.0 else 'earlier'}"
    if abs(shift) <= 2.0 * step:
        return ""
    return f", beginning {abs(shift):.2f} s {'after' if shift > 0.0 else 'before'} its start"


def _even(log: Log, step: float) -> SamplesByJoint:
    """Positions on an even grid from the log's first row."""
    grid = np.arange(log.t[0], log.t[-1], step)
    return np.stack([np.interp(grid, log.t, log.q[:, k]) for k in range(log.q.shape[1])], axis=1)


def _window(values: SamplesByJoint, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Sums of squares over rows first to last."""
    sums = np.concatenate(([0.0], np.cumsum(np.sum(values * values, axis=1))))
    return np.asarray(sums[last] - sums[first])
