"""Choice of a model by evidence: rotor inertias and friction laws are part of it if the data speak for them.

All families are estimated together first. Then the family for which the data speak least is removed, as long as its
Bayes factor is below that of ``MIN_LOG_BAYES_FACTORS``; the noise is estimated again after each removal. Rotor inertias
and load-dependent friction are never negative. The evidence of a model is therefore that of a prior without negative
values (neglecting correlations between them):

Identity      log Z + sum_k log(Φ(mean_k / std_k) / Φ(mean0_k / std0_k))
Notation      Φ: distribution function of the standard normal; mean0, std0: before the data
Reference     R. E. Kass and A. E. Raftery, "Bayes factors", Journal of the American Statistical Association 90 (1995)
              773-795: logarithms above 3 and 5 are strong and very strong evidence

Without the sum, a delay of a torque sensor would be explained by negative rotor inertias.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.autocorrelation import PerLagAndJoint
from ytheta.identification.equations.differential import Differential, KnownTorque, RigidTorque
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import list_smooth_speeds
from ytheta.identification.equations.model_equations import LogEquations, ModelEquations, SpeedsByDrive
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.estimators.empirical_bayes import EmpiricalBayes, make_noise, make_prior, select_columns
from ytheta.identification.estimators.least_squares import solve_reweighted, solve_weighted
from ytheta.identification.priors.evidence import DataInformation, Evidence, Posterior
from ytheta.identification.priors.noise import Noise, estimate_correlation, estimate_inflation
from ytheta.identification.priors.prior import Family, Prior, PriorSettings
from ytheta.identification.transition_speeds import (
    choose_transition_speeds,
    compute_transition_covariance,
    improve_transition_speeds,
)
from ytheta.shapes import BaseByBase, PerBase

# Logarithm of the Bayes factor from which on a model has a family. Chosen on: Kass and Raftery, where 3 is strong and
# 5 very strong evidence. Almost every drive has a rotor, so only strong evidence against rotor inertias removes them.
# A friction law needs much more than strong evidence, because what no model explains, such as stiction or
# flexibility, is not the noise for which the evidence is computed.
MIN_LOG_BAYES_FACTORS = {Family.ROTOR: -3.0, Family.ROOT: 10.0, Family.LOAD: 10.0}
# Error with the transmitted torque of the estimate itself, divided by the error with that of the estimate before it,
# above which load-dependent friction contradicts the torque on which it depends, as if it exceeded that torque.
# Chosen on: rule of thumb.
MAX_LOAD_ERROR_RATIO = 1.1
# Improvements of the transmitted torque; the first is that of a model without such friction. Chosen on: rule of
# thumb.
MAX_LOAD_ROUNDS = 5
POSITIVE_FAMILIES = (Family.ROTOR, Family.LOAD)


@dataclass(frozen=True)
class Alternative:
    """A model that was compared with the chosen one.

    Attributes
    ----------
    change            the difference to the chosen model, such as "without rotor inertia"
    log_bayes_factor  logarithm of its evidence relative to that of the chosen model: negative if the data speak against
                      the alternative
    fit_percent       relative torque error on the logs of the fit
    validation_percent
                      the same on the validation logs; None without such logs
    """

    change: str
    log_bayes_factor: float
    fit_percent: float
    validation_percent: float | None = None


@dataclass(frozen=True, eq=False)
class ModelChoice:
    """Which families of parameters the model has, and what the alternatives would have given.

    Attributes
    ----------
    considered    the families about which the data decided
    kept          those that the model has
    alternatives  for each of them the model with the opposite choice
    correlation   autocorrelations of the residuals of the model with all families: correlations that remain there are
                  not due to a missing family. None if there was nothing to decide
    fit_percent, validation_percent
                  torque errors of the chosen model, computed as those of the alternatives
    contradictory
                  families that were not considered, because no model with them reproduces the torque they depend on
    """

    considered: tuple[Family, ...]
    kept: tuple[Family, ...]
    alternatives: tuple[Alternative, ...]
    correlation: PerLagAndJoint | None = None
    fit_percent: float | None = None
    validation_percent: float | None = None
    contradictory: tuple[Family, ...] = ()


NO_CHOICE = ModelChoice((), (), ())


@dataclass(frozen=True, eq=False)
class SelectedModel:
    """The model that the data chose, and its equations.

    Attributes
    ----------
    logs                makes equations with other transition speeds
    equations           the equations of models with other families
    choice              what was chosen, and what the alternatives would have given
    families            families of parameters of the model
    load                torque that drives transmit, if friction depends on it
    transition_speeds   those of Coulomb friction, by drive
    """

    logs: LogEquations
    equations: ModelEquations
    choice: ModelChoice
    families: tuple[Family, ...]
    load: RigidTorque | None
    transition_speeds: SpeedsByDrive

    def make_problem(self) -> EstimationProblem:
        """Return the equations of the model."""
        return self.equations.make_problem(self.families, self.load)

    def compute_transition_covariance(self) -> BaseByBase | None:
        """Return the part of the covariance that is due to uncertain transition speeds; None if none was chosen."""
        return compute_transition_covariance(self.logs, self.families, self.transition_speeds)


def select_model(logs: LogEquations, prior: PriorSettings, *, contradictory: tuple[Family, ...] = ()) -> SelectedModel:
    """Choose transition speeds of friction, then rotor inertias and friction laws.

    ``contradictory``: families that the model cannot have.
    """
    robot, selection, lowest = logs.settings.robot, logs.settings.selection, logs.lowest_speeds
    speeds = lowest
    equations = logs.make(lowest)
    if selection.smooth and "coulomb" in selection.basic_friction and not list_smooth_speeds(robot).all():
        speeds = choose_transition_speeds(logs, selection.list_scanned(robot))
        equations = equations if speeds == lowest else logs.make(speeds)
    thinned = equations.thin()
    choice, load = choose_model(
        thinned,
        considered=[family for family in logs.settings.considered if family not in contradictory],
        forced=selection.forced,
        prior=prior,
    )
    choice = replace(choice, contradictory=(*choice.contradictory, *contradictory))
    del thinned  # frees its motion
    families = (*choice.kept, *selection.forced)
    if speeds != lowest:  # they were chosen with other families
        speeds = improve_transition_speeds(logs, families, speeds)
        equations = logs.make(speeds)
    return SelectedModel(logs, equations, choice, families, load, speeds)


def choose_model(
    equations: ModelEquations,
    *,
    considered: Sequence[Family],
    forced: Sequence[Family],
    prior: PriorSettings,
) -> tuple[ModelChoice, RigidTorque | None]:
    """Choose the families of parameters, and estimate the torque that drives transmit if friction depends on it.

    ``considered``: families about which the data decide. ``forced``: families that the model has in any case.
    """
    everything = (*considered, *forced)
    load = None
    if Family.LOAD in everything:
        rigid = equations.make_problem([family for family in everything if family is not Family.LOAD], None)
        load = make_rigid_torque(rigid, EmpiricalBayes(prior).fit(rigid).beta)
    if not considered:
        return NO_CHOICE, load and _improve_load(equations, everything, load, prior)
    comparison = _Comparison.of(equations.make_problem(everything, load), prior)
    candidate, alternatives = _remove_families(comparison, considered)
    for _ in range(MAX_LOAD_ROUNDS):
        if load is None or Family.LOAD in candidate.removed:
            break
        load = make_rigid_torque(comparison.problem, candidate.posterior.beta)
        own = equations.make_problem(everything, load)
        error, own_error = (
            compute_error_percent(each, candidate.posterior.beta)
            for each in (comparison.equations, own.normal_equations())
        )
        if own_error <= MAX_LOAD_ERROR_RATIO * error:
            break
        comparison = _Comparison.of(own, prior)
        candidate, alternatives = _remove_families(comparison, considered)
    else:
        if Family.LOAD in considered:
            others = [family for family in considered if family is not Family.LOAD]
            choice, _ = choose_model(equations, considered=others, forced=forced, prior=prior)
            return replace(choice, contradictory=(Family.LOAD,)), None
    kept = tuple(family for family in considered if family not in candidate.removed)
    validation = (
        equations.make_validation_problem(everything, load).normal_equations() if equations.validation_sources else None
    )
    choice = ModelChoice(
        tuple(considered),
        kept,
        tuple(
            Alternative(
                f"{'without' if family in kept else 'with'} {family.value}",
                other.log_evidence - candidate.log_evidence,
                compute_error_percent(comparison.equations, other.posterior.beta),
                None if validation is None else compute_error_percent(validation, other.posterior.beta),
            )
            for family, other in alternatives.items()
        ),
        comparison.correlation,
        compute_error_percent(comparison.equations, candidate.posterior.beta),
        None if validation is None else compute_error_percent(validation, candidate.posterior.beta),
    )
    return choice, load if Family.LOAD in (*kept, *forced) else None


def _improve_load(
    equations: ModelEquations, families: Sequence[Family], load: RigidTorque, prior: PriorSettings
) -> RigidTorque:
    """Return the torque that drives transmit, estimated with load-dependent friction until it reproduces itself."""
    for _ in range(MAX_LOAD_ROUNDS):
        problem = equations.make_problem(families, load)
        beta = EmpiricalBayes(prior).fit(problem).beta
        load = make_rigid_torque(problem, beta)
        error = compute_error_percent(problem.normal_equations(), beta)
        improved = equations.make_problem(families, load).normal_equations()
        if compute_error_percent(improved, beta) <= MAX_LOAD_ERROR_RATIO * error:
            break
    return load


def make_rigid_torque(problem: EstimationProblem, beta: PerBase) -> RigidTorque:
    """Return the torque of the links, rotors and forces of an estimate, and of those that are known."""
    known = KnownTorque(problem.base, only_rigid=True)
    return RigidTorque.from_estimate(Differential(problem.base), beta, known if known else None)


def compute_error_percent(equations: NormalEquations, beta: PerBase) -> float:
    """Return the relative torque error of all joints, in percent."""
    whole = float(equations.torque_squares.sum())
    return 100.0 * math.sqrt(float(equations.residual_squares(beta).sum()) / whole) if whole else 0.0


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A model without the families ``removed``, and its posterior."""

    removed: tuple[Family, ...]
    posterior: Posterior

    @cached_property
    def log_evidence(self) -> float:
        return self.posterior.log_evidence + compute_sign_evidence(self.posterior)


def compute_sign_evidence(posterior: Posterior) -> float:
    """Return the sum of the module docstring over the parameters that cannot be negative."""
    prior = posterior.prior
    positive = prior.axes[:, prior.belongs_to(POSITIVE_FAMILIES)].any(axis=1)
    prior_std = np.linalg.norm(prior.axes * posterior.scales, axis=1)
    pairs = ((posterior.theta, posterior.theta_std, 1.0), (prior.mean, prior_std, -1.0))
    total = 0.0
    for mean, std, sign in pairs:
        known = positive & (std > 0.0)
        total += sign * sum(map(compute_log_normal_cdf, (mean[known] / std[known]).tolist()))
    return total


@dataclass(frozen=True, eq=False)
class _Comparison:
    """The equations of the model with all families, within which simpler models are compared."""

    problem: EstimationProblem
    base: BaseParameters
    prior: Prior
    correlation: PerLagAndJoint
    inflation: BaseByBase

    @classmethod
    def of(cls, problem: EstimationProblem, settings: PriorSettings) -> _Comparison:
        base, equations = problem.base.standard_combinations, problem.normal_equations()
        assert base is not None  # there is nothing to choose if the geometry is unknown
        weights, solution, _ = solve_reweighted(equations, base.beta)
        correlation = estimate_correlation(problem, solution.beta)
        inflation = estimate_inflation(problem, correlation, weights, solution.decomposition)
        return cls(problem, base, make_prior(base, equations, settings), correlation, inflation)

    @property
    def equations(self) -> NormalEquations:
        return self.problem.normal_equations()

    def estimate_information(self, removed: Sequence[Family]) -> DataInformation:
        """Return the information of the data, with the noise of the fit without prior and without these families."""
        kept = self.prior.without(removed).axes.any(axis=1)
        columns = select_columns(self.base)
        equations = self.equations.substitute(columns[:, kept], columns @ self.prior.mean)
        weights, solution, _ = solve_reweighted(equations, np.zeros(equations.base_count))
        variances = make_noise(equations, weights, solution, self.inflation).variances
        is_informative = self.equations.reference_squares > 0.0
        noise = Noise(np.where(is_informative, variances, np.inf), self.inflation)
        solution = solve_weighted(self.equations, noise.weights, self.base.beta)
        return DataInformation(solution.beta, noise.compute_factor(solution.decomposition))

    def evaluate(
        self, removed: Sequence[Family], information: DataInformation, similar: _Candidate | None = None
    ) -> _Candidate:
        """Return the model without these families; ``similar``: a model with similar scales, to start from."""
        evidence = Evidence(information, self.prior.without(removed), select_columns(self.base))
        start = None if similar is None else similar.posterior.hyper_by_name
        return _Candidate(tuple(removed), evidence.maximize(start))


def _remove_families(
    comparison: _Comparison, considered: Sequence[Family]
) -> tuple[_Candidate, dict[Family, _Candidate]]:
    """Return the chosen model, and for each family the model with the opposite choice."""
    removed: tuple[Family, ...] = ()
    current: _Candidate | None = None
    while True:
        information = comparison.estimate_information(removed)
        current = comparison.evaluate(removed, information, current)
        kept = [family for family in considered if family not in removed]
        simpler = {family: comparison.evaluate((*removed, family), information, current) for family in kept}
        if not simpler:
            break
        factors = {family: current.log_evidence - other.log_evidence for family, other in simpler.items()}
        weakest = min(factors, key=lambda family: factors[family] - MIN_LOG_BAYES_FACTORS[family])
        if factors[weakest] >= MIN_LOG_BAYES_FACTORS[weakest]:
            break
        removed = (*removed, weakest)
    richer = {
        family: comparison.evaluate([other for other in removed if other is not family], information, current)
        for family in removed
    }
    return current, {family: (simpler | richer)[family] for family in considered}


# The logarithm of the distribution function of the standard normal, also where the function itself underflows.
#
# Identity      log Φ(x) = log(½ erfc(-x / √2))
#                        = -½ x² - log(-x √(2π)) + log(1 - x⁻² + 3 x⁻⁴ - 15 x⁻⁶ + 105 x⁻⁸ - …)    for x far below zero
# Reference     M. Abramowitz and I. A. Stegun, "Handbook of mathematical functions" (1964), (26.2.12)
# Differs from  ``scipy.special.log_ndtr`` in: it is for a few numbers, which would not be worth the import of SciPy


# Argument below which the series is used. Fixed by: the terms that are left out, which are then smaller than 1e-12.
MAX_SERIES_ARGUMENT = -30.0


def compute_log_normal_cdf(x: float) -> float:
    """Return log Φ(x)."""
    if x > 0.0:
        return math.log1p(-0.5 * math.erfc(x / math.sqrt(2.0)))
    if x > MAX_SERIES_ARGUMENT:
        return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))
    y = x**-2.0
    series = math.log1p(y * (-1.0 + y * (3.0 + y * (-15.0 + y * 105.0))))
    return -0.5 * x * x - math.log(-x * math.sqrt(2.0 * math.pi)) + series
