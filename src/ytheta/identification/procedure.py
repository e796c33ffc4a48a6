"""The identification of a request, from its logs to the result.

plan       at which cut-off each log is fitted and judged, and which velocity it has
equations  of the planned logs, for any transition speeds of friction and any families of parameters
choice     transition speeds, rotor inertias and friction laws that the data speak for
estimate   by the estimator of the request; load-dependent friction must reproduce the torque on which it depends
errors     of the estimate and of the description, on the logs of the fit and of the validation
bodies     physically consistent bodies nearest to the estimate, if the geometry is known
findings   about the logs, the model and the bodies
result     all of this in one value
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import BaseParameters, ModelParameters
from ytheta.identification.assessment.diagnosis import diagnose
from ytheta.identification.assessment.residual_analysis import find_residual_causes
from ytheta.identification.assessment.residuals import ErrorComputation
from ytheta.identification.assessment.torque_errors import TorqueErrors, is_described
from ytheta.identification.consistency.bounds import BodyBounds
from ytheta.identification.consistency.standard_parameters import (
    ConsistencyCost,
    StandardParameters,
    find_standard_parameters,
)
from ytheta.identification.equations.autocorrelation import (
    compute_equation_autocorrelation_time,
    compute_hat_autocovariance,
)
from ytheta.identification.equations.differential import KnownTorque
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import find_highest_speeds, find_smooth_speeds, with_smooth_speeds
from ytheta.identification.equations.friction_laws import bound_friction
from ytheta.identification.equations.model_equations import EquationSettings, LogEquations
from ytheta.identification.equations.selection import ParameterSelection
from ytheta.identification.estimators.empirical_bayes import EmpiricalBayes
from ytheta.identification.estimators.estimator import Estimate, Estimator
from ytheta.identification.fit_findings import (
    collect_log_findings,
    find_body_findings,
    find_impossible_parameters,
    find_model_findings,
    find_rests,
)
from ytheta.identification.fit_statistics import FitStatistics
from ytheta.identification.log_checks import (
    check_logs,
    find_held_joints,
    find_logs_of_prior,
    find_repetitions,
    find_zero_torques,
)
from ytheta.identification.model_choice import (
    MAX_LOAD_ERROR_RATIO,
    MAX_LOAD_ROUNDS,
    SelectedModel,
    compute_error_percent,
    make_rigid_torque,
    select_model,
)
from ytheta.identification.plan import PreparationPlan, describe_cutoffs, plan_preparations
from ytheta.identification.priors.prior import Family, PriorSettings
from ytheta.identification.result import Identification, describe_origin
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import AUTO, PreparationSettings
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint


@dataclass(frozen=True, eq=False)
class Request:
    """The arguments of ``identify``, checked and read.

    ``min_speed`` are the speeds below which equations are left out, if they are given; ``leaves_out_rest`` says whether
    they are left out while a joint rests, by a rule from the logs.
    """

    robot: Robot
    fit_logs: tuple[Log, ...]
    validation_logs: tuple[Log, ...]
    estimator: Estimator
    form: str
    selection: ParameterSelection
    prior: PriorSettings
    bounds: BodyBounds
    window: float | None
    settings: PreparationSettings
    report_cutoff: float | None
    min_speed: PerJoint | None
    leaves_out_rest: bool
    threads: int | None

    @property
    def logs(self) -> tuple[Log, ...]:
        return (*self.fit_logs, *self.validation_logs)


def run_identification(request: Request, report: Callable[[str], None]) -> Identification:
    """Identify what is requested; ``report`` is called with the name of each stage when it starts."""
    check_logs(request.robot, request.logs)
    repeated = tuple(find_repetitions(request.fit_logs, request.validation_logs))
    report("choosing the low-pass")
    plan, logs = _plan(request)
    report("choosing the model")
    model = select_model(logs, request.prior)
    report("estimating")
    model, problem, estimator, estimate = _estimate_with_own_load(request, model)
    report("computing the errors")
    speeds = find_highest_speeds(request.robot, request.fit_logs)
    bounded = bound_friction(problem.base.robot, problem.base.independent, estimate.beta, speeds)
    load = None if model.load is None else make_rigid_torque(problem, estimate.beta)
    errors = ErrorComputation(problem.base.with_robot(bounded), model.equations, plan, load)
    fit, validation = errors.compute_fit_errors(estimate.beta), errors.compute_validation_errors(estimate.beta)
    base = problem.base.with_robot(with_smooth_speeds(bounded, model.transition_speeds))
    time = None  # that of the errors, each of whose samples is an equation
    if request.form != "differential" or plan.is_fit_judged_apart:
        time = compute_equation_autocorrelation_time(problem, estimate.beta, estimate.hat)
    statistics = FitStatistics(estimate, problem.normal_equations(), fit, time, model.compute_transition_covariance())
    origin = describe_origin(
        request.fit_logs,
        request.validation_logs,
        plan,
        request.prior,
        form=problem.form.name,
        estimator=estimator.name,
        parameters=problem.base.selected,
        min_speed=AUTO if request.leaves_out_rest else request.min_speed,
        uses_prior=estimate.posterior is not None,
    )
    findings = (
        *_find_log_findings(request, plan, repeated),
        *find_model_findings(problem, estimator, estimate, base, model),
        *(find_rests(request.robot.actuated, fit, validation) if request.leaves_out_rest else ()),
        *diagnose(problem, request.fit_logs),
    )
    judged = model.equations.validation_sources or model.equations.sources
    causes = find_residual_causes(errors.form, judged, estimate.beta, known=KnownTorque(errors.base))
    reported = errors.compute_reported_errors(estimate.beta)
    standard, cost, description_errors = None, None, None
    if base.standard_combinations is None:
        findings += tuple(find_impossible_parameters(base, statistics, speeds))
    else:
        description_errors = _compute_description_errors(errors, model, problem, base)
        report("finding the bodies")
        standard, cost = _find_bodies(request, base.standard_combinations, statistics, errors, validation, speeds)
        findings += tuple(find_body_findings(base.robot, standard, cost, estimate, origin.prior))
    return Identification(
        base,
        estimate,
        statistics.normal_equations,
        fit,
        validation,
        origin,
        findings,
        statistics.equation_autocorrelation_time,
        choice=model.choice,
        standard=standard,
        consistency_cost=cost,
        residual_causes=causes,
        transition_covariance=statistics.transition_covariance,
        reported=reported,
        description_errors=description_errors,
    )


def _plan(request: Request) -> tuple[PreparationPlan, LogEquations]:
    """Plan how the logs are prepared for the fit and for the errors; return their equations too."""
    robot, selection = request.robot, request.selection
    is_known = not (robot.unset_symbols or selection.unknown_geometry)
    uses_evidence = isinstance(request.estimator, EmpiricalBayes) and is_known
    considered = selection.list_considered(robot, request.form) if uses_evidence else ()
    sticking = selection.find_sticking_rates(robot) if request.leaves_out_rest else np.zeros((0, len(robot.actuated)))
    logs = LogEquations(
        EquationSettings(
            robot, selection, considered, request.form, request.window, request.min_speed, request.threads
        ),
        held_joints=find_held_joints(robot, request.fit_logs),
        sticking_rates=sticking,
        lowest_speeds=find_smooth_speeds(robot, request.fit_logs),
    )
    plan = plan_preparations(
        request.fit_logs,
        request.validation_logs,
        request.settings,
        report_cutoff=request.report_cutoff,
        equations=logs,
    )
    return plan, replace(logs, fit=plan.own.fit, validation=plan.judged.validation)


def _estimate_with_own_load(
    request: Request, model: SelectedModel
) -> tuple[SelectedModel, EstimationProblem, Estimator, Estimate]:
    """Estimate the model; load-dependent friction must hold with the transmitted torque of the estimate itself.

    The model was chosen with the transmitted torque of another estimate. If the two never agree, the model has no such
    friction, unless the user asked for it.
    """
    problem = model.make_problem()
    estimator, estimate = _estimate(request, model, problem)
    for count in range(MAX_LOAD_ROUNDS + 1):
        if model.load is None:
            break
        load = make_rigid_torque(problem, estimate.beta)
        improved = replace(model, load=load)
        improved_problem = improved.make_problem()
        error, improved_error = (
            compute_error_percent(each.normal_equations(), estimate.beta) for each in (problem, improved_problem)
        )
        if improved_error <= MAX_LOAD_ERROR_RATIO * error:
            break
        if count < MAX_LOAD_ROUNDS:
            model, problem = improved, improved_problem
        elif Family.LOAD in request.selection.forced:
            model = replace(model, choice=replace(model.choice, contradictory=(Family.LOAD,)))
            break
        else:
            model = select_model(model.logs, request.prior, contradictory=(Family.LOAD,))
            problem = model.make_problem()
        estimator, estimate = _estimate(request, model, problem)
    return model, problem, estimator, estimate


def _estimate(request: Request, model: SelectedModel, problem: EstimationProblem) -> tuple[Estimator, Estimate]:
    """Return the estimator with its final settings, and its estimate."""
    estimator = request.estimator
    if isinstance(estimator, EmpiricalBayes):
        estimator = replace(estimator, correlation=model.choice.correlation)
    estimate = estimator.fit(problem)
    if not problem.normal_equations().counts.any():
        reason = "all joints always rest; record motion, or set min_speed to 0"
        if request.min_speed is not None:
            reason = "all joints are always slower than min_speed; lower min_speed"
        raise InputError(f"no equation is left: {reason}")
    if estimate.gain is not None:  # what standard deviations need to know of the hat matrix
        hat = compute_hat_autocovariance(problem, estimate.weights, estimate.gain, estimate.degrees_of_freedom)
        estimate = replace(estimate, hat=hat)
    return estimator, estimate


def _compute_description_errors(
    errors: ErrorComputation, model: SelectedModel, problem: EstimationProblem, base: ModelParameters
) -> TorqueErrors | None:
    """Return the torque errors of the description; None if it has no inertias."""
    if not is_described(base.robot):
        return None
    load = None if model.load is None else make_rigid_torque(problem, base.beta)
    return errors.compute_description_errors(base.beta, load)


def _find_bodies(
    request: Request,
    base: BaseParameters,
    statistics: FitStatistics,
    errors: ErrorComputation,
    validation: TorqueErrors | None,
    speeds: Mapping[str, float],
) -> tuple[StandardParameters, ConsistencyCost]:
    """Return the physically consistent bodies nearest to the estimate, and what consistency costs in torque error."""
    variances = statistics.error_variances
    standard = find_standard_parameters(
        base,
        statistics.estimate,
        statistics.normal_equations,
        statistics.covariance,
        np.where(variances > 0.0, 1.0 / np.where(variances > 0.0, variances, 1.0), 0.0),
        settings=request.prior,
        bounds=request.bounds,
        highest_speeds=speeds,
    )
    beta = base.K @ standard.theta
    if request.form != "differential" or KnownTorque(base):  # then the equations are not those of the whole torque
        percents = [each.relative_percent for each in (statistics.fit, errors.compute_fit_errors(beta))]
    else:
        equations = statistics.normal_equations
        percents = [compute_error_percent(equations, each) for each in (statistics.estimate.beta, beta)]
    bodies_validation = errors.compute_validation_errors(beta)
    validation_percents = [None if each is None else each.relative_percent for each in (validation, bodies_validation)]
    return standard, ConsistencyCost(*percents, *validation_percents)


def _find_log_findings(request: Request, plan: PreparationPlan, repeated: tuple[Finding, ...]) -> Iterator[Finding]:
    """Yield findings about the logs and their preparation."""
    yield from collect_log_findings(request.logs, (*plan.own.fit, *plan.own.validation))
    yield from describe_cutoffs(plan)
    yield from find_zero_torques(request.fit_logs)
    yield from repeated
    if request.prior.earlier is not None:
        yield from find_logs_of_prior(request.prior.earlier.table, request.fit_logs)
