"""Rows that repeat the row before in everything while the arm moves: the logger read the same state twice.

Such rows are stale: the position stands still and then jumps by two steps. An arm at rest repeats rows rightly when
its signals are rounded, so a repetition counts only where the steps just before and just after it are those of motion.
"""

from __future__ import annotations

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.row_edits import Marks, joint_columns
from ytheta.logs.log import Log
from ytheta.logs.temporary import steps_of
from ytheta.shapes import RowIndices, SamplesByJoint, StartIndices

MOTION = 0.05  # of the 95 % step of a joint; slower is about to rest
QUANTA = 3.0  # times the smallest step there is; less is rounding
LONGEST = 10  # rows; where more are held, nothing is known in between and the log is cut


def held_rows(log: Log) -> Marks:
    """Held rows are dropped; where many follow each other the log is cut."""
    same = np.ones(max(len(log) - 1, 0), dtype=bool)
    for _, column in joint_columns(log):
        same &= column[1:] == column[:-1]
        if not same.any():
            return Marks()
    padded = np.concatenate(([False], same, [False])).astype(np.int8)
    change = np.diff(padded)
    first, last = np.flatnonzero(change == 1), np.flatnonzero(change == -1)  # the real row, and the last one held
    inside = (first > 0) & (last < len(log) - 1)
    first, last = first[inside], last[inside]
    moving = _moves(log.q, first, last)
    first, last = first[moving], last[moving]
    if not len(first):
        return Marks()
    drop = np.concatenate([np.arange(a + 1, b + 1) for a, b in zip(first, last, strict=True)])
    longest = int(np.max(last - first))
    text = (
        f"{len(drop)} rows ({100 * len(drop) / len(log):.2g} %) repeat the row before while the arm moves, up to "
        f"{longest} in a row: stale readings; dropped"
    )
    cut = last[last - first > LONGEST] + 1
    return Marks((Finding("held", Severity.REPAIRED, text),), drop=drop, cut=cut)


def _moves(q: SamplesByJoint, first: RowIndices, last: StartIndices) -> np.ndarray:
    """For each run of equal rows, whether some joint moves just before and just after it."""
    moving = np.zeros(len(first), dtype=bool)
    if not len(first):
        return moving
    for k in range(q.shape[1]):
        column = q[:, k]
        steps = steps_of(column)
        np.abs(steps, out=steps)
        steps = steps[steps > 0.0]
        if not len(steps):
            continue
        least = max(MOTION * float(np.quantile(steps, 0.95, overwrite_input=True)), QUANTA * float(steps.min()))
        before, after = np.abs(column[first] - column[first - 1]), np.abs(column[last + 1] - column[last])
        moving |= (before > least) & (after > least)
    return moving
