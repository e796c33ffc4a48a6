"""Spikes: single readings far from their neighbours, as a disturbed line or a lost bit makes them."""

from __future__ import annotations

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.row_edits import Marks, joint_columns, rows_of
from ytheta.logs.log import Log
from ytheta.shapes import Float, PerSample, RowIndices

BLOCK = 1 << 16  # rows looked at at a time
FEWEST = 30  # rows; fewer say nothing about noise
SPIKE_NOISE = 20.0  # times what 99 % of the rows stay below; the recorded logs of six robots reach 15
SPIKE_TORQUE = 0.1  # of the range of a torque or velocity
SPIKE_POSITION = 0.01  # of the range of a position, which has inertia
LEAST_POSITION = 1e-3  # rad or m


def spikes(log: Log) -> Marks:
    """Single rows that leave their neighbours far behind are dropped; the log is not cut for one row."""
    found: dict[str, np.ndarray] = {}
    starts = rows_of(first for first, _ in log.segments)
    beside = (starts[:, np.newaxis] + np.arange(-2, 2)).ravel()  # a gap makes neighbours that are none
    for name, column in joint_columns(log):
        share, least = (SPIKE_POSITION, LEAST_POSITION) if name.startswith("q of") else (SPIKE_TORQUE, 0.0)
        rows = np.setdiff1d(_spikes(column, share, least), beside)
        if len(rows):
            found[name] = rows
    if not found:
        return Marks()
    drop = np.unique(np.concatenate(list(found.values())))
    where = ", ".join(f"{name} at t = {log.t[rows[0]]:.6g} s" for name, rows in list(found.items())[:3])
    where += " …" if len(found) > 3 else ""
    text = f"{len(drop)} {'row' if len(drop) == 1 else 'rows'} with spikes ({where}); dropped"
    return Marks((Finding("spike", Severity.REPAIRED, text),), drop=drop)


def _spikes(column: PerSample, share: float, least: float) -> RowIndices:
    """Rows whose distance from the median of five is far beyond the column's noise and a share of its range."""
    if len(column) < FEWEST:
        return rows_of()
    low, high = np.quantile(column[:: 1 + len(column) // 200_000], [0.01, 0.99])
    floor = max(share * (high - low), least, 0.02 * max(abs(low), abs(high)))
    # A row that far from the median of five is also far from one of its neighbours: few rows need the median.
    rows = np.concatenate([_far(column, first, floor) for first in range(2, len(column) - 2, BLOCK)])
    if not len(rows):
        return rows_of()
    sample = np.arange(2, len(column) - 2, 1 + len(column) // 200_000)
    noise = float(np.quantile(_from_median(column, sample), 0.99))
    return rows[_from_median(column, rows) > max(floor, SPIKE_NOISE * noise)]


def _far(column: PerSample, first: int, floor: float) -> np.ndarray:
    """Rows of one block that are further than ``floor`` from the row before or after."""
    last = min(first + BLOCK, len(column) - 2)
    step = np.abs(np.diff(column[first - 1 : last + 1])) > floor
    return np.flatnonzero(step[:-1] | step[1:]) + first


def _from_median(column: PerSample, rows: RowIndices) -> Float[np.ndarray, "rows"]:
    far = np.empty(len(rows))
    for first in range(0, len(rows), BLOCK):
        some = rows[first : first + BLOCK]
        around = np.stack([column[some + k] for k in (-2, -1, 0, 1, 2)])
        far[first : first + BLOCK] = np.abs(column[some] - np.median(around, axis=0))
    return far
