"""Errors and statistics of values of the parameters: those of the free estimate, and those of the bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ytheta.identifiability.base_parameters import BaseParameters, ModelParameters
from ytheta.identification.assessment.residuals import ErrorComputation
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.consistency.bounds import BodyBounds
from ytheta.identification.consistency.standard_parameters import (
    MAX_NEGLIGIBLE_ERROR,
    BodyProblem,
    ConsistencyCost,
    StandardParameters,
    describe_standard_parameters,
    find_lacking_links,
    fit_bodies,
)
from ytheta.identification.equations.autocorrelation import compute_equation_autocorrelation_time
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import with_smooth_speeds
from ytheta.identification.equations.friction_laws import bound_friction
from ytheta.identification.estimators.estimator import Estimate
from ytheta.identification.fit_statistics import FitStatistics
from ytheta.identification.model_choice import SelectedModel, make_rigid_torque
from ytheta.identification.plan import PreparationPlan
from ytheta.identification.priors.prior import PriorSettings
from ytheta.identification.torque_delay import compute_delay_covariance
from ytheta.shapes import BaseByBase, PerBase, freeze


@dataclass(frozen=True, eq=False)
class AssessedParameters:
    """Values of the parameters with their errors.

    Attributes
    ----------
    base             the parameters, of the robot with friction that is bounded where it falls
    errors           computes errors on any logs
    fit, validation  errors on the logs of the fit and on the validation logs; None without such logs
    statistics       the values, the noise and the covariance
    """

    base: ModelParameters
    errors: ErrorComputation
    fit: TorqueErrors
    validation: TorqueErrors | None
    statistics: FitStatistics


@dataclass(frozen=True, eq=False)
class AssessedBodies:
    """The bodies of a model.

    Attributes
    ----------
    assessed  their parameters with their errors
    standard  their standard parameters
    cost      their errors beside those of the free estimate
    lacking   links at which the description lacks something, if the cost is high
    """

    assessed: AssessedParameters
    standard: StandardParameters
    cost: ConsistencyCost
    lacking: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ModelAssessment:
    """Assesses values of the parameters of a model; ``speeds``: the highest speed of each drive."""

    plan: PreparationPlan
    model: SelectedModel
    problem: EstimationProblem
    estimate: Estimate
    speeds: Mapping[str, float]

    def assess(self, beta: PerBase) -> AssessedParameters:
        """Compute errors and statistics for these values."""
        model, problem, estimate = self.model, self.problem, self.estimate
        bounded = bound_friction(problem.base.robot, problem.base.independent, beta, self.speeds)
        load = None if model.load is None else make_rigid_torque(problem, beta)
        errors = replace(self._errors, base=problem.base.with_robot(bounded), load=load)
        fit, validation = errors.compute_fit_errors(beta), errors.compute_validation_errors(beta)
        time = None  # that of the errors, each of whose samples is an equation
        if problem.form.name != "differential" or self.plan.is_fit_judged_apart:
            time = compute_equation_autocorrelation_time(problem, beta, estimate.hat)
        return AssessedParameters(
            problem.base.with_robot(with_smooth_speeds(bounded, model.transition_speeds)),
            errors,
            fit,
            validation,
            FitStatistics(beta, estimate, problem.normal_equations(), fit, time, self._nuisance_covariance),
        )

    def find_bodies(
        self, free: AssessedParameters, base: BaseParameters, prior: PriorSettings, bounds: BodyBounds
    ) -> AssessedBodies:
        """Return the most likely physically consistent bodies; ``free``: the estimate without such conditions."""
        equations, estimate, weights = self.problem.normal_equations(), self.estimate, free.statistics.equation_weights
        problem = BodyProblem.of(base, estimate, equations, settings=prior, bounds=bounds, highest_speeds=self.speeds)
        chooses = problem.may_choose and free.fit.relative_percent > MAX_NEGLIGIBLE_ERROR
        parts = self.problem.split_normal_equations() if chooses else ()
        fit = fit_bodies(problem, estimate, equations, weights, parts)
        assessed = self.assess(freeze(base.K @ fit.theta))
        standard = describe_standard_parameters(problem, fit, estimate, assessed.statistics.covariance)
        cost = compare_errors(free, assessed)
        lacking = find_lacking_links(problem, fit, equations, weights) if cost.is_high else {}
        return AssessedBodies(assessed, standard, cost, tuple(lacking))

    @cached_property
    def _errors(self) -> ErrorComputation:
        return ErrorComputation.of(self.problem.base, self.model.equations, self.plan)

    @cached_property
    def _nuisance_covariance(self) -> BaseByBase:
        delay = compute_delay_covariance(self.problem, self.estimate, self.plan.torque_delay)
        transitions = self.model.compute_transition_covariance()
        return freeze(delay if transitions is None else delay + transitions)


def compare_errors(free: AssessedParameters, model: AssessedParameters) -> ConsistencyCost:
    """Return the errors of the free estimate beside those of the model."""
    validation = [None if each is None else each.relative_percent for each in (free.validation, model.validation)]
    return ConsistencyCost(free.fit.relative_percent, model.fit.relative_percent, *validation)
