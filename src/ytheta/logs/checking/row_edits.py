"""Marks: rows to drop, rows before which a log is cut, and what to tell; and a log with its marks carried out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from ytheta.findings import Finding
from ytheta.logs.log import Log
from ytheta.shapes import PerSample, RowIndices, StartIndices


def rows_of(numbers: Iterable[int] = ()) -> RowIndices:
    """Row numbers as an array."""
    return np.array(list(numbers), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Marks:
    """``drop``: numbers of rows that are left out. ``cut``: numbers of rows with which a new segment begins."""

    findings: tuple[Finding, ...] = ()
    drop: RowIndices = field(default_factory=rows_of)
    cut: StartIndices = field(default_factory=rows_of)


def joint_columns(log: Log) -> Iterator[tuple[str, PerSample]]:
    """Every recorded column but time, with a name such as ``tau of elbow``."""
    for name, values in (("q", log.q), ("qd", log.qd), ("tau", log.tau)):
        if values is not None:
            for k, joint in enumerate(log.joints):
                yield f"{name} of {joint}", values[:, k]


def carried_out(log: Log, marks: Marks) -> Log:
    """The log without the dropped rows and cut into segments; nothing is copied where nothing is dropped."""
    findings = tuple(dict.fromkeys((*log.findings, *marks.findings)))
    if not len(marks.drop) and not len(marks.cut):
        return replace(log, findings=findings)
    begins = np.zeros(len(log) + 1, dtype=bool)
    begins[marks.cut] = True
    keep = np.zeros(len(log), dtype=bool)
    for first, last in log.segments:
        begins[first] = begins[last] = True
        keep[first:last] = True
    keep[marks.drop] = False
    segment = np.cumsum(begins[:-1], dtype=np.int32)[keep]
    edges = [0, *(np.flatnonzero(np.diff(segment)) + 1).tolist(), len(segment)]
    segments = tuple((a, b) for a, b in pairwise(edges) if b > a)
    return Log(
        joints=log.joints,
        t=log.t[keep],
        q=log.q[keep],
        qd=_kept(log.qd, keep),
        tau=_kept(log.tau, keep),
        segments=segments,
        source=log.source,
        findings=findings,
    )


def _kept(values: np.ndarray | None, keep: np.ndarray) -> np.ndarray | None:
    return None if values is None else values[keep]
