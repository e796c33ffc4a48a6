"""Row edits: rows to drop and rows at which to split a log, with the findings that explain them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from ytheta.findings import Finding
from ytheta.logs.log import Log
from ytheta.shapes import RowIndices, StartIndices


def to_row_indices(numbers: Iterable[int] = ()) -> RowIndices:
    """Return row numbers as an array."""
    return np.array(list(numbers), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class RowEdits:
    """``drop``: rows to leave out. ``split``: first rows of new segments."""

    findings: tuple[Finding, ...] = ()
    drop: RowIndices = field(default_factory=to_row_indices)
    split: StartIndices = field(default_factory=to_row_indices)


def apply_edits(log: Log, edits: RowEdits) -> Log:
    """Return the log after the edits. Arrays are copied only if rows are dropped or the log is split."""
    findings = tuple(dict.fromkeys((*log.findings, *edits.findings)))
    if not len(edits.drop) and not len(edits.split):
        return replace(log, findings=findings)
    begins = np.zeros(len(log) + 1, dtype=bool)
    begins[edits.split] = True
    keep = np.zeros(len(log), dtype=bool)
    for start, stop in log.segments:
        begins[start] = begins[stop] = True
        keep[start:stop] = True
    keep[edits.drop] = False
    segment = np.cumsum(begins[:-1], dtype=np.int32)[keep]
    edges = [0, *(np.flatnonzero(np.diff(segment)) + 1).tolist(), len(segment)]
    return replace(
        log,
        t=log.t[keep],
        q=log.q[keep],
        qd=None if log.qd is None else log.qd[keep],
        tau=None if log.tau is None else log.tau[keep],
        segments=tuple((start, stop) for start, stop in pairwise(edges) if stop > start),
        findings=findings,
    )
