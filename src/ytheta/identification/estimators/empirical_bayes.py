"""Empirical Bayes: the description is a prior whose strength the data choose by their evidence.

Identity      beta = K mean + T (beta_hat - K mean),   T and the scales of the prior: see ``priors.evidence``
Reference     D. J. C. MacKay, "Bayesian interpolation", Neural Computation 4 (1992) 415-447
Accepts       every robot and form; with unknown geometry there is no prior, and the estimate is that of ``weighted``
Notation      code         meaning
              beta_hat     weighted least squares: the estimate without prior
              noise        variances v_j of the joints and correlations of the residuals, see ``priors.noise``
              T            ``gain``: share of the data in every direction of beta
Differs from  the paper in: the noise is that of the fit without prior. Noise that is estimated again with the prior
              would grow where the prior is wrong and so make the prior stronger
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.consistency.reference import make_plausible_reference
from ytheta.identification.equations.autocorrelation import PerLagAndJoint
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction_laws import LAWS
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.estimators.least_squares import (
    MIN_RELATIVE_RESIDUAL,
    Weighted,
    WeightedSolution,
    compute_spread,
    refine,
    solve_reweighted,
    solve_weighted,
)
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.priors.description import FLAT_SCALE, describe_like, make_description_prior, make_model_prior
from ytheta.identification.priors.evidence import DataInformation, Evidence, Posterior
from ytheta.identification.priors.noise import (
    Noise,
    compute_mean_inflation,
    estimate_correlation,
    estimate_inflation,
    estimate_variances,
)
from ytheta.identification.priors.prior import Family, Prior, PriorSettings
from ytheta.shapes import BaseByBase, BaseBySelected, PerJoint


@dataclass(frozen=True, eq=False)
class EmpiricalBayes:
    """Weighted least squares with a prior.

    ``prior`` says what it is centred on and how strong it is. ``correlation`` are the autocorrelations of the residuals
    of each joint; None to estimate them from the residuals of this fit without prior.
    """

    prior: PriorSettings = PriorSettings()
    correlation: PerLagAndJoint | None = None

    @property
    def name(self) -> str:
        return "evidence"

    def fit(self, problem: EstimationProblem) -> Estimate:
        base = problem.base.standard_combinations
        if base is None:
            estimate = Weighted().fit(problem)
            return replace(estimate, findings=(*estimate.findings, _make_geometry_finding()))
        equations = problem.normal_equations()
        noise = estimate_noise(problem, self.correlation)
        solution = solve_weighted(equations, noise.weights, base.beta)
        beta = refine(problem, noise.weights, solution)
        information = DataInformation(beta, noise.compute_factor(solution.decomposition))
        prior = make_prior(base, equations, self.prior)
        posterior = Evidence(information, prior, select_columns(base)).maximize()
        return _make_estimate(problem, noise, solution, posterior)


def estimate_noise(problem: EstimationProblem, correlation: PerLagAndJoint | None = None) -> Noise:
    """Return the noise of the fit without prior; ``correlation``: that of its residuals, or None to estimate it too."""
    equations = problem.normal_equations()
    weights, solution, _ = solve_reweighted(equations, problem.base.beta)
    if correlation is None:
        correlation = estimate_correlation(problem, solution.beta)
    inflation = estimate_inflation(problem, correlation, weights, solution.decomposition)
    return make_noise(equations, weights, solution, inflation)


def make_noise(
    equations: NormalEquations, weights: PerJoint, solution: WeightedSolution, inflation: BaseByBase
) -> Noise:
    """Return the noise of the residuals of a solution without prior."""
    _, degrees_of_freedom = compute_spread(equations, weights, solution.decomposition.inverse)
    variances = estimate_variances(equations, solution.beta, degrees_of_freedom, compute_mean_inflation(inflation))
    floor = MIN_RELATIVE_RESIDUAL**2 * equations.reference_squares / np.maximum(equations.counts, 1.0)
    is_informative = equations.reference_squares > 0.0  # a joint whose torque is always zero says nothing
    return Noise(np.where(is_informative, np.maximum(variances, floor), np.inf), inflation)


def make_prior(base: BaseParameters, equations: NormalEquations, settings: PriorSettings) -> Prior:
    """Return the prior of the selected standard parameters."""
    if settings.earlier is not None:
        return make_model_prior(base, equations, settings.earlier)
    described = describe_like(base.robot, base.robot if settings.description is None else settings.description)
    # A friction law is expected to be absent, even if it is described: without it, the model does not have the law.
    theta = np.where([name.endswith(LAWS) for name in base.robot.parameter_names], 0.0, described.theta)
    prior = make_description_prior(base, equations, make_plausible_reference(described), theta)
    if settings.flat:
        prior = prior.with_scale(Family.LINK, FLAT_SCALE).with_scale(Family.ADDED_LOAD, FLAT_SCALE)
    elif settings.strength is not None:
        if Family.LINK not in prior.families:
            raise InputError(
                f"robot {base.robot.name!r}: its description has no inertias, so prior_strength has nothing to act on; "
                "add masses to the description, or remove prior_strength"
            )
        prior = prior.with_scale(Family.LINK, 1.0 / settings.strength)
    return prior


def select_columns(base: BaseParameters) -> BaseBySelected:
    """Return the columns of K that belong to the selected standard parameters."""
    places = {name: k for k, name in enumerate(base.robot.parameter_names)}
    return base.K[:, [places[name] for name in base.selected]]


def _make_estimate(
    problem: EstimationProblem, noise: Noise, solution: WeightedSolution, posterior: Posterior
) -> Estimate:
    gain = posterior.gain @ solution.decomposition.inverse
    spread, degrees_of_freedom = compute_spread(problem.normal_equations(), noise.weights, gain)
    positive = noise.weights[noise.weights > 0.0]
    typical = float(np.median(positive)) if len(positive) else 1.0
    return Estimate(
        posterior.beta,
        spread,
        degrees_of_freedom,
        noise.weights / typical,
        solution.decomposition.null_space,
        prior_spread=posterior.prior_spread,
        posterior=posterior,
        gain=gain * typical,
    )


def _make_geometry_finding() -> Finding:
    statement = "without geometry, the description says nothing about the parameters, so there is no prior"
    return Finding(FitFindingCode.ESTIMATOR, Severity.NOTE, statement, "the estimate is that of weighted")
