"""Evidence: how probable the data are under a prior, as a function of its scales, and the scales that maximise it.

The data enter through their weighted least-squares estimate of the base parameters, which contains everything that
they say about parameters:

Identity      log Z = log N(beta_hat; K mean, N⁻¹ + K A S² Aᵀ Kᵀ)
                    = -½ uᵀ M⁻¹ u - ½ log|M| + const,   M = 1 + G S² Gᵀ,   G = Fᵀ K A,   u = Fᵀ (beta_hat - K mean)
              d log Z / d log s_k = s_k² ((g_kᵀ M⁻¹ u)² - g_kᵀ M⁻¹ g_k)
              posterior of z:  mean S² Gᵀ M⁻¹ u,  covariance 1 - S Gᵀ M⁻¹ G S  in units of S
Reference     D. J. C. MacKay, "Bayesian interpolation", Neural Computation 4 (1992) 415-447: evidence
Notation      code   meaning                                                                   shape
              N, F   information of the data, sum of Yᵀ Y / (v c), and its factor: N = F Fᵀ     base x identified
              A, S   axes and scales of the prior                                              selected x coordinates
              g_k    columns of G: effect of coordinate k in units of the noise                identified

M is never smaller than the identity, so that nothing is lost to rounding however small or large the scales are, and
directions that no data identify do not occur in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from ytheta.identification.priors.prior import Prior
from ytheta.shapes import BaseByBase, Float, PerBase, PerCoordinate, PerHyper, freeze

# Starts of the maximisation: values of all hyperparameters relative to their means. The evidence can have several
# maxima: "the description is right and the noise is large" and its opposite.
STARTS = (-1.5, 0.0, 1.5)
MAX_LOG_SCALE = 9.0  # hyperparameters without a distribution of their own are searched within these logarithms


@dataclass(frozen=True, eq=False)
class Information:
    """What the data say about base parameters: their least-squares estimate and N, as a factor N = F Fᵀ."""

    beta: PerBase
    factor: Float[np.ndarray, "base identified"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence of data for a prior; ``K`` maps the selected standard parameters to base parameters."""

    information: Information
    prior: Prior
    K: Float[np.ndarray, "base selected"]

    @cached_property
    def G(self) -> Float[np.ndarray, "identified coordinates"]:
        return self.information.factor.T @ self.K @ self.prior.axes

    @cached_property
    def u(self) -> Float[np.ndarray, "identified"]:
        return self.information.factor.T @ (self.information.beta - self.K @ self.prior.mean)

    def compute(self, hyper: PerHyper) -> tuple[float, PerHyper]:
        """Return log Z plus the logarithm of the hyperparameters' own density, without constants, and its gradient."""
        squares = self.prior.compute_scales(hyper) ** 2
        factor = cho_factor(np.eye(len(self.u)) + (self.G * squares) @ self.G.T, lower=True)
        solved = cho_solve(factor, np.column_stack([self.u, self.G]))
        value = -0.5 * self.u @ solved[:, 0] - np.log(np.diag(factor[0])).sum()
        slope = squares * ((self.G.T @ solved[:, 0]) ** 2 - np.sum(self.G * solved[:, 1:], axis=0))
        distance = (hyper - self._hyper_mean) * self._hyper_precision
        value -= 0.5 * float(distance @ (hyper - self._hyper_mean))
        return float(value), self.prior.design.T @ slope - distance

    def maximize(self) -> Posterior:
        """Return the posterior for the hyperparameters with the largest evidence."""
        bounds = [(mean - MAX_LOG_SCALE, mean + MAX_LOG_SCALE) for mean in self._hyper_mean]

        def objective(hyper: PerHyper) -> tuple[float, PerHyper]:
            value, gradient = self.compute(hyper)
            return -value, -gradient

        best, hyper = np.inf, self._hyper_mean
        for start in STARTS if self.prior.hyper else ():
            result = minimize(objective, self._hyper_mean + start, jac=True, method="L-BFGS-B", bounds=bounds)
            if result.fun < best:
                best, hyper = float(result.fun), result.x
        return Posterior(self, freeze(hyper))

    @cached_property
    def _hyper_mean(self) -> PerHyper:
        return np.array([hyper.mean for hyper in self.prior.hyper])

    @cached_property
    def _hyper_precision(self) -> PerHyper:
        return np.array([hyper.std**-2.0 for hyper in self.prior.hyper])


@dataclass(frozen=True, eq=False)
class Posterior:
    """The distribution of standard and base parameters after the data, for given hyperparameters."""

    evidence: Evidence
    hyper: PerHyper

    @cached_property
    def log_evidence(self) -> float:
        return self.evidence.compute(self.hyper)[0]

    @cached_property
    def scales(self) -> PerCoordinate:
        return self.evidence.prior.compute_scales(self.hyper)

    @cached_property
    def theta(self) -> Float[np.ndarray, "selected"]:
        """Means of the selected standard parameters."""
        z = self.scales * (self._GS.T @ self._solve(self.evidence.u))
        return freeze(self.evidence.prior.mean + self.evidence.prior.axes @ z)

    @cached_property
    def covariance(self) -> Float[np.ndarray, "selected selected"]:
        """Covariance of the selected standard parameters."""
        axes = self.evidence.prior.axes * self.scales
        reduced = np.eye(len(self.scales)) - self._GS.T @ self._solve(self._GS)
        return freeze(axes @ (0.5 * (reduced + reduced.T)) @ axes.T)

    @cached_property
    def prior_covariance(self) -> Float[np.ndarray, "selected selected"]:
        """Covariance of the selected standard parameters before the data, for the same hyperparameters."""
        axes = self.evidence.prior.axes * self.scales
        return freeze(axes @ axes.T)

    @cached_property
    def gain(self) -> BaseByBase:
        """T with E[beta] = K mean + T (beta_hat - K mean): the share of the data in every direction."""
        factor = self.evidence.information.factor
        axes = self.evidence.K @ self.evidence.prior.axes * self.scales
        return freeze(axes @ (self._GS.T @ self._solve(factor.T)))

    @property
    def _GS(self) -> Float[np.ndarray, "identified coordinates"]:
        return self.evidence.G * self.scales

    @cached_property
    def _cholesky(self) -> tuple[np.ndarray, bool]:
        return cho_factor(np.eye(len(self.evidence.u)) + self._GS @ self._GS.T, lower=True)  # type: ignore[return-value]

    def _solve(self, right: np.ndarray) -> np.ndarray:
        return np.asarray(cho_solve(self._cholesky, right))
