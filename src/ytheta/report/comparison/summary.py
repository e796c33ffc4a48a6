"""A comparison as plain data: the output of ``ytheta compare --json``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ytheta.report.numbers import replace_nonfinite

if TYPE_CHECKING:
    from ytheta.comparison.compare import Comparison, FrictionComparison, ParameterComparison


def summarize_comparison(comparison: Comparison) -> dict[str, Any]:
    """Return parameters, friction and torques of all models; infinite numbers become None."""
    torques = None
    if comparison.predictions:
        errors = [each.errors for each in comparison.predictions]
        torques = {
            "log": comparison.predictions[0].source,
            "joints": list(comparison.models[0].robot.actuated),
            "relative_error_percent": [None if each is None else each.relative_percent for each in errors],
            "per_joint_percent": [None if each is None else each.per_joint_percent.tolist() for each in errors],
            "used_share": [None if each is None else each.used_share.tolist() for each in errors],
            "rms_difference": [each.tolist() for each in comparison.torque_differences],
        }
    data: dict[str, Any] = replace_nonfinite(
        {
            "robot": comparison.models[0].robot.name,
            "models": list(comparison.labels),
            "verdicts": [str(model.table.get("verdict", "unknown")) for model in comparison.models],
            "parameters": [_summarize_row(row) for row in comparison.parameters],
            "friction": [_summarize_row(row) for row in comparison.friction],
            "notable": [row.name for row in comparison.notable],
            "torques": torques,
        }
    )
    return data


def _summarize_row(row: ParameterComparison | FrictionComparison) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(row).items()}
