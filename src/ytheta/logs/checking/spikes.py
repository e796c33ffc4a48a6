"""Spikes: single values far from their neighbours, such as those caused by interference or bit errors."""

from __future__ import annotations

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.joint_columns import JointColumn, iterate_columns
from ytheta.logs.checking.row_edits import RowEdits, to_row_indices
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.shapes import Float, PerSample, RowIndices

ROWS_PER_CHUNK = 1 << 16  # rows processed at a time
MIN_ROWS = 30  # fewer rows are not enough to estimate the noise
MAX_SAMPLED_ROWS = 200_000  # maximum number of rows from which the range and the noise are estimated
# The distance of a value is its distance from the median of five rows. The distance of a spike exceeds these minima.
MIN_NOISE_RATIO = 20.0  # distance divided by the 99 % quantile of the distances; real logs of six robots reach 15
MIN_RANGE_RATIO = 0.1  # distance divided by the range of the column, for torques and velocities
MIN_POSITION_RANGE_RATIO = 0.01  # the same for positions; it is lower because positions change continuously
MIN_POSITION_DISTANCE = 1e-3  # rad or m
MIN_VALUE_RATIO = 0.02  # distance divided by the largest absolute value of the column
MAX_LISTED_SPIKES = 3


def find_spikes(log: Log) -> RowEdits:
    """Return the edits that drop single rows far from their neighbours; the log is not split there."""
    spikes: dict[JointColumn, RowIndices] = {}
    starts = to_row_indices(start for start, _ in log.segments)
    near_gaps = (starts[:, np.newaxis] + np.arange(-2, 2)).ravel()  # rows with neighbours on the other side of a gap
    for column in iterate_columns(log):
        rows = np.setdiff1d(_find_in_column(column), near_gaps)
        if len(rows):
            spikes[column] = rows
    if not spikes:
        return RowEdits()
    drop = np.unique(np.concatenate(list(spikes.values())))
    shown = ", ".join(
        f"{column} at t = {log.t[rows[0]]:.6g} s" for column, rows in list(spikes.items())[:MAX_LISTED_SPIKES]
    )
    shown += " …" if len(spikes) > MAX_LISTED_SPIKES else ""
    finding = Finding(
        LogFindingCode.SPIKE,
        Severity.REPAIRED,
        f"{len(drop)} {'row' if len(drop) == 1 else 'rows'} with spikes ({shown})",
        remedy="the row was dropped" if len(drop) == 1 else "the rows were dropped",
        names=tuple(dict.fromkeys(column.joint for column in spikes)),
        fields={"rows": len(drop)},
    )
    return RowEdits((finding,), drop=drop)


def _find_in_column(column: JointColumn) -> RowIndices:
    """Return the rows whose distance from the median of five rows is large relative to the noise and the range."""
    values = column.values
    if len(values) < MIN_ROWS:
        return to_row_indices()
    stride = 1 + len(values) // MAX_SAMPLED_ROWS
    low, high = np.quantile(values[::stride], [0.01, 0.99])
    min_distance = max((high - low) * MIN_RANGE_RATIO, 0.0)
    if column.quantity == "q":
        min_distance = max((high - low) * MIN_POSITION_RANGE_RATIO, MIN_POSITION_DISTANCE)
    min_distance = max(min_distance, MIN_VALUE_RATIO * max(abs(low), abs(high)))
    # Medians are slow to compute. A row further than ``min_distance`` from the median is also that far from the
    # previous or the next row, so the median is needed only for such rows.
    starts = range(2, len(values) - 2, ROWS_PER_CHUNK)
    rows = np.concatenate([_find_steps(values, start, min_distance) for start in starts])
    if not len(rows):
        return to_row_indices()
    noise = float(np.quantile(_compute_distances_from_median(values, np.arange(2, len(values) - 2, stride)), 0.99))
    return rows[_compute_distances_from_median(values, rows) > max(min_distance, MIN_NOISE_RATIO * noise)]


def _find_steps(values: PerSample, start: int, min_distance: float) -> RowIndices:
    """Return the rows of one chunk that are further than ``min_distance`` from the previous or the next row."""
    stop = min(start + ROWS_PER_CHUNK, len(values) - 2)
    large = np.abs(np.diff(values[start - 1 : stop + 1])) > min_distance
    return np.flatnonzero(large[:-1] | large[1:]) + start


def _compute_distances_from_median(values: PerSample, rows: RowIndices) -> Float[np.ndarray, "rows"]:
    """Return the distance of each row from the median of five rows: the row itself and its four nearest rows."""
    distances = np.empty(len(rows))
    for start in range(0, len(rows), ROWS_PER_CHUNK):
        chosen = rows[start : start + ROWS_PER_CHUNK]
        neighbours = np.stack([values[chosen + k] for k in (-2, -1, 0, 1, 2)])
        distances[start : start + ROWS_PER_CHUNK] = np.abs(values[chosen] - np.median(neighbours, axis=0))
    return distances
