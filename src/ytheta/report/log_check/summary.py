"""Checked logs as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ytheta.report.numbers import replace_nonfinite

if TYPE_CHECKING:
    from ytheta.logs.check import CheckedLog, LogCheck


def summarize_log_check(check: LogCheck) -> dict[str, Any]:
    """Return columns, rows, plausibility and findings of every log."""
    return {
        "robot": check.robot.name,
        "joints": list(check.robot.actuated),
        "accepted": check.accepted,
        "logs": [_summarize_log(checked) for checked in check.logs],
        "unreadable": [{"log": log.source, "refusal": log.refusal} for log in check.unreadable],
    }


def _summarize_log(checked: CheckedLog) -> dict[str, Any]:
    log, origin = checked.log, checked.log.origin
    columns = [
        asdict(column.origin)
        | {
            "lowest": column.lowest,
            "highest": column.highest,
            "plausible": column.is_plausible,
            "remark": column.remark,
        }
        for column in checked.columns
    ]
    data: dict[str, Any] = replace_nonfinite(
        {
            "log": log.source,
            "accepted": not checked.refusal,
            "refusal": checked.refusal,
            "format": origin.format if origin else "",
            "topic": origin.topic if origin else "",
            "message_type": origin.message_type if origin else "",
            "rows": {
                "recorded": origin.rows if origin else len(log),
                "first": origin.first if origin else 0,
                "stop": origin.stop if origin else len(log),
                "used": len(log),
            },
            "seconds": log.seconds,
            "rate": log.rate,
            "segments": len(log.segments),
            "columns": columns,
            "unused_columns": list(origin.unused) if origin else [],
            "ignored_joints": list(origin.ignored_joints) if origin else [],
        }
    )
    return data | {"findings": [finding.data for finding in log.findings]}
