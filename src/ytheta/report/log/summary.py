"""A log as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ytheta.report.numbers import replace_nonfinite

if TYPE_CHECKING:
    from ytheta.logs.log import Log


def summarize_log(log: Log) -> dict[str, Any]:
    """Return size, sampling, the range of every quantity of every joint, and the findings."""
    quantities = {"q": log.q, "qd": log.qd, "tau": log.tau}
    data: dict[str, Any] = replace_nonfinite(
        {
            "log": log.source,
            "joints": list(log.joints),
            "samples": len(log),
            "seconds": log.seconds,
            "rate": log.rate,
            "start": float(log.t[0]) if len(log) else None,
            "segments": [list(segment) for segment in log.segments],
            "ranges": {
                name: None
                if values is None or not len(log)
                else [values.min(axis=0).tolist(), values.max(axis=0).tolist()]
                for name, values in quantities.items()
            },
        }
    )
    return data | {"findings": [finding.data for finding in log.findings]}
