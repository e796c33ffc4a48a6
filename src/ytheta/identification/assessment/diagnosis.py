"""Contradictions between log and description, and the single mistake that explains them.

Least squares fits any data: a wrong unit of torques gives wrong masses, and exchanged joints only a larger error.
Mistakes of all usual kinds are mended one by one at selected samples, and compared by ``mistakes.comparison``. Mistakes
in torques need no new regressor and are always compared; the others only if the log looks wrong: if the held-out error
is larger than that of complete models, or if the described links do not explain the torques.

A contradiction without such a mistake is not reported here: descriptions may be placeholders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.mistakes.comparison import Comparison, choose_mistake
from ytheta.identification.assessment.mistakes.errors import Errors
from ytheta.identification.assessment.mistakes.gravity import is_on_earth, list_gravities
from ytheta.identification.assessment.mistakes.joint_order import list_joint_orders, list_torque_orders
from ytheta.identification.assessment.mistakes.lengths import list_length_units
from ytheta.identification.assessment.mistakes.mistake import Interpretation, Mistake
from ytheta.identification.assessment.mistakes.orientation_mistakes import list_orientations
from ytheta.identification.assessment.mistakes.position_mistakes import (
    list_position_offsets,
    list_position_signs,
    list_slide_scales,
)
from ytheta.identification.assessment.mistakes.time_mistakes import (
    USUAL_FACTORS,
    list_delays,
    list_recorded_time_scales,
    list_time_scales,
)
from ytheta.identification.assessment.mistakes.torque_mistakes import (
    list_pairs_of_torque_signs,
    list_torque_scales,
    list_torque_signs,
)
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.logs.log import Log
from ytheta.shapes import PerJoint

# Errors above which a log looks wrong. Complete models of recorded arms have held-out errors of 1 to 4 % of all torques
# and of 5 to 20 % of a joint's own torque, and descriptions that are off by half leave half of the torque unexplained.
MAX_PLAUSIBLE_ERROR, MAX_PLAUSIBLE_JOINT_ERROR = 0.04, 0.2
MAX_PLAUSIBLE_UNEXPLAINED = 0.6
MAX_SMALLER_RATIO = 0.9  # of errors after and before mending, above which nothing is said about them


def diagnose(problem: EstimationProblem, logs: Sequence[Log] = ()) -> tuple[Finding, ...]:
    """Return a finding about the mistake that explains a contradiction between log and description, if there is one.

    ``logs`` are those of the problem as they were read; their velocities show the unit of time.
    """
    interpretation = Interpretation.of(problem)
    # Masses can hide wrong lengths, and other mistakes may seem to explain the rest; the size of a robot is certain.
    comparison = choose_mistake(interpretation, list_length_units(interpretation))
    comparison = comparison or choose_mistake(interpretation, list_recorded_time_scales(interpretation, logs))
    comparison = comparison or choose_mistake(interpretation, _list_mistakes(interpretation, logs))
    return () if comparison is None else (make_finding(comparison),)


def looks_wrong(interpretation: Interpretation) -> bool:
    """Whether errors are so large that mistakes which need new regressors are worth a comparison."""
    errors = interpretation.errors
    unexplained = errors.compute_unexplained(np.arange(len(errors.described)))
    return (
        errors.total > MAX_PLAUSIBLE_ERROR
        or _compute_mean(errors) > MAX_PLAUSIBLE_JOINT_ERROR
        or not is_on_earth(interpretation.robot)
        or (interpretation.has_inertias and unexplained > MAX_PLAUSIBLE_UNEXPLAINED)
    )


def _list_mistakes(interpretation: Interpretation, logs: Sequence[Log]) -> Iterator[Mistake]:
    """Yield mistakes; frequent ones come first, since they win if others explain a log equally well."""
    yield from list_torque_signs(interpretation)
    yield from list_torque_scales(interpretation)
    yield from list_torque_orders(interpretation)
    yield from list_time_scales(interpretation, logs, USUAL_FACTORS)
    if looks_wrong(interpretation):
        yield from list_pairs_of_torque_signs(interpretation)
        yield from list_gravities(interpretation)
        yield from list_joint_orders(interpretation)
        yield from list_time_scales(interpretation, logs)
        yield from list_orientations(interpretation)
        yield from list_position_signs(interpretation)
        yield from list_slide_scales(interpretation)
        yield from list_position_offsets(interpretation)
        yield from list_delays(interpretation)


def make_finding(comparison: Comparison) -> Finding:
    """Return the finding that names a mistake, with the error that mending it would give."""
    mistake, before, after = comparison.mistake, comparison.before, comparison.after
    if comparison.is_fit_accepted:
        pair, subject = (before.total, after.total), "the error on samples that were not fitted"
        if _compute_mean(before) / _compute_mean(after) > before.total / after.total:
            pair, subject = (_compute_mean(before), _compute_mean(after)), "the mean error of the joints' torques"
    elif comparison.is_description_accepted:
        pair = _take_median(before.described, after.described, comparison)
        subject = "the error of the described masses"
    elif comparison.is_friction_accepted:
        pair = _take_median(before.drives, after.drives, comparison)
        subject = "the error of friction that brakes"
    else:
        pair, subject = (before.total, after.total), "the error on samples that were not fitted"
    reason = f"if that is mended, {subject} falls from {_format_percent(pair[0])} to {_format_percent(pair[1])}"
    if comparison.is_only_evidence_accepted:
        reason = f"{mistake.find_evidence()}{f', and {reason}' if pair[1] < MAX_SMALLER_RATIO * pair[0] else ''}"
    fields = {**mistake.fields, "mistake": str(mistake.code)}
    fields |= {"error_percent": 100.0 * pair[0], "mended_error_percent": 100.0 * pair[1]}
    return Finding(
        mistake.code,
        Severity.WARNING,
        f"{mistake.statement}: {reason}",
        mistake.remedy,
        mistake.names,
        fields=fields,
    )


def _compute_mean(errors: Errors) -> float:
    """Return the RMS over the joints of their held-out errors; zero torque has an error of 1."""
    return float(np.sqrt(np.mean(np.minimum(errors.held_out, 1.0) ** 2)))


def _take_median(before: PerJoint, after: PerJoint, comparison: Comparison) -> tuple[float, float]:
    """Return the median over the joints concerned of errors before and after."""
    places = comparison.places
    return float(np.median(before[places])), float(np.median(after[places]))


def _format_percent(error: float) -> str:
    return f"{100.0 * error:.2g} %" if error < 0.995 else "100 % or more"
