"""Autocorrelation time of residuals: the number of samples that carry the information of one independent sample.

Let rho_k be the autocorrelation of the residuals at lag k, and c = 1 + 2·sum_k rho_k. The mean of n residuals then has
the variance of the mean of n / c independent residuals. The sum ends before the first pair rho_2i + rho_2i+1 that is
not positive, because later estimated autocorrelations are only noise (Geyer 1992, "Practical Markov chain Monte Carlo",
initial positive sequence).
"""

from __future__ import annotations

import numpy as np

from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.shapes import Float, JointsBySample, PerBase, PerJoint

# Number of lags, in samples. With automatic decimation a period of the cut-off frequency has at most 16 samples, so the
# lags cover at least 12 periods.
LAG_COUNT = 200


def compute_autocorrelation_time(autocovariance: Float[np.ndarray, "lags joints"]) -> PerJoint:
    """Return the autocorrelation time c of the module docstring for each joint, in samples; c is at least 1."""
    rho = autocovariance / np.where(autocovariance[0] > 0.0, autocovariance[0], 1.0)
    pairs = rho[:-1:2] + rho[1::2]  # rho_0 + rho_1, rho_2 + rho_3, …
    positive = np.cumprod(pairs > 0.0, axis=0)
    return np.maximum(2.0 * (pairs * positive).sum(axis=0) - 1.0, 1.0)


def compute_equation_autocorrelation_time(problem: EstimationProblem, beta: PerBase) -> PerJoint:
    """Return the autocorrelation time of each joint's residuals for any equation form, as a number of equations."""
    accumulator = AutocovarianceAccumulator(len(problem.layout.slices))
    for task in problem.tasks():
        for rows in problem.rows_of(task):
            residual = problem.layout.residual(rows, beta)
            residual = residual if rows.mask is None else residual * rows.mask
            accumulator.add((task.source, task.samples.segment), residual)
    return compute_autocorrelation_time(accumulator.autocovariance)


class AutocovarianceAccumulator:
    """Sums of r(t) r(t + k) over all samples t, for each lag k; residuals r are added in the order of time."""

    def __init__(self, joints: int) -> None:
        self.autocovariance = np.zeros((LAG_COUNT, joints))
        self._segment: tuple[int, int] | None = None
        self._tail = np.zeros((joints, 0))

    def add(self, segment: tuple[int, int], residual: JointsBySample) -> None:
        """Add the products of new residuals with those of the same segment at most LAG_COUNT - 1 samples earlier."""
        if segment != self._segment:
            self._tail = residual[:, :0]
        self._segment = segment
        if not residual.size:
            return
        missing = np.zeros((len(residual), LAG_COUNT - 1 - self._tail.shape[1]))  # before the start of the segment
        joined = np.concatenate([missing, self._tail, residual], axis=1)
        for j, (series, new) in enumerate(zip(joined, residual, strict=True)):
            self.autocovariance[:, j] += np.correlate(series, new, "valid")[::-1]  # the largest lag comes first
        known = min(self._tail.shape[1] + residual.shape[1], LAG_COUNT - 1)
        self._tail = joined[:, joined.shape[1] - known :]
