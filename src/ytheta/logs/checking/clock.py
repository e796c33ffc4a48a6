"""What the time stamps say: sampling rate and jitter, stamps that run backwards or repeat, and gaps."""

from __future__ import annotations

import math

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.row_edits import Marks
from ytheta.logs.log import Log
from ytheta.logs.temporary import steps_of
from ytheta.shapes import Bool, Float, PerSample, RowIndices

GAP = 4.0  # median steps; jittered logs in daily use stay below 2.5, lost samples begin at 4
DISORDER = 0.05  # of the rows; more stamps out of order are no accident
JITTER = 0.3  # of the median step
SLOWEST = 5.0  # Hz
SHOWN = 4
BLOCK = 1 << 16  # steps looked at at a time


def clock(log: Log) -> Marks:
    """Rows whose stamp runs backwards or repeats are dropped; the log is cut at gaps. Nothing is sorted."""
    if len(log) < 3:
        return Marks()
    drop, findings = _disorder(log)
    if any(finding.severity is Severity.ERROR for finding in findings):
        return Marks(tuple(findings))
    keep = np.setdiff1d(np.arange(len(log)), drop) if len(drop) else None
    t = log.t if keep is None else log.t[keep]
    steps = steps_of(t)
    median = float(np.median(steps, overwrite_input=True))
    np.subtract(t[1:], t[:-1], out=steps)
    wide = np.flatnonzero(gaps(steps, median))
    usual = np.delete(steps, wide) if len(wide) else steps
    border = [first for first, _ in log.segments]
    cut = wide + 1 if keep is None else keep[wide + 1]
    wide, cut = wide[~np.isin(cut, border)], cut[~np.isin(cut, border)]
    if len(wide):
        findings.append(_gaps(t, steps, wide.tolist(), median))
    if not any(finding.code == "sampling" for finding in log.findings):
        findings.append(_sampling(usual, median))
    return Marks(tuple(findings), drop=drop, cut=cut)


def gaps(steps: Float[np.ndarray, "steps"], median: float) -> Bool[np.ndarray, "steps"]:
    """Which steps are gaps; a hair is left for the rounding of stamps."""
    return np.asarray(steps > (GAP + 1e-3) * median)


def _disorder(log: Log) -> tuple[RowIndices, list[Finding]]:
    t = log.t
    if np.all(t[1:] > t[:-1]):
        return np.empty(0, dtype=np.int64), []
    steps = np.diff(t)
    # A single stamp that ran ahead is dropped itself, not the good rows after it.
    before = np.concatenate(([-np.inf], t[:-2]))
    ahead = np.flatnonzero((steps < 0.0) & (t[1:] > before))
    rest = np.setdiff1d(np.arange(len(t)), ahead)
    stamps = t[rest]
    late = rest[1:][stamps[1:] <= np.maximum.accumulate(stamps)[:-1]]
    drop = np.union1d(ahead, late)
    backwards, repeated = int(np.sum(steps < 0.0)), int(np.sum(steps == 0.0))
    first = int(np.flatnonzero(steps <= 0.0)[0]) + 1
    counted = {"goes backwards": backwards, "stands still": repeated}
    told = " and ".join(f"{verb} {_times(count)}" for verb, count in counted.items() if count)
    what = f"time {told} (first at row {first}, from {t[first - 1]:.6g} to {t[first]:.6g} s)"
    if len(drop) > DISORDER * len(t):
        remedy = (
            "the stamps are too coarse or broken: leave them out and give rate = … in a mapping"
            if repeated > backwards
            else "several recordings seem to stand in one file: split it there, or choose rows = […] in a mapping"
        )
        return drop, [Finding("time", Severity.ERROR, f"{what}; {remedy}")]
    text = f"{what}; {len(drop)} {'row was' if len(drop) == 1 else 'rows were'} dropped, none sorted"
    return drop, [Finding("time", Severity.REPAIRED, text)]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _gaps(t: PerSample, steps: Float[np.ndarray, "steps"], wide: list[int], median: float) -> Finding:
    shown = ", ".join(f"{1e3 * steps[k]:.4g} ms after t = {t[k]:.6g} s" for k in wide[:SHOWN])
    shown += " …" if len(wide) > SHOWN else ""
    count = f"{len(wide)} {'gap' if len(wide) == 1 else 'gaps'}"
    text = f"{count} wider than {GAP:g} times the median step of {1e3 * median:.4g} ms ({shown}); the log is cut there"
    return Finding("gap", Severity.REPAIRED, text)


def _sampling(steps: Float[np.ndarray, "steps"], median: float) -> Finding:
    """What the steps say of the rate; they are put out of order."""
    jitter = _spread(steps) / median
    low, high = (1e3 * float(step) for step in np.quantile(steps, [0.01, 0.99], overwrite_input=True))
    text = f"sampled at {1.0 / median:.6g} Hz (median step {1e3 * median:.4g} ms"
    text += f", 98 % within {low:.4g} to {high:.4g} ms, jitter {100 * jitter:.2g} %)" if jitter > 1e-6 else ", even)"
    if 1.0 / median < SLOWEST:
        text += "; that is slow for an arm: check that time is in seconds"
        return Finding("sampling", Severity.WARNING, text)
    if jitter > JITTER:
        text += "; resample, or give rate = … in a mapping if the samples themselves were even"
        return Finding("sampling", Severity.WARNING, text)
    return Finding("sampling", Severity.NOTE, text)


def _spread(steps: Float[np.ndarray, "steps"]) -> float:
    """Standard deviation, block by block."""
    mean = float(np.mean(steps))
    squares = sum(float(np.sum((steps[k : k + BLOCK] - mean) ** 2)) for k in range(0, len(steps), BLOCK))
    return math.sqrt(squares / len(steps))
