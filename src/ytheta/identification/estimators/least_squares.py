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
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.estimate import Estimate
from ytheta.shapes import BaseByBase, Float, PerBase, PerJoint

MAX_ROUNDING_ERROR = 1e-11  # relative rounding error of beta; below it, no refining pass is made


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
