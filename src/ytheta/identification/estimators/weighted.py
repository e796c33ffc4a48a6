"""Weighted least squares: the equations of every joint are weighted by the inverse variance of its residuals.

Identity      beta = argmin sum_j |tau_j - Y_j beta|² / v_j,  v_j = |tau_j - Y_j beta|² / n_j
Reference     M. Gautier, "Dynamic identification of robots with power model", ICRA 1997: one reweighting with the
              residuals of least squares with equal weights
Differs from  the paper in: reweighting is repeated until the weights converge (``rounds`` = 1 is the paper's)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.estimate import Estimate
from ytheta.identification.estimators.least_squares import WeightedSolution, make_estimate, solve_weighted
from ytheta.shapes import PerBase, PerJoint

MAX_ROUNDS = 20
WEIGHT_TOLERANCE = 1e-3  # reweighting ends once the relative change of all weights is below this value
# RMS of residual / RMS of torque. Normal equations give squared residuals as a difference of sums of squared torques,
# with a rounding error of some 1e-16 of these sums, so that smaller residuals are rounding errors, not noise.
MIN_RELATIVE_RESIDUAL = 1e-7
# Ratio of two joints' weights. With a larger ratio, rounding errors of one joint's sums would exceed the other's sums.
MAX_WEIGHT_RATIO = 1e8


@dataclass(frozen=True)
class Weighted:
    """Least squares with one weight per joint, reweighted at most ``rounds`` times."""

    rounds: int = MAX_ROUNDS

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise InputError(f"rounds is {self.rounds}; reweight at least once")

    @property
    def name(self) -> str:
        return "weighted"

    def fit(self, problem: EstimationProblem) -> Estimate:
        weights, solution, rounds = solve_reweighted(problem.normal_equations(), problem.base.beta, self.rounds)
        return make_estimate(problem, weights, solution, rounds=rounds)


def solve_reweighted(
    equations: NormalEquations, start: PerBase, max_rounds: int = MAX_ROUNDS
) -> tuple[PerJoint, WeightedSolution, int]:
    """Return the converged weights, the solution with them, and the number of rounds."""
    weights = np.ones(len(equations.joints))
    solution = solve_weighted(equations, weights, start)
    rounds = 0
    while rounds < max_rounds:
        before, weights = weights, compute_joint_weights(equations, solution.beta)
        solution = solve_weighted(equations, weights, start)
        rounds += 1
        if np.all(abs(weights - before) <= WEIGHT_TOLERANCE * weights):
            break
    return weights, solution, rounds


def compute_joint_weights(equations: NormalEquations, beta: PerBase) -> PerJoint:
    """Return the inverse variances of the joints' residuals, scaled so that their median is one.

    The weight is zero for a joint that has no equations or whose torque is always zero.
    """
    informative = (equations.counts > 0.0) & (equations.reference_squares > 0.0)
    if not informative.any():
        return np.ones(len(informative))
    counts = np.where(informative, equations.counts, 1.0)
    floor = MIN_RELATIVE_RESIDUAL**2 * equations.reference_squares / counts
    variances = np.maximum(equations.residual_squares(beta) / counts, floor)
    median = float(np.median(variances[informative]))
    weights = np.where(informative, median / np.maximum(variances, median / MAX_WEIGHT_RATIO), 0.0)
    return np.maximum(weights, np.where(informative, weights.max() / MAX_WEIGHT_RATIO, 0.0))
