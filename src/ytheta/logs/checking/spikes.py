"""Spikes: single readings far from their neighbours, as a disturbed line or a lost bit produces them."""

from __future__ import annotations

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.joint_columns import JointColumn, iterate_columns
from ytheta.logs.checking.row_edits import RowEdits, to_row_indices
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.shapes import Float, PerSample, RowIndices

ROWS_PER_CHUNK = 1 << 16  # rows processed at a time
MIN_ROWS = 30  # fewer rows do not show the noise
MAX_SAMPLED_ROWS = 200_000  # rows from which range and noise of a column are taken
MIN_NOISE_RATIO = 20.0  # times the distance below which 99 % of the rows stay; real logs of six robots reach 15
MIN_RANGE_RATIO = 0.1  # of the range of a torque or velocity
MIN_POSITION_RANGE_RATIO = 0.01  # of the range of a position, which cannot jump
MIN_POSITION_DISTANCE = 1e-3  # rad or m
MIN_VALUE_RATIO = 0.02  # of the largest absolute value
MAX_SHOWN = 3


def find_spikes(log: Log) -> RowEdits:
    """Drop single rows that are far from their neighbours; the log is not cut for one row."""
    spikes: dict[JointColumn, RowIndices] = {}
    starts = to_row_indices(first for first, _ in log.segments)
    near_gaps = (starts[:, np.newaxis] + np.arange(-2, 2)).ravel()  # rows whose neighbours lie across a gap
    for column in iterate_columns(log):
        rows = np.setdiff1d(_find_in_column(column), near_gaps)
        if len(rows):
            spikes[column] = rows
    if not spikes:
        return RowEdits()
    drop = np.unique(np.concatenate(list(spikes.values())))
    shown = ", ".join(f"{column} at t = {log.t[rows[0]]:.6g} s" for column, rows in list(spikes.items())[:MAX_SHOWN])
    shown += " …" if len(spikes) > MAX_SHOWN else ""
    finding = Finding(
        LogFindingCode.SPIKE,
        Severity.REPAIRED,
        f"{len(drop)} {'row' if len(drop) == 1 else 'rows'} with spikes ({shown})",
        remedy="dropped",
        names=tuple(dict.fromkeys(column.joint for column in spikes)),
        fields={"rows": len(drop)},
    )
    return RowEdits((finding,), drop=drop)


def _find_in_column(column: JointColumn) -> RowIndices:
    """Rows whose distance from the median of five neighbours is far beyond the column's noise and part of its range."""
    values = column.values
    if len(values) < MIN_ROWS:
        return to_row_indices()
    stride = 1 + len(values) // MAX_SAMPLED_ROWS
    low, high = np.quantile(values[::stride], [0.01, 0.99])
    least = max((high - low) * MIN_RANGE_RATIO, 0.0)
    if column.quantity == "q":
        least = max((high - low) * MIN_POSITION_RANGE_RATIO, MIN_POSITION_DISTANCE)
    least = max(least, MIN_VALUE_RATIO * max(abs(low), abs(high)))
    # A row that far from the median of five is also far from one of its neighbours, so few rows need the median.
    rows = np.concatenate([_find_steps(values, first, least) for first in range(2, len(values) - 2, ROWS_PER_CHUNK)])
    if not len(rows):
        return to_row_indices()
    noise = float(np.quantile(_compute_distances_from_median(values, np.arange(2, len(values) - 2, stride)), 0.99))
    return rows[_compute_distances_from_median(values, rows) > max(least, MIN_NOISE_RATIO * noise)]


def _find_steps(values: PerSample, first: int, least: float) -> RowIndices:
    """Rows of one chunk that are further than ``least`` from the row before or after."""
    last = min(first + ROWS_PER_CHUNK, len(values) - 2)
    large = np.abs(np.diff(values[first - 1 : last + 1])) > least
    return np.flatnonzero(large[:-1] | large[1:]) + first


def _compute_distances_from_median(values: PerSample, rows: RowIndices) -> Float[np.ndarray, "rows"]:
    distances = np.empty(len(rows))
    for first in range(0, len(rows), ROWS_PER_CHUNK):
        chosen = rows[first : first + ROWS_PER_CHUNK]
        neighbours = np.stack([values[chosen + k] for k in (-2, -1, 0, 1, 2)])
        distances[first : first + ROWS_PER_CHUNK] = np.abs(values[chosen] - np.median(neighbours, axis=0))
    return distances
