"""Weighted least squares: every joint's equations count by the inverse variance of its own residuals.

Identity      beta = argmin sum_j |tau_j - Y_j beta|² / v_j,  v_j = |tau_j - Y_j beta|² / n_j
Reference     M. Gautier, "Dynamic identification of robots with power model", ICRA 1997: one reweighting by the
              residuals of plain least squares
Differs from  it in: reweighting goes on until the weights stand still (``rounds`` = 1 is the paper's)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.estimate import Estimate
from ytheta.identification.estimators.least_squares import estimate, solved
from ytheta.shapes import PerBase, PerJoint

SETTLED = 1e-3  # relative change of the weights that is no longer worth a round
SMALLEST = 1e-10  # of a joint's torque: residuals below it are rounding, and no measure of its noise
APART = 1e8  # weights of two joints: more would drown one of them in the other's rounding


@dataclass(frozen=True)
class Weighted:
    """Weights per joint from the residuals, ``rounds`` times at most."""

    rounds: int = 20

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise InputError(f"rounds is {self.rounds}; reweight at least once")

    @property
    def name(self) -> str:
        return "weighted"

    def fit(self, problem: EstimationProblem) -> Estimate:
        sums, start = problem.sums(), problem.base.beta
        weights = np.ones(len(sums.joints))
        found = solved(sums, weights, start)
        rounds = 0
        while rounds < self.rounds:
            before, weights = weights, joint_weights(sums, found.beta)
            found = solved(sums, weights, start)
            rounds += 1
            if np.all(abs(weights - before) <= SETTLED * weights):
                break
        return estimate(problem, sums, weights, found, rounds=rounds)


def joint_weights(sums: NormalEquations, beta: PerBase) -> PerJoint:
    """Inverse variances of the residuals, scaled so that the median joint has weight one.

    A joint without equations, or without any torque in them, says nothing and has weight zero.
    """
    says = (sums.counts > 0.0) & (sums.squares > 0.0)
    if not says.any():
        return np.ones(len(says))
    counts = np.where(says, sums.counts, 1.0)
    floor = SMALLEST**2 * sums.squares / counts
    variances = np.maximum(sums.residual_squares(beta) / counts, floor)
    middle = float(np.median(variances[says]))
    weights = np.where(says, middle / np.maximum(variances, middle / APART), 0.0)
    return np.maximum(weights, np.where(says, weights.max() / APART, 0.0))
