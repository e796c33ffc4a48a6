"""An identification as plain data: what ``ytheta identify --json`` prints, and what programs read beside the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ytheta
from ytheta.identification.excitation import Seen
from ytheta.identification.model_file import figures

if TYPE_CHECKING:
    from ytheta.identification.result import Identification


def summary(found: Identification) -> dict[str, Any]:
    """Everything worth knowing of an identification. What is infinite or not defined is None."""
    origin = found.origin
    rows = zip(
        found.names,
        found.beta,
        found.std,
        found.relative_std_percent,
        found.seen,
        found.base.expressions,
        strict=True,
    )
    data = {
        "ytheta": ytheta.__version__,
        "robot": found.base.robot.name,
        "joints": list(found.base.robot.actuated),
        "logs": list(origin.logs),
        "validation_logs": list(origin.validation_logs),
        "estimator": origin.estimator,
        "form": origin.form,
        "cutoff": float(origin.settings[0].cutoff),
        "samples": found.samples,
        "base_count": len(found.base),
        "determined": determined(found),
        "condition_number": found.condition_number,
        "fit": figures(found.fit),
        "validation": None if found.validation is None else figures(found.validation),
        "parameters": [
            {
                "name": name,
                "value": value,
                "std": std,
                "relative_std_percent": percent if value else None,
                "seen": seen.value,
                "expression": expression,
            }
            for name, value, std, percent, seen, expression in rows
        ],
        "standard_parameters": {name: seen.value for name, seen in found.standard_seen.items()},
        "correlated": found.fit.correlated.tolist(),
        "expected_correlation": origin.expected_correlation,
        "missing": [{"parameters": list(advice.parameters), "motion": advice.text} for advice in found.missing],
        "findings": [
            {"kind": finding.kind, "weight": finding.weight.value, "text": finding.text} for finding in found.findings
        ],
        "consistent": not found.inconsistent,
        "inconsistent": found.inconsistent,
        "verdict": found.verdict.grade.value,
        "solved": found.verdict.solved,
        "reason": found.verdict.sentence,
    }
    return {key: finite(value) for key, value in data.items()}


def finite(value: Any) -> Any:
    """The same data with None for every number that JSON does not know."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [finite(entry) for entry in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def determined(found: Identification) -> int:
    """How many base parameters the data determine."""
    return sum(seen is Seen.DETERMINED for seen in found.seen)
