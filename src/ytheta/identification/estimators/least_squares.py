"""Least squares: all equations of all joints at once, with equal weights or with one weight per joint.

Identity      beta = (Wᵀ D W)⁻¹ Wᵀ D tau,  W: Y of all samples, stacked;  D: diagonal matrix of the weights
Reference     [ha1989] (34), (35)
Differs from  the paper in: normal equations are accumulated instead of stacking W; a pass over the residuals restores
              the accuracy lost by squaring the condition number; directions that the data do not identify keep the
              values of the robot's description
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.engine.local import limit_blas_threads
from ytheta.errors import InputError
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.normal_equations import NormalDecomposition, NormalEquations
from ytheta.identification.estimators.estimator import Estimate
from ytheta.shapes import BaseByBase, Float, PerBase, PerJoint

# Relative rounding error of beta, up to which no refining pass is made. Chosen on: reasoning; far below the standard
# deviations of any log.
MAX_ROUNDING_ERROR = 1e-11


@dataclass(frozen=True)
class LeastSquares:
    """Least squares with equal weights."""

    @property
    def name(self) -> str:
        return "least-squares"

    @limit_blas_threads()  # its threads wait for each other longer than such small matrices take
    def fit(self, problem: EstimationProblem) -> Estimate:
        equations = problem.normal_equations()
        weights = np.ones(len(equations.joints))
        return make_estimate(problem, weights, solve_weighted(equations, weights, problem.base.beta))


@dataclass(frozen=True, eq=False)
class WeightedSolution:
    """A solution of weighted normal equations and the decomposition of their matrix."""

    beta: PerBase
    decomposition: NormalDecomposition


def solve_weighted(equations: NormalEquations, weights: PerJoint, start: PerBase) -> WeightedSolution:
    """Solve the weighted normal equations; beta keeps the values of ``start`` along unidentified directions."""
    N = equations.matrix(weights)
    decomposition = NormalDecomposition.of(N)
    step = decomposition.solve(equations.right_side(weights) - N @ start)
    return WeightedSolution(start + step, decomposition)


def refine(problem: EstimationProblem, weights: PerJoint, solution: WeightedSolution) -> PerBase:
    """Improve a solution by one step of iterative refinement, with residuals computed sample by sample.

    The step is skipped if the condition number is so small that rounding errors are below ``MAX_ROUNDING_ERROR``.
    """
    decomposition = solution.decomposition
    if decomposition.condition_number**2 * np.finfo(float).eps < MAX_ROUNDING_ERROR:
        return solution.beta
    residuals = problem.normal_equations(around=solution.beta)
    return solution.beta + decomposition.solve(residuals.right_side(weights))


def make_estimate(
    problem: EstimationProblem, weights: PerJoint, solution: WeightedSolution, *, rounds: int = 1
) -> Estimate:
    """Refine a solution and compute the matrices of its covariance."""
    equations, inverse = problem.normal_equations(), solution.decomposition.inverse
    spread, degrees_of_freedom = compute_spread(equations, weights, inverse)
    beta = refine(problem, weights, solution)
    return Estimate(beta, spread, degrees_of_freedom, weights, solution.decomposition.null_space, rounds, gain=inverse)


def compute_spread(
    equations: NormalEquations, weights: PerJoint, gain: BaseByBase
) -> tuple[Float[np.ndarray, "joints base base"], PerJoint]:
    """Return P_j and the degrees of freedom of the estimate beta = sum_j w_j ``gain`` Y_jᵀ tau_j."""
    spread = np.zeros((len(equations.joints), equations.base_count, equations.base_count))
    degrees_of_freedom = np.zeros(len(equations.joints))
    for j, (weight, joint) in enumerate(zip(weights, equations.joints, strict=True)):
        own = gain[:, joint.columns]
        spread[j] = weight**2 * own @ joint.gram @ own.T
        degrees_of_freedom[j] = weight * float(np.sum(gain[np.ix_(joint.columns, joint.columns)] * joint.gram))
    return spread, degrees_of_freedom


# Weighted least squares: the equations of every joint are weighted by the inverse variance of its residuals.
#
# Identity      beta = argmin sum_j |tau_j - Y_j beta|² / v_j,  v_j = |tau_j - Y_j beta|² / n_j
# Reference     M. Gautier, "Dynamic identification of robots with power model", ICRA 1997: one reweighting with the
#               residuals of least squares with equal weights
# Differs from  the paper in: reweighting is repeated until the weights converge (``rounds`` = 1 is the paper's)


# Largest number of times that weights are estimated. Chosen on: rule of thumb.
MAX_ROUNDS = 20
# Reweighting ends once the relative change of all weights is below this value. Chosen on: rule of thumb.
WEIGHT_TOLERANCE = 1e-3
# Smallest RMS of residuals that counts as noise, relative to that of the torque. Chosen on: reasoning; normal
# equations give squared residuals as a difference of sums of squared torques, with a rounding error of some 1e-16 of
# these sums, so that smaller residuals are rounding errors.
MIN_RELATIVE_RESIDUAL = 1e-7
# Largest ratio of two joints' weights. Chosen on: reasoning; with a larger ratio, rounding errors of one joint's sums
# would exceed the other's sums.
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
