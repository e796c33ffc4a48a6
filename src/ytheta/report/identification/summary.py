"""An identification as plain data: the output of ``ytheta identify --json``, also embedded in the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import ytheta
from ytheta.identification.assessment.excitation import Certainty
from ytheta.identification.model_table import (
    summarize_base_parameters,
    summarize_causes,
    summarize_choice,
    summarize_consistency,
    summarize_errors,
    summarize_min_speed,
    summarize_prediction_errors,
    summarize_prior,
    summarize_selection,
    summarize_standard_parameters,
)
from ytheta.report.identification.headline import summarize_before_after
from ytheta.report.identification.statistics import (
    MAX_CORRELATION,
    compute_relative_autocorrelation,
    count_parameters,
    find_strongest_correlations,
    measure_motion,
)
from ytheta.report.numbers import replace_nonfinite

if TYPE_CHECKING:
    from ytheta.identification.result import Identification


def summarize_identification(identification: Identification) -> dict[str, Any]:
    """Return the results of an identification; infinite and undefined numbers become None."""
    origin = identification.origin
    nothing = np.full(len(identification.base), np.nan)
    described, differences = identification.description_beta, identification.description_differences
    rows = zip(
        summarize_base_parameters(identification),
        (nothing if described is None else described).tolist(),
        (nothing if differences is None else differences).tolist(),
        identification.base.independent,
        identification.relative_std_percent,
        identification.seen,
        identification.base.expressions,
        identification.base.function_texts or [None] * len(identification.base),
        strict=True,
    )
    data = {
        "ytheta": ytheta.__version__,
        "robot": identification.base.robot.name,
        "joints": list(identification.base.robot.actuated),
        "logs": list(origin.logs),
        "validation_logs": list(origin.validation_logs),
        "log_rows": origin.log_rows,
        **summarize_selection(origin.parameters),
        "unknown_lengths": [],
        "unknown_angles": [],
        **identification.base.unknown_geometry,
        "estimator": origin.estimator,
        "form": origin.form,
        "cutoff": origin.cutoff,
        "cutoffs": list(origin.judged_cutoffs),
        "fit_cutoffs": [float(each.cutoff) for each in origin.settings],
        "derivative": origin.settings[0].derivative,
        "min_speed": None,
        **summarize_min_speed(origin.min_speed),
        "samples": identification.samples,
        "equations": [round(count) for count in identification.normal_equations.counts.tolist()],
        "base_count": len(identification.base),
        "determined": count_parameters(identification, Certainty.DETERMINED),
        "too_small_to_matter": count_parameters(identification, Certainty.SMALL),
        "weak": count_parameters(identification, Certainty.WEAK),
        "unseen": count_parameters(identification, Certainty.UNSEEN),
        "condition_number": identification.condition_number,
        "joint_condition_numbers": _summarize_joint_condition_numbers(identification),
        "fit": summarize_prediction_errors(identification, identification.fit),
        "validation": None
        if identification.validation is None
        else summarize_prediction_errors(identification, identification.validation),
        "before_after": summarize_before_after(identification),
        "motion": _summarize_coverage(identification),
        "noise": identification.torque_noise.tolist(),
        "quality": _summarize_quality(identification),
        "residual_causes": summarize_causes(identification),
        "reported": _summarize_reported_errors(identification),
        "parameters": [
            {
                **row,
                "description": before,
                "difference_in_std": difference,
                "independent": independent,
                "relative_std_percent": percent if row["value"] else None,
                "seen": seen.value,
                "expression": expression,
                "function": function,
            }
            for row, before, difference, independent, percent, seen, expression, function in rows
        ],
        "standard_parameters": {name: seen.value for name, seen in identification.standard_seen.items()},
        "standard": list(summarize_standard_parameters(identification)),
        "choice": summarize_choice(identification.choice),
        "prior": summarize_prior(identification),
        "consistency": summarize_consistency(identification),
        "correlations": [
            {"parameters": [a, b], "value": value}
            for a, b, value in find_strongest_correlations(identification, MAX_CORRELATION)
        ],
        "correlated": compute_relative_autocorrelation(identification).tolist(),
        "autocorrelation_time": identification.fit.autocorrelation_time.tolist(),
        "missing": [
            {"parameters": list(advice.parameters), "motion": advice.text} for advice in identification.missing
        ],
        "findings": [finding.data for finding in identification.findings],
        "consistent": identification.consistent,
        "inconsistent": identification.inconsistent,
        "verdict": identification.verdict.grade.value,
        "solved": identification.verdict.solved,
        "reason": identification.verdict.sentence,
    }
    return {key: replace_nonfinite(value) for key, value in data.items()}


def _summarize_quality(identification: Identification) -> dict[str, Any]:
    """Return the percentages by which the model is graded."""
    quality, other = identification.quality, identification.other_motion_quality
    return {
        "error_percent": quality.total_error,
        "joint_error_percent": quality.error.tolist(),
        "uncertainty_percent": quality.total_uncertainty,
        "joint_uncertainty_percent": quality.uncertainty.tolist(),
        "other_motion_uncertainty_percent": None if other is None else other.total_uncertainty,
    }


def _summarize_reported_errors(identification: Identification) -> dict[str, Any] | None:
    """Return the errors at the report cut-off, if it was given."""
    reported = identification.reported
    if reported is None:
        return None
    return {
        "cutoff": reported.cutoff,
        "fit": replace_nonfinite(summarize_errors(reported.fit)),
        "validation": None if reported.validation is None else replace_nonfinite(summarize_errors(reported.validation)),
    }


def _summarize_joint_condition_numbers(identification: Identification) -> dict[str, float] | None:
    """Return the condition number of every joint's own equations, if the estimator is lin."""
    numbers = identification.estimate.joint_condition_numbers
    if numbers is None:
        return None
    return dict(zip(identification.base.robot.actuated, numbers.tolist(), strict=True))


def _summarize_coverage(identification: Identification) -> list[dict[str, Any]]:
    """Return the recorded motion of each joint and its share of the limits as plain data."""
    coverage = measure_motion(identification)
    return [
        {
            "joint": name,
            "lower": float(coverage.motion.lower[j]),
            "upper": float(coverage.motion.upper[j]),
            "position_share": float(coverage.position[j]),
            "speed": float(coverage.motion.speed[j]),
            "speed_share": float(coverage.speed[j]),
            "torque": float(coverage.motion.torque[j]),
            "torque_share": float(coverage.torque[j]),
        }
        for j, name in enumerate(identification.base.robot.actuated)
    ]
