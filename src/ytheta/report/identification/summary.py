"""An identification as plain data: what ``ytheta identify --json`` prints, and what programs read beside the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ytheta
from ytheta.identification.assessment.excitation import Certainty
from ytheta.identification.model_file import asked_about, figures
from ytheta.report.identification.figures import ENTANGLED, correlated, counted, strongest

if TYPE_CHECKING:
    from ytheta.identification.result import Identification


def summary(found: Identification) -> dict[str, Any]:
    """Everything worth knowing of an identification. What is infinite or not defined is None."""
    origin = found.origin
    rows = zip(
        found.names,
        found.base.independent,
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
        **asked_about(origin.asked),
        "estimator": origin.estimator,
        "form": origin.form,
        "cutoff": float(origin.settings[0].cutoff),
        "derivative": origin.settings[0].derivative,
        "min_speed": None if origin.min_speed is None else list(origin.min_speed),
        "samples": found.samples,
        "equations": [round(count) for count in found.sums.counts.tolist()],
        "base_count": len(found.base),
        "determined": counted(found, Certainty.DETERMINED),
        "too_small_to_matter": counted(found, Certainty.SMALL),
        "weak": counted(found, Certainty.WEAK),
        "unseen": counted(found, Certainty.UNSEEN),
        "condition_number": found.condition_number,
        "fit": figures(found.fit),
        "validation": None if found.validation is None else figures(found.validation),
        "parameters": [
            {
                "name": name,
                "independent": independent,
                "value": value,
                "std": std,
                "relative_std_percent": percent if value else None,
                "seen": seen.value,
                "expression": expression,
            }
            for name, independent, value, std, percent, seen, expression in rows
        ],
        "standard_parameters": {name: seen.value for name, seen in found.standard_seen.items()},
        "correlations": [{"parameters": [a, b], "value": value} for a, b, value in strongest(found, ENTANGLED)],
        "correlated": correlated(found).tolist(),
        "samples_that_count_as_one": found.fit.correlated.tolist(),
        "missing": [{"parameters": list(advice.parameters), "motion": advice.text} for advice in found.missing],
        "findings": [finding.data for finding in found.findings],
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
