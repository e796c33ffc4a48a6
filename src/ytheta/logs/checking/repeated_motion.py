"""Whether two logs follow the same trajectory, so that one cannot validate a model that was fitted to the other.

The positions of both logs are resampled to one even grid and shifted against each other in time. At the best shift, the
mean square difference is compared with the size of the motion. A correlation gives the differences at all shifts.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.shapes import Float, Int, SamplesByJoint

GRID_POINTS = 2000  # of the longer log
MIN_OVERLAP = 0.5  # of the shorter log
MAX_DIFFERENCE = 0.05  # of the motion's root mean square; two runs of one arm on one trajectory stay below 0.01
MIN_MOTION_SHARE = 0.5  # of the first log's mean square, in the overlap: two arms at rest do not repeat each other


def find_repeated_motion(first: Log, second: Log) -> Finding | None:
    """Return a warning if both logs follow the same positions, possibly shifted in time; else None."""
    from scipy.signal import correlate  # slow to load, and only validation needs it

    if first.joints != second.joints:
        raise InputError(
            f"{first.source or 'the first log'} and {second.source or 'the second log'} have different joints; "
            "give logs of one robot"
        )
    if min(len(first), len(second)) < 2:
        return None
    step = max(first.t[-1] - first.t[0], second.t[-1] - second.t[0]) / GRID_POINTS
    a, b = _resample(first, step), _resample(second, step)
    min_overlap = max(2, math.ceil(MIN_OVERLAP * min(len(a), len(b))))
    if min(len(a), len(b)) < min_overlap:
        return None
    centre = a.mean(axis=0)
    a, b = a - centre, b - centre
    shifts = np.arange(-(len(b) - 1), len(a))  # row k of b is compared with row k + shift of a
    cross = sum(correlate(a[:, k], b[:, k], mode="full", method="fft") for k in range(a.shape[1]))
    begin, end = np.maximum(shifts, 0), np.minimum(shifts + len(b), len(a))
    overlap = end - begin
    squares_a = _compute_sums_of_squares(a, begin, end)
    squares_b = _compute_sums_of_squares(b, begin - shifts, end - shifts)
    difference = np.maximum(squares_a + squares_b - 2.0 * np.asarray(cross), 0.0) / overlap
    size = float(np.mean(np.sum(a * a, axis=1)))
    resting = squares_a / overlap < MIN_MOTION_SHARE * size
    difference[(overlap < min_overlap) | resting] = np.inf
    best = int(np.argmin(difference))
    if size == 0.0 or difference[best] > MAX_DIFFERENCE**2 * size:
        return None
    rms = math.sqrt(difference[best] / a.shape[1])
    shift = float(shifts[best]) * step
    return Finding(
        LogFindingCode.REPEATED_MOTION,
        Severity.WARNING,
        f"{second.source or 'the second log'} repeats the trajectory of {first.source or 'the first'}"
        f"{_format_shift(first, second, shift, step)} (positions within {rms:.2g} rad root mean square)",
        remedy="it shows repeatability, not validity for other motions",
        fields={"rms_difference": rms, "shift": shift},
    )


def _format_shift(first: Log, second: Log, shift: float, step: float) -> str:
    """How much later the motion came again; or, if each log has its own clock, how far into the first it begins.

    Logs whose times do not overlap share a clock, since one arm is in one place at a time.
    """
    if first.t[-1] <= second.t[0] or second.t[-1] <= first.t[0]:
        delay = float(second.t[0] - first.t[0]) - shift
        return f" {abs(delay):.4g} s {'later' if delay > 0.0 else 'earlier'}"
    if abs(shift) <= 2.0 * step:
        return ""
    return f", beginning {abs(shift):.2f} s {'after' if shift > 0.0 else 'before'} its start"


def _resample(log: Log, step: float) -> SamplesByJoint:
    """Positions on an even grid that begins at the log's first row."""
    grid = np.arange(log.t[0], log.t[-1], step)
    return np.stack([np.interp(grid, log.t, log.q[:, k]) for k in range(log.q.shape[1])], axis=1)


def _compute_sums_of_squares(
    values: SamplesByJoint, begin: Int[np.ndarray, "shifts"], end: Int[np.ndarray, "shifts"]
) -> Float[np.ndarray, "shifts"]:
    """Sums of squares over rows begin, …, end - 1."""
    sums = np.concatenate(([0.0], np.cumsum(np.sum(values * values, axis=1))))
    return np.asarray(sums[end] - sums[begin])
