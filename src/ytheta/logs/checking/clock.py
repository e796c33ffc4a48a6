"""Timestamps: sampling rate and jitter, timestamps that run backwards or repeat, and gaps."""

from __future__ import annotations

import math

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log, LogFindingCode, RowEdits, compute_steps, to_row_indices
from ytheta.shapes import Bool, Float, PerSample, RowIndices

# Step divided by the median step, from which a step is a gap. Chosen on: recorded logs; usual jitter gives ratios below
# 2.5, and lost samples give at least 4.
MAX_STEP_RATIO = 4.0
# Rounding error of timestamps, divided by the median step, that is added to the bound of a gap. Chosen on: rule of
# thumb.
TIMESTAMP_ROUNDING = 1e-3
# Share of rows with timestamps that run backwards or repeat, above which a log is refused. Chosen on: rule of thumb.
MAX_DISORDER_SHARE = 0.05
# Standard deviation of the steps divided by the median step, above which there is a warning. Chosen on: rule of thumb.
MAX_JITTER = 0.3
# The same ratio, below which jitter is rounding error and not reported. Chosen on: reasoning; the digits of timestamps.
MIN_JITTER = 1e-6
# Median step in s outside of which numbers are not times of samples. Chosen on: reasoning; no robot is recorded at such
# rates in any unit of time.
MIN_MEDIAN_STEP, MAX_MEDIAN_STEP = 1e-12, 1e9
# Sampling rate in Hz below which there is a warning. Chosen on: rule of thumb.
MIN_RATE = 5.0
MAX_LISTED_GAPS = 4  # affects only the length of a message
STEPS_PER_CHUNK = 1 << 16  # steps processed at a time; affects only memory


def find_clock_faults(log: Log) -> RowEdits:
    """Return the edits that drop rows whose timestamps run backwards or repeat, and split the log at gaps."""
    if len(log) < 3:
        return RowEdits()
    drop, findings = _find_disorder(log)
    if any(finding.severity is Severity.ERROR for finding in findings):
        return RowEdits(tuple(findings))
    keep = np.setdiff1d(np.arange(len(log)), drop) if len(drop) else None
    t = log.t if keep is None else log.t[keep]
    steps = compute_steps(t)
    median = float(np.median(steps, overwrite_input=True))
    if not MIN_MEDIAN_STEP <= median <= MAX_MEDIAN_STEP:
        return RowEdits((_report_impossible_step(median),))
    np.subtract(t[1:], t[:-1], out=steps)
    wide = np.flatnonzero(are_gaps(steps, median))
    within = np.delete(steps, wide) if len(wide) else steps
    known_starts = [start for start, _ in log.segments]
    split = wide + 1 if keep is None else keep[wide + 1]
    new = ~np.isin(split, known_starts)
    wide, split = wide[new], split[new]
    if len(wide):
        findings.append(_report_gaps(t, steps, wide.tolist(), median))
    if not any(finding.code == LogFindingCode.SAMPLING for finding in log.findings):
        findings.append(_report_sampling(within, median))
    return RowEdits(tuple(findings), drop=drop, split=split)


def are_gaps(steps: Float[np.ndarray, " steps"], median: float) -> Bool[np.ndarray, " steps"]:
    """Return for each step whether it is a gap."""
    return np.asarray(steps > (MAX_STEP_RATIO + TIMESTAMP_ROUNDING) * median)


def _find_disorder(log: Log) -> tuple[RowIndices, list[Finding]]:
    """Return the rows to drop so that time increases, and the finding about these rows."""
    t = log.t
    if np.all(t[1:] > t[:-1]):
        return to_row_indices(), []
    steps = np.diff(t)
    # If a single timestamp is too late, the row of this timestamp is dropped, not the good rows after it.
    before = np.concatenate(([-np.inf], t[:-2]))
    ahead = np.flatnonzero((steps < 0.0) & (t[1:] > before))
    rest = np.setdiff1d(np.arange(len(t)), ahead)
    times = t[rest]
    late = rest[1:][times[1:] <= np.maximum.accumulate(times)[:-1]]
    drop = np.union1d(ahead, late)
    backwards, repeated = int(np.sum(steps < 0.0)), int(np.sum(steps == 0.0))
    first = int(np.flatnonzero(steps <= 0.0)[0]) + 1
    counts = {"goes backwards": backwards, "stands still": repeated}
    faults = " and ".join(f"{verb} {_format_times(count)}" for verb, count in counts.items() if count)
    statement = f"time {faults} (first at row {first}, from {t[first - 1]:.12g} to {t[first]:.12g} s)"
    fields = {"backwards": backwards, "repeated": repeated, "first_row": first, "rows": len(drop)}
    if len(drop) <= MAX_DISORDER_SHARE * len(t):
        remedy = f"{len(drop)} {'row was' if len(drop) == 1 else 'rows were'} dropped; the others keep their order"
        return drop, [Finding(LogFindingCode.TIME, Severity.REPAIRED, statement, remedy, fields=fields)]
    if repeated > backwards:
        remedy = "the timestamps are too coarse or wrong: set --rate, or rate = … in a mapping, which replaces them"
    else:
        remedy = (
            "the file seems to contain several recordings: split it there, or choose --rows, or rows = […] in a mapping"
        )
    return drop, [Finding(LogFindingCode.TIME, Severity.ERROR, statement, remedy, fields=fields)]


def _format_times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _report_impossible_step(median: float) -> Finding:
    return Finding(
        LogFindingCode.TIME,
        Severity.ERROR,
        f"the median step of time is {median:.3g} s",
        remedy="choose the column that contains the time, and its unit: [columns] t and [scale] t in a mapping",
        fields={"median_step": median},
    )


def _report_gaps(t: PerSample, steps: Float[np.ndarray, " steps"], wide: list[int], median: float) -> Finding:
    shown = ", ".join(f"{1e3 * float(steps[k]):.4g} ms after t = {t[k]:.12g} s" for k in wide[:MAX_LISTED_GAPS])
    shown += " …" if len(wide) > MAX_LISTED_GAPS else ""
    return Finding(
        LogFindingCode.GAP,
        Severity.REPAIRED,
        f"{len(wide)} {'gap' if len(wide) == 1 else 'gaps'} wider than {MAX_STEP_RATIO:g} times the median step of "
        f"{1e3 * median:.4g} ms ({shown})",
        remedy="the log was split there",
        fields={"gaps": len(wide), "median_step": median, "longest": float(steps[wide].max())},
    )


def _report_sampling(steps: Float[np.ndarray, " steps"], median: float) -> Finding:
    """Return the finding about rate and jitter. ``steps`` is reordered in place."""
    jitter = _compute_standard_deviation(steps) / median
    low, high = (1e3 * float(step) for step in np.quantile(steps, [0.01, 0.99], overwrite_input=True))
    spread = (
        f"98 % within {low:.4g} to {high:.4g} ms, jitter {100 * jitter:.2g} %" if jitter > MIN_JITTER else "no jitter"
    )
    remedy = ""
    if 1.0 / median < MIN_RATE:
        remedy = "this rate is low for an arm: check that time is in seconds"
    elif jitter > MAX_JITTER:
        remedy = "if the samples themselves were equally spaced, set --rate, or rate = … in a mapping"
    return Finding(
        LogFindingCode.SAMPLING,
        Severity.WARNING if remedy else Severity.NOTE,
        f"sampled at {1.0 / median:.6g} Hz (median step {1e3 * median:.4g} ms, {spread})",
        remedy,
        fields={"rate": 1.0 / median, "median_step": median, "jitter": jitter},
    )


def _compute_standard_deviation(steps: Float[np.ndarray, " steps"]) -> float:
    """Return the standard deviation, computed chunk by chunk to save memory."""
    mean = float(np.mean(steps))
    chunks = (steps[k : k + STEPS_PER_CHUNK] for k in range(0, len(steps), STEPS_PER_CHUNK))
    return math.sqrt(sum(float(np.sum((chunk - mean) ** 2)) for chunk in chunks) / len(steps))
