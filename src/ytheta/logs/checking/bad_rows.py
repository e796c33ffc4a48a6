"""Rows without a measurement: missing and infinite values, rows of other signals, and garbage.

Garbage is the content of an uninitialised buffer, recorded before the first message arrives. It contains implausible
values mixed with plausible ones. Therefore a few plausible rows are also dropped if they lie between garbage rows,
between garbage and an end of the log, or between garbage and a jump in time or position.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.clock import are_gaps
from ytheta.logs.checking.joint_columns import iterate_columns
from ytheta.logs.checking.row_edits import RowEdits, to_row_indices
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.shapes import Bool, Float, Int, RowIndices, StartIndices

ROWS_PER_CHUNK = 1 << 16  # rows processed at a time
MAX_PLAUSIBLE_VALUE = 1e6  # larger than any angle (rad or motor turns), velocity or joint torque (Nm)
MAX_SHORT_RUN = 10  # rows; shorter runs of plausible rows next to garbage are dropped too
MIN_JUMP_RATIO, MIN_JUMP = 20.0, 1e-3  # a jump exceeds MIN_JUMP_RATIO * typical step + MIN_JUMP (rad or m)
MAX_DROPPED_SHARE = 0.5  # rows to drop divided by all rows; above this share, the log is refused


def find_bad_rows(log: Log) -> RowEdits:
    """Return the edits that drop rows with missing, infinite or implausible values, and split at resulting gaps."""
    finite, implausible = np.isfinite(log.t), np.zeros(len(log), dtype=bool)
    empty = finite.copy()
    for column in iterate_columns(log):
        any_finite = False
        for rows in (slice(start, start + ROWS_PER_CHUNK) for start in range(0, len(log), ROWS_PER_CHUNK)):
            values = column.values[rows]
            is_finite = np.isfinite(values)
            any_finite |= bool(is_finite.any())
            finite[rows] &= is_finite
            empty[rows] &= np.isnan(values)
            implausible[rows] |= is_finite & ((values > MAX_PLAUSIBLE_VALUE) | (values < -MAX_PLAUSIBLE_VALUE))
        if not any_finite:
            finding = Finding(
                LogFindingCode.MISSING,
                Severity.ERROR,
                f"{column} contains no finite value",
                remedy="record this quantity, or remove it from the file",
                names=(column.joint,),
                fields={"quantity": column.quantity},
            )
            return RowEdits((finding,))
    garbage = _extend_to_jumps(log, _add_short_runs(np.flatnonzero(implausible), len(log)))
    other_signals = np.setdiff1d(np.flatnonzero(empty), garbage)
    missing = np.setdiff1d(np.flatnonzero(~finite & ~empty), garbage)
    drop = np.union1d(np.union1d(garbage, missing), other_signals)
    if not len(drop):
        return RowEdits()
    split = _find_splits(log, drop)
    reason = f"are garbage (values beyond {MAX_PLAUSIBLE_VALUE:.0e}) or lie next to garbage"
    findings = [
        *_report(LogFindingCode.GARBAGE, reason, garbage, split, len(log)),
        *_report(
            LogFindingCode.MISSING, "have missing or infinite values", missing, split, len(log) - len(other_signals)
        ),
        *_report_other_signals(other_signals, split, len(log)),
    ]
    return RowEdits(tuple(findings), drop=drop, split=split)


def _find_splits(log: Log, drop: RowIndices) -> StartIndices:
    """Return the first row after each run of dropped rows that leaves a gap in time (``clock.are_gaps``)."""
    kept = np.setdiff1d(np.arange(len(log)), drop)
    if len(kept) < 2:
        return to_row_indices()
    steps = np.diff(log.t[kept])
    return kept[1:][are_gaps(steps, float(np.median(steps))) & (np.diff(kept) > 1)]


def _add_short_runs(implausible: RowIndices, count: int) -> Int[np.ndarray, "extended"]:
    """Return the implausible rows and the short runs of rows between them, or between them and an end of the log."""
    if not len(implausible):
        return to_row_indices()
    edges = np.concatenate(([-1], implausible, [count]))
    short_runs = [np.arange(a + 1, b) for a, b in pairwise(edges.tolist()) if 1 < b - a <= MAX_SHORT_RUN]
    return np.unique(np.concatenate([implausible, *short_runs]))


def _extend_to_jumps(log: Log, garbage: RowIndices) -> Int[np.ndarray, "extended"]:
    """Return the garbage and the rows next to it that a jump separates from the rest of the log."""
    if not len(garbage) or len(garbage) == len(log):
        return garbage
    jumps = _find_jumps(log, garbage)
    extended = [garbage]
    for edge in garbage[np.isin(garbage + 1, garbage, invert=True)].tolist():
        after = [k for k in range(edge + 1, min(edge + MAX_SHORT_RUN, len(log) - 1)) if jumps[k]]
        extended.append(np.arange(edge + 1, after[-1] + 1) if after else to_row_indices())
    for edge in garbage[np.isin(garbage - 1, garbage, invert=True)].tolist():
        before = [k for k in range(max(edge - MAX_SHORT_RUN, 0), edge - 1) if jumps[k]]
        extended.append(np.arange(before[0] + 1, edge) if before else to_row_indices())
    return np.unique(np.concatenate(extended))


@np.errstate(invalid="ignore", over="ignore")  # differences of numbers that are not finite, or hardly
def _find_jumps(log: Log, garbage: RowIndices) -> Bool[np.ndarray, "steps"]:
    """Return for each row whether time or a position jumps between this row and the next."""
    good = np.ones(len(log), dtype=bool)
    good[garbage] = False
    steps = np.diff(log.t)
    jumps = (steps <= 0.0) | (steps > MIN_JUMP_RATIO * _find_quantile(np.diff(log.t[good]), 0.5))
    for k in range(log.q.shape[1]):
        typical_step = _find_quantile(np.abs(np.diff(log.q[good, k])), 0.99)
        jumps |= np.abs(np.diff(log.q[:, k])) > MIN_JUMP_RATIO * typical_step + MIN_JUMP
    return np.asarray(jumps)


def _find_quantile(values: Float[np.ndarray, "steps"], share: float) -> float:
    """Return a quantile of the finite values; 0 if there are none."""
    finite = values[np.isfinite(values)]
    return float(np.quantile(finite, share)) if len(finite) else 0.0


def _report_other_signals(rows: RowIndices, split: StartIndices, count: int) -> list[Finding]:
    """Return the finding about rows without any value of a joint, of which there may be any number.

    Tools that write several topics into one table leave the columns of the other topics empty.
    """
    if not len(rows):
        return []
    statement = f"{len(rows)} of {count} rows contain no value of a joint"
    splits = int(np.isin(split - 1, rows).sum())
    fields = {"rows": len(rows), "first_row": int(rows[0]), "last_row": int(rows[-1]), "splits": splits}
    return [Finding(LogFindingCode.MISSING, Severity.REPAIRED, statement, _describe_drop(rows, splits), fields=fields)]


def _describe_drop(rows: RowIndices, splits: int) -> str:
    dropped = "the row was dropped" if len(rows) == 1 else "the rows were dropped"
    return f"{dropped}, and the log was split in {splits} {'place' if splits == 1 else 'places'}" if splits else dropped


def _report(code: LogFindingCode, predicate: str, rows: RowIndices, split: StartIndices, count: int) -> list[Finding]:
    """Return the finding about dropped rows of one kind; an empty list if there are no such rows."""
    if not len(rows):
        return []
    shown = f"rows {rows[0]} to {rows[-1]}" if len(rows) > 1 else f"row {rows[0]}"
    statement = f"{len(rows)} of {count} rows {predicate} ({shown})"
    splits = int(np.isin(split - 1, rows).sum())
    fields = {"rows": len(rows), "first_row": int(rows[0]), "last_row": int(rows[-1]), "splits": splits}
    if len(rows) > MAX_DROPPED_SHARE * count:
        remedy = "too many to drop; record the log again"
        if code is LogFindingCode.MISSING:
            remedy += ", or interpolate the signals at common times if they are in different rows"
        if code is LogFindingCode.GARBAGE:
            remedy += ", or write the [scale] of the quantity in a mapping, such as tau = 0.001 if torques are in Nmm"
        return [Finding(code, Severity.ERROR, statement, remedy, fields=fields)]
    return [Finding(code, Severity.REPAIRED, statement, _describe_drop(rows, splits), fields=fields)]
