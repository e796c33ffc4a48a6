"""Noise of the equations: the variance of each joint's residuals, and how many equations count as one.

Residuals are correlated in time, so that n equations carry the information of fewer independent ones. For parameters,
this matters only as far as the columns of Y are correlated over the same times:

Identity      cov(Yᵀ r) = sum_k gamma_r(k) Gamma_Y(k)  =>  c = 1 + 2 sum_k rho_r(k) rho_Y(k)
Reference     W. K. Newey and K. D. West, Econometrica 55 (1987) 703-708: the sum over lags;
              M. F. Hutchinson, Communications in Statistics 19 (1990) 433-450: traces by random signs
Notation      code        meaning
              rho_r       autocorrelation of a joint's residuals
              rho_Y       autocorrelation of Y N^-½, averaged over its columns: N is the information of all equations
              inflation   c, one number for all joints, weighted by the information in each joint's equations
Differs from  the papers in: the lags end where the sum of a pair is no longer positive, see ``autocorrelation``; at most
              ``MAX_PIECES`` pieces of the motion are used, so that the cost does not grow with the log
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.identification.equations.autocorrelation import LAG_COUNT, compute_autocorrelation_time
from ytheta.identification.equations.decomposition import NormalDecomposition
from ytheta.identification.equations.estimation_problem import EstimationProblem, Task
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.shapes import Float, PerBase, PerJoint

MAX_PIECES = 32
PROBE_COUNT = 8  # columns of random signs with which the trace over the columns of Y is computed
# Share of the equations that remains for the variance if correlated equations are fewer than the parameters.
MIN_REMAINING_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Noise:
    """Variances v_j of the joints' residuals, and the number c of equations that count as one."""

    variances: PerJoint
    inflation: float

    @property
    def weights(self) -> PerJoint:
        """Information per equation of each joint, 1 / (v_j c); 0 for a joint without equations."""
        positive = self.variances > 0.0
        return np.where(positive, 1.0 / (np.where(positive, self.variances, 1.0) * self.inflation), 0.0)


def estimate_inflation(
    problem: EstimationProblem, beta: PerBase, weights: PerJoint, decomposition: NormalDecomposition
) -> float:
    """Return c of the module docstring for the residuals of ``beta``.

    ``weights`` are those of the joints' equations, and ``decomposition`` is that of their matrix N.
    """
    tasks = list(problem.tasks())
    chosen = [tasks[k] for k in np.unique(np.linspace(0, len(tasks) - 1, MAX_PIECES).round().astype(int))]
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (decomposition.rank, PROBE_COUNT))  # fixed: repeatable
    probes = decomposition.half_inverse @ signs

    def work(task: Task) -> Float[np.ndarray, "2 lags joints"]:
        residuals: list[np.ndarray] = []
        columns: list[np.ndarray] = []
        for rows in problem.rows_of(task):
            mask = 1.0 if rows.mask is None else rows.mask
            residuals.append((rows.tau - problem.layout.torque(rows.values, beta)) * mask)
            columns.append(np.stack([problem.layout.torque(rows.values, probe) * mask for probe in probes.T]))
        series = np.concatenate([np.concatenate(residuals, axis=1)[None], np.concatenate(columns, axis=2)])
        products = _compute_autocovariance(series)
        return np.stack([products[0], products[1:].sum(axis=0)])

    residual, column = np.asarray(sum(map_in_order(work, iter(chosen), threads=problem.threads)))
    rho = residual / np.where(residual[0] > 0.0, residual[0], 1.0) * column * weights
    information = float((column[0] * weights).sum())
    if not information > 0.0:
        return 1.0
    return float(compute_autocorrelation_time(rho.sum(axis=1, keepdims=True) / information)[0])


def estimate_variances(
    equations: NormalEquations, beta: PerBase, degrees_of_freedom: PerJoint, inflation: float
) -> PerJoint:
    """Return the variances of the joints' residuals; correlated equations determine fewer parameters."""
    counts = equations.counts
    remaining = np.maximum(counts - inflation * degrees_of_freedom, MIN_REMAINING_SHARE * counts)
    return equations.residual_squares(beta) / np.where(counts > 0.0, remaining, 1.0)


def _compute_autocovariance(
    series: Float[np.ndarray, "series joints samples"],
) -> Float[np.ndarray, "series lags joints"]:
    """Return the sums of x(t) x(t + k) over all t, for lags k from 0 to LAG_COUNT - 1."""
    size = 1 << (series.shape[2] + LAG_COUNT - 1).bit_length()  # so long that the ends do not meet
    spectrum = np.fft.rfft(series, size, axis=2)
    products = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, size, axis=2)
    return products[:, :, :LAG_COUNT].transpose(0, 2, 1)
