"""Evidence: how probable the data are under a prior, as a function of its scales, and the scales that maximise it.

The data enter through their weighted least-squares estimate of the base parameters, which contains everything that
they say about parameters:

Identity      log Z = log N(beta_hat; K mean, N⁻¹ + K A S² Aᵀ Kᵀ)
                    = -½ uᵀ M⁻¹ u - ½ log|M| + const,   M = 1 + G S² Gᵀ,   G = Fᵀ K A,   u = Fᵀ (beta_hat - K mean)
              d log Z / d log s_k = a_k² - P_kk,   a = S Gᵀ M⁻¹ u,   P = S Gᵀ M⁻¹ G S,   M = Rᵀ R
              d² log Z / d log s_k d log s_l = 2 δ_kl (a_k² - P_kk) + 2 P_kl² - 4 a_k P_kl a_l
              posterior of z:  mean S² Gᵀ M⁻¹ u,  covariance 1 - S Gᵀ M⁻¹ G S  in units of S
Reference     D. J. C. MacKay, "Bayesian interpolation", Neural Computation 4 (1992) 415-447: evidence
Notation      code   meaning                                                                   shape
              N, F   information of the data, sum of Yᵀ Y / (v c), and its factor: N = F Fᵀ     base x identified
              A, S   axes and scales of the prior                                              selected x coordinates
              g_k    columns of G: effect of coordinate k in units of the noise                identified

The hyperparameters of the scales are not known exactly either. Their distribution is approximated by a normal one
around the largest evidence (Laplace), with covariance C:

              log evidence of the model = largest log Z + ½ log(|C| / |C_prior|)
              variance of coordinate k  = E[s_k²] = s_k² exp(2 var(log s_k))

so that a scale about which the data say little widens the intervals instead of being taken for its likeliest value.

M is never smaller than the identity, so that nothing is lost to rounding however small or large the scales are, and
directions that no data identify do not occur in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.identification.priors.prior import Prior
from ytheta.shapes import BaseByBase, Float, PerBase, PerCoordinate, PerHyper, SquareMatrix, freeze

# Starts of the maximisation: values of all hyperparameters relative to their means. Chosen on: reasoning; the
# evidence can have several maxima, "the description is right and the noise is large" and its opposite.
STARTS = (-1.5, 0.0, 1.5)
# Smallest curvature of the evidence, relative to that of the distribution of each hyperparameter. Chosen on: reasoning;
# where the evidence is flat, that distribution remains.
MIN_RELATIVE_CURVATURE = 1.0
# Logarithms within which hyperparameters without a distribution of their own are searched. Chosen on: rule of thumb.
MAX_LOG_SCALE = 9.0


@dataclass(frozen=True, eq=False)
class DataInformation:
    """What the data say about base parameters: their least-squares estimate and N, as a factor N = F Fᵀ."""

    beta: PerBase
    factor: Float[np.ndarray, "base identified"]

    @cached_property
    def half_inverse(self) -> Float[np.ndarray, "base identified"]:
        """The pseudo-inverse of F, transposed."""
        return np.linalg.pinv(self.factor / self._row_scale).T / self._row_scale

    @property
    def _row_scale(self) -> Float[np.ndarray, "base 1"]:
        """Lengths of the rows of F: parameters in kg and in kg m² become comparable."""
        lengths = np.linalg.norm(self.factor, axis=1, keepdims=True)
        return np.where(lengths > 0.0, lengths, 1.0)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence of data for a prior; ``K`` maps the selected standard parameters to base parameters."""

    information: DataInformation
    prior: Prior
    K: Float[np.ndarray, "base selected"]

    @cached_property
    def G(self) -> Float[np.ndarray, "identified coordinates"]:
        return self.information.factor.T @ self.K @ self.prior.axes

    @cached_property
    def u(self) -> Float[np.ndarray, " identified"]:
        return self.information.factor.T @ (self.information.beta - self.prior_beta)

    @cached_property
    def prior_beta(self) -> PerBase:
        """The base parameters that the prior expects."""
        return self.K @ self.prior.mean

    def compute(self, hyper: PerHyper) -> tuple[float, PerHyper, SquareMatrix]:
        """Return log Z plus the logarithm of the hyperparameters' own density, without constants.

        The others are its gradient and its second derivatives with respect to the hyperparameters.
        """
        factor, design = IdentityFactor.of(self.G * self.prior.compute_scales(hyper)), self.prior.design
        half = factor.inverse.T @ self.u
        a, P = factor.Q @ half, factor.Q @ factor.Q.T
        value = -0.5 * half @ half - np.log(np.abs(np.diag(factor.R))).sum()
        slope = a**2 - np.diag(P)
        bend = 2.0 * (np.diag(slope) + P * (P - 2.0 * np.outer(a, a)))
        density = self._compute_hyper_density(hyper)
        return float(value + density[0]), design.T @ slope + density[1], design.T @ bend @ design + np.diag(density[2])

    def _compute_hyper_density(self, hyper: PerHyper) -> tuple[float, PerHyper, PerHyper]:
        """Return the logarithm of the hyperparameters' own density without constants, and its derivatives.

        It is -½ w for a normal distribution and -½ (1 + k) / k log(1 + k w) for Student's, with the squared distance w
        from the mean in units of std², and the tail k.
        """
        distance, tail = (hyper - self._hyper_mean) * self._hyper_precision, self._hyper_tail
        w = distance * (hyper - self._hyper_mean)
        grown = 1.0 + tail * w
        heavy = tail > 0.0
        values = np.where(heavy, np.log(grown) / np.where(heavy, tail, 1.0), w)
        slope = (1.0 + tail) * distance / grown
        bend = (1.0 + tail) * self._hyper_precision * (1.0 - tail * w) / grown**2
        return -0.5 * float((1.0 + tail) @ values), -slope, -bend

    def maximize(self, start: Mapping[str, float] | None = None) -> Posterior:
        """Return the posterior for the hyperparameters with the largest evidence.

        ``start``: hyperparameters of a similar model, by name, from which the search starts; by default it starts from
        several points.
        """
        mean = self._hyper_mean
        lower = np.array([max(each.mean - MAX_LOG_SCALE, each.minimum) for each in self.prior.hyper])
        upper = np.array([min(each.mean + MAX_LOG_SCALE, each.maximum) for each in self.prior.hyper])
        starts = [mean + shift for shift in STARTS]
        if start is not None:
            starts = [np.array([start.get(hyper.name, hyper.mean) for hyper in self.prior.hyper])]

        def objective(hyper: PerHyper) -> tuple[float, PerHyper, SquareMatrix]:
            value, gradient, curvature = self.compute(hyper)
            return -value, -gradient, -curvature

        best, hyper = np.inf, mean
        for point in starts if self.prior.hyper else ():
            value, place = minimize_within_bounds(objective, point, lower, upper)
            if value < best:
                best, hyper = value, place
        return Posterior(self, freeze(hyper), freeze(self.compute_hyper_covariance(hyper)))

    def compute_hyper_covariance(self, hyper: PerHyper) -> Float[np.ndarray, "hyper hyper"]:
        """Return the covariance of the hyperparameters around their likeliest values, from second derivatives."""
        std = self._hyper_precision**-0.5
        values, vectors = np.linalg.eigh(-std[:, None] * self.compute(hyper)[2] * std)
        # Where the evidence is flat or not yet largest, at a bound, the hyperparameters' own distribution remains.
        factor = std[:, None] * vectors / np.sqrt(np.maximum(values, MIN_RELATIVE_CURVATURE))
        return np.asarray(factor @ factor.T)

    @property
    def log_hyper_precision(self) -> float:
        """Logarithm of the determinant of the hyperparameters' own precision."""
        return float(np.log(self._hyper_precision).sum())

    @cached_property
    def _hyper_mean(self) -> PerHyper:
        return np.array([hyper.mean for hyper in self.prior.hyper])

    @cached_property
    def _hyper_precision(self) -> PerHyper:
        return np.array([hyper.std**-2.0 for hyper in self.prior.hyper])

    @cached_property
    def _hyper_tail(self) -> PerHyper:
        return np.array([hyper.tail for hyper in self.prior.hyper])


@dataclass(frozen=True, eq=False)
class Posterior:
    """The distribution of standard and base parameters after the data, for given hyperparameters."""

    evidence: Evidence
    hyper: PerHyper
    hyper_covariance: Float[np.ndarray, "hyper hyper"]

    @property
    def prior(self) -> Prior:
        return self.evidence.prior

    @property
    def hyper_by_name(self) -> dict[str, float]:
        """The hyperparameters: logarithms of factors, by name."""
        return {each.name: float(value) for each, value in zip(self.prior.hyper, self.hyper, strict=True)}

    @cached_property
    def log_evidence(self) -> float:
        """Logarithm of the evidence of the model, integrated over the hyperparameters."""
        _, size = np.linalg.slogdet(self.hyper_covariance)
        return self.evidence.compute(self.hyper)[0] + 0.5 * float(size + self.evidence.log_hyper_precision)

    @cached_property
    def scales(self) -> PerCoordinate:
        """Roots of the variances of the prior's coordinates, integrated over the hyperparameters."""
        design = self.evidence.prior.design
        variances = np.sum((design @ self.hyper_covariance) * design, axis=1)
        return freeze(self.evidence.prior.compute_scales(self.hyper) * np.exp(variances))

    @cached_property
    def beta(self) -> PerBase:
        """Means of the base parameters."""
        return freeze(self.evidence.prior_beta + self._apply_gain(self.evidence.u))

    @cached_property
    def gain(self) -> BaseByBase:
        """T with E[beta] = K mean + T (beta_hat - K mean): the share of the data in every direction."""
        return freeze(self._apply_gain(self.evidence.information.factor.T))

    @cached_property
    def prior_spread(self) -> BaseByBase:
        """Covariance of the base parameters that the prior leaves; the noise of the data adds to it."""
        left = (np.eye(len(self.gain)) - self.gain) @ self.evidence.K @ self.evidence.prior.axes * self.scales
        return freeze(left @ left.T)

    @cached_property
    def theta(self) -> Float[np.ndarray, " selected"]:
        """Means of the selected standard parameters."""
        z = self._GS.T @ self._solve(self.evidence.u)
        return freeze(self.evidence.prior.mean + self.evidence.prior.axes @ (self.scales * z))

    @cached_property
    def theta_std(self) -> Float[np.ndarray, " selected"]:
        """Standard deviations of the selected standard parameters."""
        # The covariance of z, in units of the scales, is (1 + S Gᵀ G S)⁻¹. Its root loses nothing to rounding.
        axes = self.evidence.prior.axes * self.scales
        return freeze(np.linalg.norm(axes @ IdentityFactor.of(self._GS.T).inverse, axis=1))

    def _apply_gain(self, right: np.ndarray) -> np.ndarray:
        """Return K A S² Gᵀ M⁻¹ ``right``.

        If the data are much stronger than the prior, 1 - M⁻¹ is more accurate than G S² Gᵀ M⁻¹ on the directions that
        the data identify.
        """
        solved = self._solve(right)
        change = self.evidence.K @ self.evidence.prior.axes @ ((self.scales * (self._GS.T @ solved).T).T)
        information = self.evidence.information
        return change + information.half_inverse @ (right - solved - information.factor.T @ change)

    @property
    def _GS(self) -> Float[np.ndarray, "identified coordinates"]:
        return self.evidence.G * self.scales

    @cached_property
    def _factor(self) -> IdentityFactor:
        return IdentityFactor.of(self._GS)

    def _solve(self, right: np.ndarray) -> np.ndarray:
        return np.asarray(self._factor.inverse @ (self._factor.inverse.T @ right))


@dataclass(frozen=True, eq=False)
class IdentityFactor:
    """The upper triangular R with Rᵀ R = M = 1 + GS GSᵀ, without forming the product, which would lose the 1.

    From the orthonormal columns of (GSᵀ; 1) = (Q; inverse) R follow Q = GSᵀ R⁻¹ and the inverse R⁻¹ without solving
    equations.
    """

    R: SquareMatrix
    Q: Float[np.ndarray, "coordinates identified"]
    inverse: SquareMatrix

    @classmethod
    def of(cls, GS: Float[np.ndarray, "identified coordinates"]) -> IdentityFactor:
        orthonormal, R = np.linalg.qr(np.vstack([GS.T, np.eye(len(GS))]))
        coordinates = GS.shape[1]
        return cls(R, orthonormal[:coordinates], orthonormal[coordinates:])


# The minimum of a smooth function of a few bounded variables, by Newton's method.
#
# Method        x+ = P(x + a d),   d_f = -|H_ff|⁻¹ g_f,   with P the projection onto the bounds
# Reference     D. P. Bertsekas, "Projected Newton methods for optimization problems with simple constraints", SIAM
#               Journal on Control and Optimization 20 (1982) 221-246: steps and free variables
# Notation      code      meaning
#               g, H      gradient and second derivatives
#               |H|       H with the absolute values of its eigenvalues, so that saddle points are left
#               free, f   variables that are not at a bound beyond which the function falls
# Differs from  the paper in: |H| instead of a positive definite H, and steps of bounded length


Function = Callable[[PerHyper], tuple[float, PerHyper, SquareMatrix]]
Place = tuple[PerHyper, float, PerHyper, SquareMatrix]

# Largest number of Newton's steps. Chosen on: rule of thumb.
MAX_STEPS = 200
# Largest number of lengths that are tried along one direction. Chosen on: rule of thumb.
MAX_TRIALS = 30
# Range of the factor by which the length of a step is reduced. Chosen on: rule of thumb.
LENGTH_FACTORS = (0.1, 0.5)
# Largest change of a variable in a step. Chosen on: rule of thumb; further away, second derivatives say little.
MAX_CHANGE = 2.0
# Largest gradient of free variables at the minimum. Chosen on: rule of thumb.
MAX_GRADIENT = 1e-4
# Smallest curvature relative to the largest. Chosen on: reasoning; less is lost to rounding.
MIN_STEP_CURVATURE = 1e-9
# Smallest decrease of the function in a step, expected or real, relative to its value. Chosen on: reasoning; less is
# lost to rounding.
MIN_RELATIVE_DECREASE = 1e-13
# Distance from a bound, relative to the range, below which variables are put on the bound, since they would block
# steps. Chosen on: rule of thumb.
MIN_RELATIVE_DISTANCE = 1e-9
# Decrease of the function divided by that of its linear approximation, from which on a step is accepted. Chosen on:
# Armijo's rule with its usual value.
MIN_DECREASE_SHARE = 1e-4


def minimize_within_bounds(
    function: Function, start: PerHyper, lower: PerHyper, upper: PerHyper
) -> tuple[float, PerHyper]:
    """Return value and place of a local minimum; ``function`` returns value, gradient and second derivatives."""
    x = _project(start, lower, upper)
    value, g, H = function(x)
    for _ in range(MAX_STEPS):
        free = ~(((x <= lower) & (g > 0.0)) | ((x >= upper) & (g < 0.0)))
        if abs(g[free]).max(initial=0.0) <= MAX_GRADIENT:
            break
        d = np.zeros(len(x))
        d[free] = _compute_newton_step(g[free], H[np.ix_(free, free)])
        min_decrease = MIN_RELATIVE_DECREASE * max(abs(value), 1.0)
        trial = _search_along(function, x, value, g, d, lower, upper) if -0.5 * (g @ d) > min_decrease else None
        if trial is None:
            break
        decrease = value - trial[1]
        x, value, g, H = trial
        if decrease <= min_decrease:
            break
    return value, x


def _compute_newton_step(g: PerHyper, H: SquareMatrix) -> PerHyper:
    """Return -|H|⁻¹ g, or a shorter step in the same direction."""
    curvatures, vectors = np.linalg.eigh(H)
    sizes = abs(curvatures)
    floor = max(MIN_STEP_CURVATURE * sizes.max(), np.finfo(float).tiny)
    d = -vectors @ ((vectors.T @ g) / np.maximum(sizes, floor))
    return np.asarray(d * min(1.0, MAX_CHANGE / abs(d).max()))


def _search_along(
    function: Function, x: PerHyper, value: float, g: PerHyper, d: PerHyper, lower: PerHyper, upper: PerHyper
) -> Place | None:
    """Return the first trial where the function is low enough, with its derivatives; None if there is none.

    After a trial in vain, the next one is at the minimum of the parabola through what is known.
    """
    length = 1.0
    for _ in range(MAX_TRIALS):
        x_new = _project(x + length * d, lower, upper)
        expected = float(g @ (x_new - x))
        if expected >= 0.0:  # the projection onto the bounds turned the step round
            length *= LENGTH_FACTORS[1]
            continue
        value_new, g_new, H_new = function(x_new)
        if value_new <= value + MIN_DECREASE_SHARE * expected:
            return x_new, value_new, g_new, H_new
        length *= float(np.clip(-0.5 * expected / (value_new - value - expected), *LENGTH_FACTORS))
    return None


def _project(x: PerHyper, lower: PerHyper, upper: PerHyper) -> PerHyper:
    """Return the nearest place within the bounds; variables next to a bound are put on it."""
    distance = MIN_RELATIVE_DISTANCE * (upper - lower)
    x = np.where(x - lower <= distance, lower, x)
    return np.where(upper - x <= distance, upper, x)
