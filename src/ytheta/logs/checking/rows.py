"""Rows that are dropped: those without a measurement, held rows, and spikes.

Rows without a measurement contain missing or infinite values, only other signals, or garbage.
Garbage is the content of an uninitialised buffer, recorded before the first message arrives. It contains implausible
values mixed with plausible ones. Therefore a few plausible rows are also dropped if they lie between garbage rows,
between garbage and an end of the log, or between garbage and a jump in time or position.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.clock import are_gaps
from ytheta.logs.log import JointColumn, Log, LogFindingCode, RowEdits, compute_steps, iterate_columns, to_row_indices
from ytheta.shapes import Bool, Float, Int, PerSample, RowIndices, SamplesByJoint, StartIndices

ROWS_PER_CHUNK = 1 << 16  # rows processed at a time; affects only memory
# Absolute value above which a number is garbage. Chosen on: reasoning; larger than any angle (rad or motor turns),
# velocity or joint torque (Nm).
MAX_PLAUSIBLE_VALUE = 1e6
# Rows of a run of plausible values next to garbage, up to which they are dropped too. Chosen on: rule of thumb.
MAX_SHORT_RUN = 10
# A jump next to garbage exceeds the first times the typical step, plus the second (rad or m). Chosen on: rule of thumb.
MIN_JUMP_RATIO, MIN_JUMP = 20.0, 1e-3
# Share of rows without a measurement above which a log is refused. Chosen on: rule of thumb.
MAX_DROPPED_SHARE = 0.5


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


def _add_short_runs(implausible: RowIndices, count: int) -> Int[np.ndarray, " extended"]:
    """Return the implausible rows and the short runs of rows between them, or between them and an end of the log."""
    if not len(implausible):
        return to_row_indices()
    edges = np.concatenate(([-1], implausible, [count]))
    short_runs = [np.arange(a + 1, b) for a, b in pairwise(edges.tolist()) if 1 < b - a <= MAX_SHORT_RUN]
    return np.unique(np.concatenate([implausible, *short_runs]))


def _extend_to_jumps(log: Log, garbage: RowIndices) -> Int[np.ndarray, " extended"]:
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
def _find_jumps(log: Log, garbage: RowIndices) -> Bool[np.ndarray, " steps"]:
    """Return for each row whether time or a position jumps between this row and the next."""
    good = np.ones(len(log), dtype=bool)
    good[garbage] = False
    steps = np.diff(log.t)
    jumps = (steps <= 0.0) | (steps > MIN_JUMP_RATIO * _find_quantile(np.diff(log.t[good]), 0.5))
    for k in range(log.q.shape[1]):
        typical_step = _find_quantile(np.abs(np.diff(log.q[good, k])), 0.99)
        jumps |= np.abs(np.diff(log.q[:, k])) > MIN_JUMP_RATIO * typical_step + MIN_JUMP
    return np.asarray(jumps)


def _find_quantile(values: Float[np.ndarray, " steps"], share: float) -> float:
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


# Held rows: rows that repeat the previous row in every column while the arm moves.
#
# A held row arises if the logger reads the same state twice: the position does not change and then jumps by two steps.
# A log of an arm at rest also repeats rows if the signals are rounded. Therefore rows count as held only if a joint
# moves just before and just after them.

# Step divided by the 95 % quantile of the joint's steps; below it, the joint is almost at rest, and equal rows are not
# held ones. Chosen on: rule of thumb.
MIN_STEP_RATIO = 0.05
# Step divided by the joint's smallest step; below it, the step may be a rounding error. Chosen on: rule of thumb.
MIN_STEP_QUANTA = 3.0
# Consecutive held rows above which the log is split, because the motion meanwhile is unknown. Chosen on: rule of thumb.
MAX_HELD_ROWS = 10


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


def _moves_around(q: SamplesByJoint, first: RowIndices, last: RowIndices) -> Bool[np.ndarray, " rows"]:
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


# Spikes: single values far from their neighbours, such as those caused by interference or bit errors.

# Fewest rows in which spikes are searched, since fewer are not enough to estimate the noise. Chosen on: rule of thumb.
MIN_ROWS = 30
# Largest number of rows from which the range and the noise are estimated. Affects only time.
MAX_SAMPLED_ROWS = 200_000

# A spike exceeds all of these minima.

# Distance of a spike from the median of five rows, divided by the 99 % quantile of the distances. Chosen on: recorded
# logs of six robots, which reach 15.
MIN_NOISE_RATIO = 20.0
# The same distance divided by the range of the column, for torques and velocities. Chosen on: rule of thumb.
MIN_RANGE_RATIO = 0.1
# The same for positions; it is lower because positions change continuously. Chosen on: rule of thumb.
MIN_POSITION_RANGE_RATIO = 0.01
# The same distance of a position in rad or m. Chosen on: rule of thumb.
MIN_POSITION_DISTANCE = 1e-3
# The same distance divided by the largest absolute value of the column. Chosen on: rule of thumb.
MIN_VALUE_RATIO = 0.02
MAX_LISTED_SPIKES = 3  # affects only the length of a message


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


def _compute_distances_from_median(values: PerSample, rows: RowIndices) -> Float[np.ndarray, " rows"]:
    """Return the distance of each row from the median of five rows: the row itself and its four nearest rows."""
    distances = np.empty(len(rows))
    for start in range(0, len(rows), ROWS_PER_CHUNK):
        chosen = rows[start : start + ROWS_PER_CHUNK]
        neighbours = np.stack([values[chosen + k] for k in (-2, -1, 0, 1, 2)])
        distances[start : start + ROWS_PER_CHUNK] = np.abs(values[chosen] - np.median(neighbours, axis=0))
    return distances
