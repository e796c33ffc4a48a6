"""How many residuals count as one.

Residuals that follow each other alike carry less information than their number says. With
autocorrelations rho_k the mean of n of them varies like that of n / c independent ones, where
c = 1 + 2 sum_k rho_k. The sum ends before the first pair of neighbours with a negative sum (Geyer 1992,
"Practical Markov chain Monte Carlo", initial positive sequence): beyond it there is only noise to add.
"""

from __future__ import annotations

import numpy as np

from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.shapes import Float, JointsBySample, PerBase, PerJoint

LAGS = 200  # residuals, at eight or more per period of the low-pass


def autocorrelation_time(products: Float[np.ndarray, "lags joints"]) -> PerJoint:
    """c of the module docstring, at least 1."""
    rho = products / np.where(products[0] > 0.0, products[0], 1.0)
    pairs = rho[:-1:2] + rho[1::2]  # rho_0 + rho_1, rho_2 + rho_3, …
    positive = np.cumprod(pairs > 0.0, axis=0)
    return np.maximum(2.0 * (pairs * positive).sum(axis=0) - 1.0, 1.0)


def equations_that_count_as_one(problem: EstimationProblem, beta: PerBase) -> PerJoint:
    """The same of the equations of any form, from what beta leaves of them."""
    memory = Memory(len(problem.layout.parts))
    for task in problem.tasks():
        for rows in problem.rows_of(task):
            left = rows.tau - problem.layout.torque(rows.values, beta)
            memory.take((task.source, task.piece.segment), left if rows.kept is None else left * rows.kept)
    return autocorrelation_time(memory.products)


class Memory:
    """NormalEquations of r(t) r(t + k) of residuals that come in the order of time, in pieces of segments."""

    def __init__(self, joints: int) -> None:
        self.products = np.zeros((LAGS, joints))
        self._where: tuple[int, int] | None = None
        self._tail = np.zeros((joints, 0))

    def take(self, where: tuple[int, int], left: JointsBySample) -> None:
        """Products of every new residual with those up to LAGS before it, in this piece or at the end of the last."""
        if where != self._where:
            self._tail = left[:, :0]
        self._where = where
        before = self._tail.shape[1]
        joined = np.concatenate([self._tail, left], axis=1)
        for j, series in enumerate(joined):
            new = series[before:]
            for lag in range(min(LAGS, len(series))):
                start = max(before - lag, 0)
                earlier = series[start : len(series) - lag]
                self.products[lag, j] += float(new[len(new) - len(earlier) :] @ earlier)
        self._tail = joined[:, max(0, joined.shape[1] - LAGS) :]
