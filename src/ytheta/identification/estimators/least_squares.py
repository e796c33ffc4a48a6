"""Full least squares: all equations of all joints at once, each with the same weight or with its joint's.

Identity      beta = (Wᵀ D W)⁻¹ Wᵀ D tau,  D = 1 for plain least squares
Reference     [ha1989] (34), (35)
Differs from  the paper in: products are summed instead of stacking W; a refining pass over the residuals makes good
              what squaring the condition number loses; directions that the data do not show keep the values of the
              robot's description instead of failing
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.estimators.estimate import Estimate
from ytheta.shapes import PerBase, PerJoint

EXACT = 1e-11  # relative error of beta that products of well conditioned equations may leave


@dataclass(frozen=True)
class LeastSquares:
    """All equations count the same."""

    @property
    def name(self) -> str:
        return "least-squares"

    def fit(self, problem: EstimationProblem) -> Estimate:
        sums = problem.sums()
        weights = np.ones(len(sums.joints))
        return estimate(problem, sums, weights, solved(sums, weights, problem.base.beta))


@dataclass(frozen=True, eq=False)
class Solved:
    """A weighted solution and the equations it solves."""

    beta: PerBase
    normal: NormalDecomposition


def solved(sums: NormalEquations, weights: PerJoint, start: PerBase) -> Solved:
    """The weighted solution; ``start`` where the data show nothing."""
    N = sums.normal(weights)
    normal = NormalDecomposition.of(N)
    return Solved(start + normal.solve(sums.moment(weights) - N @ start), normal)


def refined(problem: EstimationProblem, weights: PerJoint, first: Solved) -> PerBase:
    """One step of iterative refinement: the residuals of beta, computed sample by sample, tell what is left.

    Where the equations are so well conditioned that rounding cannot reach ``EXACT``, nothing is left worth a pass.
    """
    if first.normal.condition**2 * np.finfo(float).eps < EXACT:
        return first.beta
    return first.beta + first.normal.solve(problem.sums(around=first.beta).moment(weights))


def estimate(problem: EstimationProblem, sums: NormalEquations, weights: PerJoint, first: Solved, *, rounds: int = 1) -> Estimate:
    """The refined solution with the matrices of its covariance."""
    inverse = first.normal.inverse
    spread = np.zeros((len(sums.joints), sums.base, sums.base))
    used = np.zeros(len(sums.joints))
    for j, (weight, joint) in enumerate(zip(weights, sums.joints, strict=True)):
        gain = inverse[:, joint.columns]
        spread[j] = weight**2 * gain @ joint.gram @ gain.T
        used[j] = weight * float(np.sum(gain[joint.columns] * joint.gram))
    return Estimate(refined(problem, weights, first), spread, used, weights, first.normal.unseen, rounds)
