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

from ytheta.identify.estimate import Estimate
from ytheta.identify.problem import Problem
from ytheta.identify.rows import Beta
from ytheta.identify.solve import Normal
from ytheta.identify.sums import Sums
from ytheta.shapes import Float

Weights = Float[np.ndarray, "joints"]


@dataclass(frozen=True)
class LeastSquares:
    """All equations count the same."""

    @property
    def name(self) -> str:
        return "least-squares"

    def fit(self, problem: Problem) -> Estimate:
        sums = problem.sums()
        weights = np.ones(len(sums.joints))
        start = problem.base.beta
        beta = solved(sums, weights, start)
        return estimate(problem, sums, weights, beta)


def solved(sums: Sums, weights: Weights, start: Beta) -> Beta:
    """The weighted solution; ``start`` where the data show nothing."""
    N = sums.normal(weights)
    return start + Normal.of(N).solve(sums.moment(weights) - N @ start)


def refined(problem: Problem, sums: Sums, weights: Weights, beta: Beta) -> Beta:
    """One step of iterative refinement: the residuals of beta, computed sample by sample, tell what is left."""
    left = problem.sums(around=beta)
    return beta + Normal.of(sums.normal(weights)).solve(left.moment(weights))


def estimate(problem: Problem, sums: Sums, weights: Weights, beta: Beta, *, rounds: int = 1) -> Estimate:
    """The refined solution with the matrices of its covariance."""
    normal = Normal.of(sums.normal(weights))
    spread = np.zeros((len(sums.joints), sums.base, sums.base))
    used = np.zeros(len(sums.joints))
    for j, (weight, joint) in enumerate(zip(weights, sums.joints, strict=True)):
        gain = normal.inverse[:, joint.columns]
        spread[j] = weight**2 * gain @ joint.gram @ gain.T
        used[j] = weight * float(np.sum(gain[joint.columns] * joint.gram))
    return Estimate(refined(problem, sums, weights, beta), spread, used, weights, normal.unseen, rounds)
