"""Logs without payload that the model already knows, since it was identified from them: they count once.

If the model was identified from some rows of a log, as with ``hold_out`` or ``rows``, only the others are new.
"""

from __future__ import annotations

from collections.abc import Sequence

from ytheta.findings import Finding, Severity
from ytheta.identification.inputs.log_checks import find_known_rows
from ytheta.identification.prediction.torque_model import TorqueModel
from ytheta.logs.log import Log
from ytheta.logs.preparing.cutoff import MIN_SAMPLES
from ytheta.payload.findings import PayloadFindingCode


def leave_out_known_rows(model: TorqueModel, logs: Sequence[Log]) -> tuple[list[Log], list[Finding]]:
    """Return the logs, or parts of them, that a model was not identified from, and findings about the others."""
    new_logs: list[Log] = []
    findings: list[Finding] = []
    for log in logs:
        known = find_known_rows(model.origin, log)
        if known:
            findings.append(_describe(log, known))
        new_logs += [part for part in _split_off(log, known) if len(part) == len(log) or len(part) >= MIN_SAMPLES]
    return new_logs, findings


def _split_off(log: Log, known: Sequence[tuple[int, int]]) -> list[Log]:
    """Return the parts of a log between these rows; the log itself if there are none."""
    if not known:
        return [log]
    starts, stops = [0, *(stop for _, stop in known)], [*(first for first, _ in known), len(log)]
    return [log.select_rows(start, stop) for start, stop in zip(starts, stops, strict=True) if start < stop]


def _describe(log: Log, known: Sequence[tuple[int, int]]) -> Finding:
    is_whole = list(known) == [(0, len(log))]
    rows = " and ".join(f"{first}:{stop}" for first, stop in known)
    what = "this log" if is_whole else f"rows {rows} of this log"
    statement = f"the model was identified from {what}, and its covariance contains what the data say"
    remedy = "the log is not used a second time" if is_whole else "these rows are not used a second time"
    return Finding(PayloadFindingCode.LOG, Severity.NOTE, statement, remedy, source=log.source)
