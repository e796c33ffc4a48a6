"""Resampling a log to equal time steps, segment by segment.

Grid         Filters need equal time steps. If the timestamps are equally spaced, the rows are the samples. If the
             timestamps jitter, there are two cases. If the sampling was uneven and the timestamps are right, the log is
             interpolated between the timestamps. If the sampling was even, but a busy computer recorded late
             timestamps, the timestamps are ignored. The positions distinguish the two cases, since the motion is smooth
             only with the right times. Rows are treated as equally spaced if no timestamp deviates by more than half a
             step and if equal spacing at least halves the third differences of the positions. In the logs of a
             KUKA LWR4+, equal spacing divides the third differences by 100.
Held rows    If a log was not checked and has many held rows (see ``checking.rows``), these rows are dropped before
             the grid is chosen.
Why linear   Linear interpolation uses only two rows, so that pieces need no margin, and does not amplify noise. It was
             compared with cubic spline, Akima and PCHIP interpolation on logs with jitter of UR10e, Panda and dVRK. The
             torque errors on validation data differ by at most 0.02 % for UR10e and Panda; for the noisy dVRK, linear
             interpolation is best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.checking.rows import find_held_rows
from ytheta.logs.log import Log, LogFindingCode, apply_edits
from ytheta.shapes import Int, JointsByGrid, PerSample, SamplesByJoint

# Deviation from a uniform grid, in steps, up to which timestamps count as equally spaced. Chosen on: rule of thumb.
MAX_EVEN_DEVIATION = 1e-3
# Deviation from a uniform grid, in steps, above which the sampling itself was uneven. Chosen on: reasoning; rows closer
# to another grid point are not those of an even sampling.
MAX_TIMESTAMP_DELAY = 0.5
# Ratio of the third differences of the positions taken by row to those taken by timestamp; if it is below this value,
# the timestamps are ignored. Chosen on: recorded logs of a KUKA LWR4+, with 0.01.
MAX_ROUGHNESS_RATIO = 0.5
# Share of held rows up to which they are not dropped. Chosen on: rule of thumb.
MIN_HELD_SHARE = 0.01
# Size and approximate number of the windows in which roughness is computed. Affects only time.
WINDOW_ROWS, MAX_WINDOWS = 8192, 8


@dataclass(frozen=True)
class Grid:
    """Equally spaced samples of a log: the rows if ``by_rows``; otherwise interpolated between the timestamps."""

    step: float
    by_rows: bool = True

    @property
    def rate(self) -> float:
        """Samples per second."""
        return 1.0 / self.step

    def count_samples(self, log: Log, segment: tuple[int, int]) -> int:
        """Return the number of samples of a segment."""
        first, end = segment
        if self.by_rows or end - first < 2:
            return end - first
        # With the tolerance, the last row counts as a sample if it is on the grid up to rounding errors.
        return int((log.t[end - 1] - log.t[first]) / self.step + 1e-6) + 1

    def compute_times(self, log: Log, segment: tuple[int, int], start: int, stop: int) -> PerSample:
        """Return the times of samples ``start:stop`` of a segment."""
        return log.t[segment[0]] + self.step * np.arange(start, stop)

    def find_nearest_rows(
        self, log: Log, segment: tuple[int, int], start: int, stop: int
    ) -> Int[np.ndarray, " samples"]:
        """Return the recorded rows nearest to samples ``start:stop`` of a segment."""
        first, end = segment
        if self.by_rows:
            return np.arange(first + start, first + stop)
        times = self.compute_times(log, segment, start, stop)
        timestamps = log.t[first:end]
        after = np.clip(np.searchsorted(timestamps, times), 1, end - first - 1)
        is_before_nearer = times - timestamps[after - 1] < timestamps[after] - times
        return np.asarray(first + after - is_before_nearer, dtype=np.int64)

    def sample(
        self, log: Log, segment: tuple[int, int], start: int, stop: int, signals: tuple[SamplesByJoint, ...]
    ) -> tuple[JointsByGrid, ...]:
        """Return samples ``start:stop`` of a segment for each signal; samples are along the last axis."""
        first, end = segment
        if self.by_rows:
            chosen = slice(first + start, first + stop)
            return tuple(np.ascontiguousarray(signal[chosen].T) for signal in signals)
        if stop <= start or end <= first:
            raise InputError(f"{log.source or 'log'}: rows {first} to {end} give no sample; check the timestamps")
        times = self.compute_times(log, segment, start, stop)
        timestamps = log.t[first:end]
        low = max(0, int(np.searchsorted(timestamps, times[0])) - 1)
        high = min(end - first, int(np.searchsorted(timestamps, times[-1])) + 2)
        rows = slice(first + low, first + high)
        return tuple(
            np.stack([np.interp(times, log.t[rows], column) for column in signal[rows].T]) for signal in signals
        )


def drop_held_rows(log: Log) -> tuple[Log, tuple[Finding, ...]]:
    """Drop held rows if there are many; return the log and the findings about held rows."""
    edits = find_held_rows(log)
    if len(edits.drop) <= MIN_HELD_SHARE * len(log):
        return log, ()
    return apply_edits(log, edits), edits.findings


def choose_grid(log: Log) -> tuple[Grid, tuple[Finding, ...]]:
    """Return the grid chosen for a log, and the finding about uneven timestamps if there are any."""
    pairs = sum(stop - start - 1 for start, stop in log.segments)
    if pairs < 1:
        raise InputError(
            f"{log.source or 'log'}: no segment has two rows, so the log cannot be differentiated; record a longer log"
        )
    for start, stop in log.segments:
        increases = log.t[start + 1 : stop] > log.t[start : stop - 1]
        if not increases.all():
            row = start + int(np.argmin(increases)) + 1
            raise InputError(
                f"{log.source or 'log'}: time does not increase at row {row}; drop or repair such rows first"
            )
    mean, median = log.seconds / pairs, 1.0 / log.rate
    deviation = max(_compute_max_deviation(log, segment, mean) for segment in log.segments)
    if deviation <= MAX_EVEN_DEVIATION:
        return Grid(mean), ()
    if deviation <= MAX_TIMESTAMP_DELAY:
        row_roughness = _compute_roughness(log, Grid(mean))
        timestamp_roughness = _compute_roughness(log, Grid(median, by_rows=False))
        if row_roughness < MAX_ROUGHNESS_RATIO * timestamp_roughness:
            roughness_ratio = timestamp_roughness / max(row_roughness, np.finfo(float).tiny)
            finding = Finding(
                LogFindingCode.JITTER,
                Severity.REPAIRED,
                f"timestamps jitter by up to {deviation:.2g} steps, but the motion is {roughness_ratio:.3g} times "
                "smoother if the rows are equally spaced",
                remedy=f"the rows were treated as equally spaced, at {1.0 / mean:.6g} Hz",
                fields={"deviation": deviation, "roughness_ratio": roughness_ratio, "rate": 1.0 / mean},
            )
            return Grid(mean), (finding,)
    finding = Finding(
        LogFindingCode.JITTER,
        Severity.REPAIRED,
        f"uneven sampling (timestamps deviate by up to {deviation:.2g} steps from a uniform grid)",
        remedy=f"the log was resampled to {1.0 / median:.6g} Hz by linear interpolation",
        fields={"deviation": deviation, "rate": 1.0 / median},
    )
    return Grid(median, by_rows=False), (finding,)


def choose_windows(log: Log) -> Iterator[tuple[int, int]]:
    """Yield a few windows (start, stop) of rows, distributed across the log, so that long logs are not slow."""
    for first, end in log.segments[:: max(1, len(log.segments) // MAX_WINDOWS)]:
        windows = max(1, MAX_WINDOWS // len(log.segments))
        stride = max(WINDOW_ROWS, (end - first) // windows)
        for start in range(first, end, stride):
            stop = min(start + WINDOW_ROWS, end)
            if stop - start >= 2:
                yield start, stop


def _compute_max_deviation(log: Log, segment: tuple[int, int], step: float) -> float:
    """Return the maximum deviation, in steps, of the timestamps from the best uniform grid with this step."""
    first, end = segment
    highest, lowest = -np.inf, np.inf
    for start in range(first, end, WINDOW_ROWS):
        stop = min(start + WINDOW_ROWS, end)
        deviations = (log.t[start:stop] - log.t[first]) / step - np.arange(start - first, stop - first)
        highest, lowest = max(highest, float(deviations.max())), min(lowest, float(deviations.min()))
    return (highest - lowest) / 2.0


def _compute_roughness(log: Log, grid: Grid) -> float:
    """Return the RMS third difference of the positions on a grid, as the median of all joints."""
    squares = []
    for window in choose_windows(log):
        (samples,) = grid.sample(log, window, 0, grid.count_samples(log, window), (log.q,))
        if samples.shape[1] > 3:
            squares.append(np.mean(np.diff(samples, n=3, axis=1) ** 2, axis=1))
    return float(np.median(np.sqrt(np.mean(squares, axis=0)))) if squares else 0.0
