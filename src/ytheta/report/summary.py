"""The main figures of an identification as plain data: what programs read beside the page."""

from __future__ import annotations

import math
from typing import Any

import ytheta
from ytheta.identify.excitation import Seen
from ytheta.identify.identification import Identification
from ytheta.identify.model_file import figures


def summary(found: Identification) -> dict[str, Any]:
    """One JSON object; what is not finite is None."""
    return {
        "ytheta": ytheta.__version__,
        "robot": found.base.robot.name,
        "verdict": found.verdict.grade.value,
        "reason": found.verdict.sentence,
        "solved": found.verdict.solved,
        "samples": found.samples,
        "base_count": len(found.base),
        "determined": determined(found),
        "condition_number": _finite(found.condition_number),
        "joints": list(found.base.robot.actuated),
        "fit": figures(found.fit),
        "validation": None if found.validation is None else figures(found.validation),
        "parameters": [
            {
                "name": name,
                "expression": expression,
                "value": _finite(value),
                "std": _finite(std),
                "seen": seen.value,
            }
            for name, expression, value, std, seen in zip(
                found.names, found.base.expressions, found.beta, found.std, found.seen, strict=True
            )
        ],
        "consistent": not found.inconsistent,
        "inconsistent": dict(found.inconsistent),
        "missing": [{"parameters": list(each.parameters), "motion": each.text} for each in found.missing],
        "findings": [{"kind": f.kind, "weight": f.weight.value, "text": f.text} for f in found.findings],
        "logs": list(found.origin.logs),
        "validation_logs": list(found.origin.validation_logs),
        "form": found.origin.form,
        "estimator": found.origin.estimator,
    }


def determined(found: Identification) -> int:
    """How many base parameters the data determine."""
    return sum(seen is Seen.DETERMINED for seen in found.seen)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
