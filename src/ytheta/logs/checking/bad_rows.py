"""Rows that hold no measurement: missing and infinite values, and garbage.

Garbage is what a buffer holds before the first message: numbers no robot produces, among others that look innocent. So
a few good-looking rows between garbage go with it, or between garbage and an end of the log, or up to a jump in time or
position just beside it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.clock import gaps
from ytheta.logs.checking.row_edits import Marks, joint_columns, rows_of
from ytheta.logs.log import Log
from ytheta.shapes import RowIndices, StartIndices

BLOCK = 1 << 16  # rows looked at at a time
ABSURD = 1e6  # beyond any angle in radians or motor turns, speed, or joint torque in Nm
ISLAND = 10  # rows between garbage that are too few to be trusted
JUMP, LEAST_JUMP = 20.0, 1e-3  # times the usual step, and rad or m beyond that


def bad_rows(log: Log) -> Marks:
    """Rows with missing, infinite or absurd values are dropped; the log is cut where that leaves a gap."""
    finite, absurd = np.isfinite(log.t), np.zeros(len(log), dtype=bool)
    for name, column in joint_columns(log):
        some = False
        for rows in (slice(first, first + BLOCK) for first in range(0, len(log), BLOCK)):
            numbers = np.isfinite(column[rows])
            some |= bool(numbers.any())
            finite[rows] &= numbers
            absurd[rows] |= numbers & ((column[rows] > ABSURD) | (column[rows] < -ABSURD))
        if not some:
            text = f"{name} holds no number in any row; leave the quantity out or record it"
            return Marks((Finding("missing", Severity.ERROR, text),))
    garbage = _up_to_jumps(log, _with_islands(np.flatnonzero(absurd), len(log)))
    missing = np.setdiff1d(np.flatnonzero(~finite), garbage)
    drop = np.union1d(garbage, missing)
    if not len(drop):
        return Marks()
    cut = _gaps(log, drop)
    findings = [
        *_told("garbage", garbage, cut, log, f"hold garbage (values beyond {ABSURD:.0e}) or stand between such rows"),
        *_told("missing", missing, cut, log, "have missing or infinite values"),
    ]
    return Marks(tuple(findings), drop=drop, cut=cut)


def _gaps(log: Log, drop: RowIndices) -> StartIndices:
    """Rows after dropped ones that are too late for an interpolation; ``clock`` uses the same measure."""
    kept = np.setdiff1d(np.arange(len(log)), drop)
    if len(kept) < 2:
        return rows_of()
    steps = np.diff(log.t[kept])
    return kept[1:][gaps(steps, float(np.median(steps))) & (np.diff(kept) > 1)]


def _with_islands(absurd: RowIndices, count: int) -> np.ndarray:
    """Absurd rows together with the short stretches between them and the ends."""
    if not len(absurd):
        return rows_of()
    edges = np.concatenate(([-1], absurd, [count]))
    between = [np.arange(a + 1, b) for a, b in pairwise(edges.tolist()) if 1 < b - a <= ISLAND]
    return np.unique(np.concatenate([absurd, *between]))


def _up_to_jumps(log: Log, garbage: RowIndices) -> np.ndarray:
    """Garbage together with the rows beside it that a jump parts from the rest of the log."""
    if not len(garbage) or len(garbage) == len(log):
        return garbage
    jumps = _jumps(log, garbage)
    grown = [garbage]
    for edge in garbage[np.isin(garbage + 1, garbage, invert=True)].tolist():
        after = [k for k in range(edge + 1, min(edge + ISLAND, len(log) - 1)) if jumps[k]]
        grown.append(np.arange(edge + 1, after[-1] + 1) if after else rows_of())
    for edge in garbage[np.isin(garbage - 1, garbage, invert=True)].tolist():
        before = [k for k in range(max(edge - ISLAND, 0), edge - 1) if jumps[k]]
        grown.append(np.arange(before[0] + 1, edge) if before else rows_of())
    return np.unique(np.concatenate(grown))


def _jumps(log: Log, garbage: RowIndices) -> np.ndarray:
    """For each row, whether time or a position jumps on the way to the next one, by the measure of the good rows."""
    good = np.ones(len(log), dtype=bool)
    good[garbage] = False
    step = np.diff(log.t)
    jumps = (step <= 0.0) | (step > JUMP * np.nanmedian(np.diff(log.t[good])))
    for k in range(log.q.shape[1]):
        usual = np.nanquantile(np.abs(np.diff(log.q[good, k])), 0.99)
        with np.errstate(invalid="ignore", over="ignore"):
            jumps |= np.abs(np.diff(log.q[:, k])) > JUMP * usual + LEAST_JUMP
    return jumps


def _told(kind: str, rows: RowIndices, cut: StartIndices, log: Log, what: str) -> list[Finding]:
    if not len(rows):
        return []
    count = len(rows)
    where = f"rows {rows[0]} to {rows[-1]}" if count > 1 else f"row {rows[0]}"
    text = f"{count} of {len(log)} rows {what} ({where})"
    if 2 * count > len(log):
        return [Finding(kind, Severity.ERROR, f"{text}; that is too much to drop: record the log again")]
    places = int(np.isin(cut - 1, rows).sum())
    cuts = f", and the log cut in {places} {'place' if places == 1 else 'places'}" if places else ""
    return [Finding(kind, Severity.REPAIRED, f"{text}; dropped{cuts}")]
