"""Detecting two logs of the same trajectory: one log cannot validate a model that was fitted to the other.

The positions of both logs are resampled to the same time step and compared at all time shifts. At the best shift, the
mean square difference is compared with the mean square of the motion. One cross-correlation gives the differences at
all shifts.
"""

from __future__ import annotations

import math

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log, LogFindingCode, check_is_log
from ytheta.shapes import Float, Int, SamplesByJoint

# Number of samples to which the longer log is resampled for the comparison. Chosen on: rule of thumb.
GRID_POINTS = 2000
# Duration of the overlap divided by the duration of the shorter log, from which logs can repeat each other. Chosen on:
# rule of thumb.
MIN_OVERLAP = 0.5
# RMS difference divided by the RMS motion, up to which a log repeats another. Chosen on: repeated runs of recorded
# arms, which stay below 0.01.
MAX_DIFFERENCE = 0.05
# Mean square motion of the first log within the overlap, divided by that of the whole first log. If it is lower, the
# arm is at rest in the overlap, which is not a repetition. Chosen on: rule of thumb.
MIN_MOTION_SHARE = 0.5


def find_repeated_motion(first: Log, second: Log) -> Finding | None:
    """Return a warning if both logs contain the same motion, possibly shifted in time; otherwise None."""
    check_is_log(first)
    check_is_log(second)
    if first.joints != second.joints:
        raise InputError(
            f"{first.source or 'the first log'} and {second.source or 'the second log'} have different joints; "
            "use logs of the same robot"
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
    cross = _correlate(a, b)
    start, stop = np.maximum(shifts, 0), np.minimum(shifts + len(b), len(a))
    overlap = stop - start
    squares_a = _compute_sums_of_squares(a, start, stop)
    squares_b = _compute_sums_of_squares(b, start - shifts, stop - shifts)
    difference = np.maximum(squares_a + squares_b - 2.0 * cross, 0.0) / overlap
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
        f"{_format_shift(first, second, shift, step)} (RMS position difference {rms:.2g} rad)",
        remedy="it tests repeatability, but it cannot validate a model",
        fields={"rms_difference": rms, "shift": shift},
    )


def _format_shift(first: Log, second: Log, shift: float, step: float) -> str:
    """Return a text about the time shift between the two motions.

    Logs whose times do not overlap are assumed to share a clock; the text is then the delay of the second motion.
    Otherwise it is the time, relative to the start of the first log, at which the second log begins.
    """
    if first.t[-1] <= second.t[0] or second.t[-1] <= first.t[0]:
        delay = float(second.t[0] - first.t[0]) - shift
        return f" {abs(delay):.4g} s {'later' if delay > 0.0 else 'earlier'}"
    if abs(shift) <= 2.0 * step:
        return ""
    if shift > 0.0:
        return f", starting {shift:.2f} s into it"
    return f", starting {-shift:.2f} s before it"


def _resample(log: Log, step: float) -> SamplesByJoint:
    """Return the positions at equal time steps from the first row, without the place of a floating base.

    All free flights fall alike, by many metres. They differ in the motion of the joints and in the orientation.
    """
    grid = np.arange(log.t[0], log.t[-1], step)
    compared = [k for k, name in enumerate(log.joints) if name not in BASE_COORDINATES[:3]]
    return np.stack([np.interp(grid, log.t, log.q[:, k]) for k in compared], axis=1)


def _correlate(a: SamplesByJoint, b: Float[np.ndarray, "others joints"]) -> Float[np.ndarray, "shifts"]:
    """Return for each shift the sum over joints and rows k of a[k + shift] * b[k]; the first shift is 1 - len(b)."""
    count = len(a) + len(b) - 1
    size = 1 << (count - 1).bit_length()  # padded with zeros, so that the two ends do not overlap
    spectrum = np.fft.rfft(a, size, axis=0) * np.fft.rfft(b[::-1], size, axis=0)
    return np.fft.irfft(spectrum.sum(axis=1), size)[:count]


def _compute_sums_of_squares(
    values: SamplesByJoint, start: Int[np.ndarray, "shifts"], stop: Int[np.ndarray, "shifts"]
) -> Float[np.ndarray, "shifts"]:
    """Return for each shift the sum of the squares of rows ``start:stop``."""
    sums = np.concatenate(([0.0], np.cumsum(np.sum(values * values, axis=1))))
    return np.asarray(sums[stop] - sums[start])
