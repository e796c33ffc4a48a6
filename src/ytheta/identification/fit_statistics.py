"""Statistics of a fit: the noise of its equations, and covariance and standard deviations of its parameters.

Covariance    cov = sum_j (v_j c_j + e_j²) P_j + d dᵀ
              P_j   covariance of beta for unit noise of joint j, from the estimator
              c_j   autocorrelation time of the residuals of joint j; see ``autocorrelation``
              v_j   variance of these residuals: the sum of their squares divided by n_j - c_j d_j, with the number n_j
                    of equations and the degrees of freedom d_j
              e_j   bound of the error that preparing the motion leaves in equations of joint j; see ``priors.noise``
              Model errors that vary like noise enlarge the residuals and therefore the standard deviations.
              d     what physical consistency changed: bodies minus free estimate. Both are answers to the same data;
                    if the robot is not what the description allows, neither is right
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.equations.autocorrelation import (
    MIN_REMAINING_SHARE,
    PerLagAndJoint,
    compute_autocorrelation_time,
    compute_noise_autocovariance,
)
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.estimator import MAX_UNIDENTIFIED_COMPONENT, Estimate
from ytheta.identification.priors.noise import bound_preparation_errors
from ytheta.shapes import BaseByBase, Float, PerBase, PerJoint, freeze


@dataclass(frozen=True, eq=False)
class FitStatistics:
    """Noise, covariance and standard deviations of a model. Its arrays are read-only.

    Attributes
    ----------
    beta              the base parameters of the model: those of the estimate, or of bodies
    estimate          the result of the estimator
    normal_equations  normal equations of the fit, without weights
    fit               torque errors on the logs of the fit
    equation_autocorrelation_time
                      autocorrelation time of the noise, as a number of equations; None if every sample of the errors is
                      an equation
    nuisance_covariance
                      part of the covariance that is due to the uncertainty of what is not a parameter of the model: the
                      delay of the torques, and chosen transition speeds of Coulomb friction; None if all of that is
                      known
    """

    beta: PerBase
    estimate: Estimate
    normal_equations: NormalEquations
    fit: TorqueErrors
    equation_autocorrelation_time: PerJoint | None
    nuisance_covariance: BaseByBase | None

    @cached_property
    def autocorrelation_time(self) -> PerJoint:
        """Autocorrelation time of each joint's noise, as a number of equations.

        It is that of the residuals if the estimator does not say how much of the noise the parameters took away.
        """
        if self.equation_autocorrelation_time is not None:
            return self.equation_autocorrelation_time
        return freeze(compute_noise_autocorrelation_time(self.fit, self.estimate.hat, self.normal_equations.counts))

    @cached_property
    def noise(self) -> PerJoint:
        """Standard deviation of each joint's equations: of their residuals, corrected for degrees of freedom."""
        counts, used = self.normal_equations.counts, self.autocorrelation_time * self.estimate.degrees_of_freedom
        return freeze(compute_noise(self.normal_equations.residual_squares(self.beta), counts - used))

    @cached_property
    def torque_noise(self) -> PerJoint:
        """Standard deviation of each joint's measured torque without that of the model, at the cut-off of the errors.

        It is ``noise`` if every sample of the errors is an equation. Otherwise, equations have another cut-off or are
        integrals: it is computed from the residuals on the logs of the fit.
        """
        if self.equation_autocorrelation_time is None:
            return self.noise
        return freeze(compute_torque_noise(self.fit, self.estimate.degrees_of_freedom))

    @property
    def error_variances(self) -> PerJoint:
        """Variance of one independent equation of each joint: correlated noise, and errors of preparing the motion."""
        return self.noise**2 * self.autocorrelation_time + bound_preparation_errors(self.normal_equations)

    @property
    def equation_weights(self) -> PerJoint:
        """Information of one equation of each joint: the inverse of its variance, zero without equations."""
        variances = self.error_variances
        return np.where(variances > 0.0, 1.0 / np.where(variances > 0.0, variances, 1.0), 0.0)

    @cached_property
    def covariance(self) -> BaseByBase:
        """Covariance of beta; without a prior, zero along unidentified directions, where ``std`` is infinite."""
        change = self.beta - self.estimate.beta
        covariance = self.estimate.covariance(self.error_variances) + np.outer(change, change)
        return freeze(covariance if self.nuisance_covariance is None else covariance + self.nuisance_covariance)

    @cached_property
    def std(self) -> PerBase:
        """Standard deviations of beta; infinite for parameters with a component along an unidentified direction."""
        return freeze(compute_std(self.covariance, self.estimate.unidentified))


def compute_noise(squares: PerJoint, remaining: PerJoint) -> PerJoint:
    """Return the roots of v_j from the sums of squared residuals and the numbers n_j - c_j d_j that remain."""
    return np.sqrt(squares / np.maximum(remaining, 1.0))


def compute_torque_noise(errors: TorqueErrors, degrees_of_freedom: PerJoint) -> PerJoint:
    """Return the standard deviation of each joint's measured torque, from torque errors on the logs of the fit."""
    used = errors.autocorrelation_time * degrees_of_freedom
    return compute_noise(errors.residual, np.maximum(errors.counts - used, MIN_REMAINING_SHARE * errors.counts))


def compute_noise_autocorrelation_time(errors: TorqueErrors, hat: PerLagAndJoint | None, counts: PerJoint) -> PerJoint:
    """Return the autocorrelation time c_j of each joint's noise if every sample of the errors is an equation.

    ``hat``: how much of the noise the parameters took away, for each lag; None if the estimator does not say. Then it
    is the autocorrelation time of the residuals. ``counts``: the number of equations of each joint.
    """
    if hat is None:
        return compute_autocorrelation_time(errors.autocovariance)
    return compute_autocorrelation_time(compute_noise_autocovariance(errors.autocovariance, hat, counts))


def compute_std(covariance: BaseByBase, unidentified: Float[np.ndarray, "base unidentified"]) -> PerBase:
    """Return standard deviations; infinite for parameters with a component along an unidentified direction."""
    is_unidentified = abs(unidentified).max(axis=1, initial=0.0) > MAX_UNIDENTIFIED_COMPONENT
    return np.where(is_unidentified, np.inf, np.sqrt(np.maximum(np.diag(covariance), 0.0)))


def compute_relative_percent(std: PerBase, beta: PerBase) -> PerBase:
    """Return standard deviations relative to the absolute values of parameters, in percent; infinite if one is zero."""
    size = abs(beta)
    with np.errstate(over="ignore"):
        return 100.0 * std / np.where(size > 0.0, size, np.finfo(float).tiny)


def compute_correlation(covariance: BaseByBase) -> BaseByBase:
    """Return the correlation matrix that belongs to a covariance; variances of zero lead to correlations of zero."""
    std = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    return covariance / np.outer(std, std)
