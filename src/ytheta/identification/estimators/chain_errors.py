"""Errors that grow along the chain of joints of a sequential estimator, and their remedy: all joints together.

Each joint's parameters are solved for with its own equations, and then used in the equations of the joints after it. If
a joint hardly moves, its own equations determine some of its parameters only weakly. Their errors hardly change the
torque of this joint, but those of the joints after it. The equations of all joints together show whether this happened:

Identity      e(beta) > ``MAX_ERROR_RATIO`` e(beta_all),   e(beta)² = mean of |tau_j - Y_j beta|² / |tau_j|² over all j
Notation      beta_all: weighted least squares with the equations of all joints

A joint whose torque no parameters explain does not fulfil it: the others are then better off without its equations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.normal_equations import NormalDecomposition, NormalEquations
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.estimators.least_squares import Weighted, solve_reweighted
from ytheta.identification.estimators.recursive import Recursive
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.shapes import Float, Int, PerBase

# Largest e that is not reported. Chosen on: reasoning; above it, nine tenths of the squares of the error have grown
# along the chain.
MAX_ERROR_RATIO = 3.0
# Error in percent of the torque, up to which growing errors are not reported. Chosen on: the largest error of a good
# model, see ``verdict``.
MIN_ERROR_PERCENT = 10.0


@dataclass(frozen=True, eq=False)
class OwnParameters:
    """The base parameters that are solved for with the equations of one joint, and their matrix U_iiᵀ U_ii."""

    joint: int
    columns: Int[np.ndarray, " own"]
    gram: Float[np.ndarray, "own own"]


def join_if_errors_grow(
    problem: EstimationProblem,
    estimate: Estimate,
    equations: NormalEquations,
    chain: Sequence[OwnParameters],
    *,
    forgetting: float = 1.0,
) -> Estimate:
    """Return a sequential estimate, or that of all joints together if errors grow along the chain, with a finding.

    ``equations`` are those of the estimate, ``chain`` the parameters of every joint in the order of the solution. A
    joint whose equations do not have full rank has a finding of its own, and its parameters keep the description's
    values.
    """
    finding = _find_growing_errors(problem, estimate.beta, equations, chain)
    if finding is None:
        return estimate
    together = (Weighted() if forgetting == 1.0 else Recursive(forgetting)).fit(problem)
    return replace(
        together,
        findings=(*together.findings, finding),
        joint_condition_numbers=estimate.joint_condition_numbers,
    )


def _find_growing_errors(
    problem: EstimationProblem, beta: PerBase, equations: NormalEquations, chain: Sequence[OwnParameters]
) -> Finding | None:
    _, solution, _ = solve_reweighted(equations, problem.base.beta)
    whole = np.where(equations.reference_squares > 0.0, equations.reference_squares, np.inf)
    error, best = (
        100.0 * np.sqrt(np.maximum(equations.residual_squares(each), 0.0) / whole) for each in (beta, solution.beta)
    )
    total, best_total = (math.sqrt(float(np.mean(each**2))) for each in (error, best))
    if total <= max(MAX_ERROR_RATIO * best_total, MIN_ERROR_PERCENT):
        return None
    spoilt = int(np.argmax(error))
    cause = _find_cause(beta - solution.beta, equations, chain, spoilt)
    condition_number = NormalDecomposition.of(cause.gram).condition_number
    if math.isinf(condition_number):
        return None
    names = problem.base.robot.actuated
    culprit, joint = names[cause.joint], names[spoilt]
    statement = (
        f"the equations of {culprit!r} alone determine its parameters too weakly (condition number "
        f"{condition_number:.3g}), and their errors grow in the joints solved after it: the torque error of {joint!r} "
        f"would be {error[spoilt]:.3g} %, where the equations of all joints together give {best[spoilt]:.3g} %"
    )
    remedy = f"all joints were therefore estimated together; move {culprit!r} more, or use the estimator weighted"
    fields = {
        "condition_number": condition_number,
        "spoilt": joint,
        "error_percent": float(error[spoilt]),
        "joint_error_percent": float(best[spoilt]),
    }
    return Finding(FitFindingCode.ESTIMATOR, Severity.WARNING, statement, remedy, (culprit,), fields=fields)


def _find_cause(
    change: PerBase, equations: NormalEquations, chain: Sequence[OwnParameters], spoilt: int
) -> OwnParameters:
    """Return the joint whose own parameters change the torque of the spoilt joint most; only joints solved before."""
    places = {int(column): k for k, column in enumerate(equations.joints[spoilt].columns)}
    gram = equations.joints[spoilt].gram
    last = next(k for k, part in enumerate(chain) if part.joint == spoilt)
    candidates = chain[:last] or chain[: last + 1]

    def measure_effect(part: OwnParameters) -> float:
        columns = [int(column) for column in part.columns if int(column) in places]
        own = [places[column] for column in columns]
        return float(change[columns] @ gram[np.ix_(own, own)] @ change[columns])

    return max(candidates, key=measure_effect)
