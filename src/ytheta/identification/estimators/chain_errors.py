"""Errors that grow along the chain of joints of a sequential estimator, and their remedy: all joints together.

The remedy is not part of the papers; with ``one_by_one``, it is not applied, and the errors are only stated.

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
from ytheta.shapes import Float, Int, PerBase, PerJoint

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


@dataclass(frozen=True, eq=False)
class ChainErrors:
    """The torque errors of the joints solved one by one, and those of all joints solved together.

    Attributes
    ----------
    joints            names of the joints in the order of the solution
    percent           error of each of these joints, in percent of its torque, one by one
    together_percent  the same with the equations of all joints together
    cause, spoilt     names of the joint whose parameters change the largest error most, and of the joint that has it
    condition_number  of the own equations of the cause; infinite if they do not identify all of its parameters
    """

    joints: tuple[str, ...]
    percent: PerJoint
    together_percent: PerJoint
    cause: str
    spoilt: str
    condition_number: float

    @property
    def grow(self) -> bool:
        """Whether the errors grow along the chain because a joint determines its parameters only weakly."""
        total, best = (math.sqrt(float(np.mean(each**2))) for each in (self.percent, self.together_percent))
        return total > max(MAX_ERROR_RATIO * best, MIN_ERROR_PERCENT) and math.isfinite(self.condition_number)

    @property
    def fields(self) -> dict[str, object]:
        place = self.joints.index(self.spoilt)
        return {
            "condition_number": self.condition_number,
            "spoilt": self.spoilt,
            "error_percent": float(self.percent[place]),
            "joint_error_percent": float(self.together_percent[place]),
            "order": list(self.joints),
            "error_percent_by_joint": self.percent.tolist(),
            "joint_error_percent_by_joint": self.together_percent.tolist(),
        }


def judge_chain(
    problem: EstimationProblem,
    estimate: Estimate,
    equations: NormalEquations,
    chain: Sequence[OwnParameters],
    *,
    one_by_one: bool,
    forgetting: float = 1.0,
) -> Estimate:
    """Return a sequential estimate, or that of all joints together if errors grow along the chain, with a finding.

    ``equations`` are those of the estimate, ``chain`` the parameters of every joint in the order of the solution. If
    ``one_by_one`` is true, the sequential estimate is returned in any case, and a finding says how its errors grow. A
    joint whose equations do not have full rank has a finding of its own, and its parameters keep the description's
    values.
    """
    errors = _compute_chain_errors(problem, estimate.beta, equations, chain)
    if one_by_one:
        return replace(estimate, findings=(*estimate.findings, _describe_growth(errors)))
    if not errors.grow:
        return estimate
    together = (Weighted() if forgetting == 1.0 else Recursive(forgetting)).fit(problem)
    return replace(
        together,
        findings=(*together.findings, _describe_replacement(errors)),
        joint_condition_numbers=estimate.joint_condition_numbers,
    )


def _compute_chain_errors(
    problem: EstimationProblem, beta: PerBase, equations: NormalEquations, chain: Sequence[OwnParameters]
) -> ChainErrors:
    _, solution, _ = solve_reweighted(equations, problem.base.beta)
    whole = np.where(equations.reference_squares > 0.0, equations.reference_squares, np.inf)
    percent, together = (
        100.0 * np.sqrt(np.maximum(equations.residual_squares(each), 0.0) / whole) for each in (beta, solution.beta)
    )
    spoilt = int(np.argmax(percent))
    cause = _find_cause(beta - solution.beta, equations, chain, spoilt)
    names, order = problem.base.robot.actuated, [part.joint for part in chain]
    return ChainErrors(
        joints=tuple(names[k] for k in order),
        percent=percent[order],
        together_percent=together[order],
        cause=names[cause.joint],
        spoilt=names[spoilt],
        condition_number=NormalDecomposition.of(cause.gram).condition_number,
    )


def _describe_replacement(errors: ChainErrors) -> Finding:
    fields = errors.fields
    statement = (
        f"the equations of {errors.cause!r} alone determine its parameters too weakly (condition number "
        f"{errors.condition_number:.3g}), and their errors grow in the joints solved after it: the torque error of "
        f"{errors.spoilt!r} would be {fields['error_percent']:.3g} %, where the equations of all joints together give "
        f"{fields['joint_error_percent']:.3g} %"
    )
    remedy = (
        f"all joints were therefore estimated together; move {errors.cause!r} more, use the estimator weighted, or "
        "keep the estimate joint by joint (one_by_one, --one-by-one)"
    )
    return Finding(FitFindingCode.ESTIMATOR, Severity.WARNING, statement, remedy, (errors.cause,), fields=fields)


def _describe_growth(errors: ChainErrors) -> Finding:
    """Return how the errors grow along the chain of an estimate that is kept; a note if they do not."""
    pairs = zip(errors.joints, errors.percent, errors.together_percent, strict=True)
    by_joint = ", ".join(f"{name!r} {percent:.3g} ({together:.3g}) %" for name, percent, together in pairs)
    statement = (
        "the joints were estimated one by one; their torque errors in this order, and in brackets those of all joints "
        f"together: {by_joint}"
    )
    if not errors.grow:
        return Finding(FitFindingCode.ESTIMATOR, Severity.NOTE, statement, "", fields=errors.fields)
    statement += (
        f". The errors grow because the equations of {errors.cause!r} alone determine its parameters too weakly "
        f"(condition number {errors.condition_number:.3g})"
    )
    remedy = f"move {errors.cause!r} more, or estimate all joints together: leave one_by_one (--one-by-one) out"
    return Finding(FitFindingCode.ESTIMATOR, Severity.WARNING, statement, remedy, (errors.cause,), fields=errors.fields)


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
