"""Noise of the equations: the variance of each joint's residuals, and the covariance of the estimate without prior.

Residuals are correlated in time, so that n equations carry the information of fewer independent ones. How much fewer
depends on the parameter: a constant offset suffers from slow residuals, a rotor inertia hardly.

Identity      cov(beta_hat) = N⁻¹ S N⁻¹,   N = sum_j Y_jᵀ Y_j / v_j,   S = sum_j Y_jᵀ R_j Y_j / v_j
              S = N^½ C N^½,   information of the data = N S⁻¹ N = N^½ C⁻¹ N^½
Reference     W. K. Newey and K. D. West, Econometrica 55 (1987) 703-708: the covariance with correlated residuals
Notation      code         meaning
              R_j          Toeplitz matrix of the autocorrelations rho_j(k) of joint j's residuals
              N^½          symmetric root of N, with columns of Y scaled to length one
              inflation    C: how many equations count as one, for every direction of beta
Differs from  the paper in: the correlations of residuals and of Y are estimated separately; the autocorrelations end
              where the sum of a pair is no longer positive, see ``autocorrelation``; no direction has less noise than
              white residuals would give; only some pieces of the motion are used, so that the cost does not grow
              with the log
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.engine.local import map_in_order
from ytheta.identification.equations.autocorrelation import (
    LAG_COUNT,
    MIN_REMAINING_SHARE,
    PerLagAndJoint,
    iterate_values,
    select_tasks,
)
from ytheta.identification.equations.estimation_problem import EstimationProblem, SourceRange
from ytheta.identification.equations.normal_equations import NormalDecomposition, NormalEquations
from ytheta.shapes import BaseByBase, Float, JointsBySample, PerBase, PerJoint

# Largest number of pieces of the motion from which autocorrelations of the residuals are estimated. Chosen on: rule
# of thumb.
MAX_PIECES = 32
# Largest number of pieces of the motion from which the products Yᵀ R Y are estimated. Chosen on: rule of thumb.
MAX_PRODUCT_PIECES = 12
# Error that filters, differences and the sampling of fast torques leave in the equations of a joint, relative to the
# torques of all its samples: a systematic error, which does not average out. Chosen on: noise-free simulations of all
# robots of the catalog, which show up to half of this share of the torque along the columns of a parameter.
PREPARATION_ERROR = 5e-5


@dataclass(frozen=True, eq=False)
class Noise:
    """Variances v_j of the joints' residuals, and C of the module docstring."""

    variances: PerJoint
    inflation: BaseByBase

    @property
    def weights(self) -> PerJoint:
        """Inverse variances 1 / v_j; 0 for a joint whose equations say nothing, with infinite variance."""
        positive = (self.variances > 0.0) & np.isfinite(self.variances)
        return np.where(positive, 1.0 / np.where(positive, self.variances, 1.0), 0.0)

    def compute_factor(self, decomposition: NormalDecomposition) -> Float[np.ndarray, "base identified"]:
        """Return F with F Fᵀ = N S⁻¹ N, the information of the data, for the decomposition of N."""
        V = decomposition.V[:, : decomposition.rank]
        values, vectors = np.linalg.eigh(V.T @ self.inflation @ V)
        return decomposition.factor @ (vectors / np.sqrt(np.maximum(values, 1.0)))


def estimate_correlation(problem: EstimationProblem, beta: PerBase) -> PerLagAndJoint:
    """Return the autocorrelations of the residuals of ``beta``, from lag 0 to the last lag that counts."""

    def work(task: SourceRange) -> PerLagAndJoint:
        return _compute_autocovariance(np.concatenate(list(_iterate_residuals(problem, task, beta)), axis=1))

    products = np.asarray(sum(map_in_order(work, iter(select_tasks(problem, MAX_PIECES)), threads=problem.threads)))
    rho = products / np.where(products[0] > 0.0, products[0], 1.0)
    rho[0] = 1.0
    pairs = rho[:-1:2] + rho[1::2]
    return np.asarray(rho * np.repeat(np.cumprod(pairs > 0.0, axis=0), 2, axis=0))


def estimate_inflation(
    problem: EstimationProblem, correlation: PerLagAndJoint, weights: PerJoint, decomposition: NormalDecomposition
) -> BaseByBase:
    """Return C of the module docstring; ``weights`` are 1 / v_j, and ``decomposition`` is that of N."""
    count = len(decomposition.scale)

    def work(task: SourceRange) -> Float[np.ndarray, "2 base base"]:
        sums = np.zeros((2, count, count))
        values = np.concatenate(list(iterate_values(problem, task)), axis=1)
        size = 1 << (values.shape[1] + 2 * len(correlation)).bit_length()  # so long that the ends do not meet
        for joint, (part, columns) in enumerate(zip(problem.layout.slices, problem.layout.columns, strict=True)):
            own, rho = values[part], correlation[:, joint]
            spectrum = np.fft.rfft(np.concatenate([rho, np.zeros(size + 1 - 2 * len(rho)), rho[:0:-1]]))
            transformed = np.fft.rfft(own, size, axis=1)
            transformed *= spectrum.real
            filtered = np.fft.irfft(transformed, size, axis=1)[:, : own.shape[1]]
            place = np.ix_(columns, columns)
            sums[0][place] += weights[joint] * (own @ own.T)
            sums[1][place] += weights[joint] * (own @ filtered.T)
        return sums

    tasks = select_tasks(problem, MAX_PRODUCT_PIECES)
    N, S = np.asarray(sum(map_in_order(work, iter(tasks), threads=problem.threads)))
    V, rank = decomposition.V, decomposition.rank
    # In coordinates in which N of all samples is the identity, N of the pieces is close to a multiple of it.
    half = decomposition.half_inverse
    values, vectors = np.linalg.eigh(half.T @ N @ half)
    root = vectors / np.sqrt(np.maximum(values, np.finfo(float).eps * values.max(initial=1.0))) @ vectors.T
    C = root @ half.T @ (0.5 * (S + S.T)) @ half @ root
    values, vectors = np.linalg.eigh(0.5 * (C + C.T))
    bounded = (vectors * np.maximum(values, 1.0)) @ vectors.T
    return V[:, :rank] @ bounded @ V[:, :rank].T + V[:, rank:] @ V[:, rank:].T


def compute_mean_inflation(inflation: BaseByBase) -> float:
    """Return the number of equations that count as one, averaged over all directions of beta."""
    return float(np.trace(inflation)) / max(len(inflation), 1)


def bound_preparation_errors(equations: NormalEquations) -> PerJoint:
    """Return the squares of the largest systematic errors that preparing the motion leaves, summed over all equations.

    An error e of the equations of a joint changes a parameter by at most |e| times its deviation for unit noise.
    """
    return PREPARATION_ERROR**2 * equations.reference_squares


def estimate_variances(
    equations: NormalEquations, beta: PerBase, degrees_of_freedom: PerJoint, inflation: float
) -> PerJoint:
    """Return the variances of the joints' residuals; correlated equations determine fewer parameters."""
    counts = equations.counts
    remaining = np.maximum(counts - inflation * degrees_of_freedom, MIN_REMAINING_SHARE * counts)
    return equations.residual_squares(beta) / np.where(counts > 0.0, remaining, 1.0)


def _iterate_residuals(problem: EstimationProblem, task: SourceRange, beta: PerBase) -> Iterator[JointsBySample]:
    for rows in problem.rows_of(task):
        residual = problem.layout.residual(rows, beta)
        yield residual if rows.mask is None else residual * rows.mask


def _compute_autocovariance(series: Float[np.ndarray, "joints samples"]) -> PerLagAndJoint:
    """Return the sums of x(t) x(t + k) over all t, for lags k from 0 to LAG_COUNT - 1."""
    size = 1 << (series.shape[1] + LAG_COUNT - 1).bit_length()  # so long that the ends do not meet
    spectrum = np.fft.rfft(series, size, axis=1)
    products = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, size, axis=1)
    return np.asarray(products[:, :LAG_COUNT].T)
