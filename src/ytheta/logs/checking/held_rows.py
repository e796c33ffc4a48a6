"""Held rows: rows that repeat the previous row in every column while the arm moves.

A held row arises if the logger reads the same state twice: the position does not change and then jumps by two steps.
A log of an arm at rest also repeats rows if the signals are rounded. Therefore rows count as held only if a joint moves
just before and just after them.
"""

from __future__ import annotations

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.joint_columns import iterate_columns
from ytheta.logs.checking.row_edits import RowEdits
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.logs.temporary_arrays import compute_steps
from ytheta.shapes import Bool, RowIndices, SamplesByJoint

MIN_STEP_RATIO = 0.05  # step divided by the 95 % quantile of the joint's steps; below it, the joint is almost at rest
MIN_STEP_QUANTA = 3.0  # step divided by the joint's smallest step; below it, the step may be a rounding error
MAX_HELD_ROWS = 10  # after more consecutive held rows, the log is split, because the motion meanwhile is unknown


def find_held_rows(log: Log) -> RowEdits:
    """Return the edits that drop held rows, and split the log after long runs of held rows."""
    repeats = np.ones(max(len(log) - 1, 0), dtype=bool)
    for column in iterate_columns(log):
        repeats &= column.values[1:] == column.values[:-1]
        if not repeats.any():
            return RowEdits()
    change = np.diff(np.concatenate(([False], repeats, [False])).astype(np.int8))
    first, last = np.flatnonzero(change == 1), np.flatnonzero(change == -1)  # the measured row and its last repetition
    inside = (first > 0) & (last < len(log) - 1)
    first, last = first[inside], last[inside]
    moving = _moves_around(log.q, first, last)
    first, last = first[moving], last[moving]
    if not len(first):
        return RowEdits()
    drop = np.concatenate([np.arange(a + 1, b + 1) for a, b in zip(first, last, strict=True)])
    longest = int(np.max(last - first))
    share = len(drop) / len(log)
    finding = Finding(
        LogFindingCode.HELD,
        Severity.REPAIRED,
        f"{len(drop)} {'row repeats' if len(drop) == 1 else 'rows repeat'} the previous row although the arm moves "
        f"({100 * share:.2g} %, up to {longest} consecutive rows)",
        remedy="the row was dropped" if len(drop) == 1 else "the rows were dropped",
        fields={"rows": len(drop), "share": share, "longest": longest},
    )
    return RowEdits((finding,), drop=drop, split=last[last - first > MAX_HELD_ROWS] + 1)


def _moves_around(q: SamplesByJoint, first: RowIndices, last: RowIndices) -> Bool[np.ndarray, "rows"]:
    """Return for each run of equal rows whether any joint moves just before and just after the run."""
    moving = np.zeros(len(first), dtype=bool)
    if not len(first):
        return moving
    for column in q.T:
        steps = compute_steps(column)
        np.abs(steps, out=steps)
        steps = steps[steps > 0.0]
        if not len(steps):
            continue
        typical_step = float(np.quantile(steps, 0.95, overwrite_input=True))
        min_step = max(MIN_STEP_RATIO * typical_step, MIN_STEP_QUANTA * float(steps.min()))
        before, after = np.abs(column[first] - column[first - 1]), np.abs(column[last + 1] - column[last])
        moving |= (before > min_step) & (after > min_step)
    return moving
