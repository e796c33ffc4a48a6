"""The identification of a request, from its logs to the result.

plan       at which cut-off each log is fitted and judged, and which velocity it has
equations  of the planned logs, for any transition speeds of friction and any families of parameters
choice     transition speeds, rotor inertias and friction laws that the data speak for
estimate   by the estimator of the request; load-dependent friction must reproduce the torque on which it depends
errors     and standard deviations, on the logs of the fit and of the validation
bodies     the model: the most likely physically consistent bodies, if the geometry is known; else the estimate
findings   about the logs, the model and the bodies
result     all of this in one value
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identification import log_checks
from ytheta.identification.assessment.diagnosis import diagnose
from ytheta.identification.assessment.residual_analysis import find_residual_causes
from ytheta.identification.assessment.residuals import ErrorComputation
from ytheta.identification.assessment.torque_errors import ParameterUncertainty, TorqueErrors, is_described
from ytheta.identification.between_logs import predict_logs_from_others
from ytheta.identification.consistency.bounds import BodyBounds
from ytheta.identification.consistency.standard_parameters import WIDTHS, BodyProblem
from ytheta.identification.equations.autocorrelation import compute_hat_autocovariance
from ytheta.identification.equations.differential import KnownTorque
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import find_highest_speeds, find_smooth_speeds, make_rest_rules
from ytheta.identification.equations.model_equations import EquationSettings, LogEquations
from ytheta.identification.equations.selection import ParameterSelection
from ytheta.identification.estimators.empirical_bayes import EmpiricalBayes
from ytheta.identification.estimators.estimator import Estimate, Estimator
from ytheta.identification.finding_codes import CONTRADICTIONS
from ytheta.identification.fit_findings import (
    collect_log_findings,
    find_body_findings,
    find_impossible_parameters,
    find_model_findings,
    find_other_robot,
    find_rests,
)
from ytheta.identification.model_assessment import AssessedBodies, ModelAssessment
from ytheta.identification.model_choice import (
    MAX_LOAD_ERROR_RATIO,
    MAX_LOAD_ROUNDS,
    SelectedModel,
    compute_error_percent,
    make_rigid_torque,
    select_model,
)
from ytheta.identification.plan import PreparationPlan, describe_cutoffs, plan_preparations
from ytheta.identification.priors.prior import Family, PriorCenter, PriorSettings
from ytheta.identification.result import Identification, describe_origin
from ytheta.identification.torque_delay import align_torques, describe_torque_delay
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import AUTO, PreparationSettings
from ytheta.robot.robot import Robot
from ytheta.shapes import PerBase, PerJoint


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
    log_checks.check_logs(request.robot, request.logs)
    repeated = tuple(log_checks.find_repetitions(request.fit_logs, request.validation_logs))
    report("choosing the low-pass")
    plan, logs = _plan(request)
    report("choosing the model")
    model = select_model(logs, request.prior)
    report("estimating")
    model, problem, estimator, estimate = _estimate_with_own_load(request, model)
    report("computing the errors")
    speeds = find_highest_speeds(request.robot, request.fit_logs)
    assessment = ModelAssessment(plan, model, problem, estimate, speeds)
    assessed, bodies = assessment.assess(estimate.beta), None
    if assessed.base.standard_combinations is not None:
        report("finding the bodies")
        bodies = assessment.find_bodies(assessed, assessed.base.standard_combinations, request.prior, request.bounds)
        assessed = bodies.assessed
    base, errors = assessed.base, assessed.errors
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
    prior = estimate.posterior.prior if estimate.posterior and origin.prior is PriorCenter.DESCRIPTION else None
    findings = (
        *_find_log_findings(request, plan, repeated),
        *find_model_findings(problem, estimator, estimate, base, model),
        *(find_rests(request.robot.actuated, assessed.fit, assessed.validation) if request.leaves_out_rest else ()),
        *diagnose(problem, request.fit_logs, prior if request.prior.is_chosen_by_data else None),
    )
    if bodies is None:
        findings += tuple(find_impossible_parameters(base, assessed.statistics, speeds))
    else:
        findings += tuple(_find_body_findings(problem, estimate, bodies, findings, origin.prior))
    judged = model.equations.validation_sources or model.equations.sources
    return Identification(
        base,
        assessed.statistics.beta,
        estimate,
        problem.normal_equations(),
        assessed.fit,
        assessed.validation,
        origin,
        findings,
        assessed.statistics.equation_autocorrelation_time,
        choice=model.choice,
        standard=None if bodies is None else bodies.standard,
        consistency_cost=None if bodies is None else bodies.cost,
        residual_causes=find_residual_causes(
            errors.form, judged, assessed.statistics.beta, known=KnownTorque(errors.base)
        ),
        nuisance_covariance=assessed.statistics.nuisance_covariance,
        reported=errors.compute_reported_errors(assessed.statistics.beta),
        description_errors=None if bodies is None else _compute_description_errors(errors, model, problem, base),
        left_out_excesses=predict_logs_from_others(
            errors,
            problem,
            estimate,
            ParameterUncertainty(assessed.statistics.covariance, estimate.unidentified),
            assessed.statistics.torque_noise,
        ),
    )


def _plan(request: Request) -> tuple[PreparationPlan, LogEquations]:
    """Plan how the logs are prepared for the fit and for the errors; return their equations too."""
    robot, selection = request.robot, request.selection
    is_known = not (robot.unset_symbols or selection.unknown_geometry)
    uses_evidence = isinstance(request.estimator, EmpiricalBayes) and is_known
    considered = selection.list_considered(robot, request.form) if uses_evidence else ()
    sticking = selection.find_sticking_rates(robot) if request.leaves_out_rest else np.zeros((0, len(robot.actuated)))
    held = log_checks.find_held_joints(robot, request.fit_logs)
    settings = EquationSettings(
        robot, selection, considered, request.form, request.window, request.min_speed, request.threads
    )
    logs = LogEquations(settings, held, sticking, lowest_speeds=find_smooth_speeds(robot, request.fit_logs))
    plan = plan_preparations(
        request.fit_logs,
        request.validation_logs,
        request.settings,
        report_cutoff=request.report_cutoff,
        equations=logs,
    )
    fit, validation = plan.own.fit, plan.judged.validation
    rests, validation_rests = make_rest_rules(fit, sticking, held), make_rest_rules(validation, sticking)
    logs = replace(logs, fit=fit, validation=validation, rests=rests, validation_rests=validation_rests)
    plan = align_torques(plan, logs, request.settings)
    return plan, replace(logs, fit=plan.own.fit, validation=plan.judged.validation)


def _estimate_with_own_load(
    request: Request, model: SelectedModel
) -> tuple[SelectedModel, EstimationProblem, Estimator, Estimate]:
    """Estimate the model; load-dependent friction must hold with the transmitted torque of the model itself.

    The model was chosen with the transmitted torque of another estimate. If the two never agree, the model has no such
    friction, unless the user asked for it.
    """
    problem = model.make_problem()
    estimator, estimate = _estimate(request, model, problem)
    for count in range(MAX_LOAD_ROUNDS + 1):
        if model.load is None:
            break
        beta = _find_likely_bodies(request, problem, estimate)
        improved = replace(model, load=make_rigid_torque(problem, beta))
        improved_problem = improved.make_problem()
        error, improved_error = (
            compute_error_percent(each.normal_equations(), beta) for each in (problem, improved_problem)
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


def _find_likely_bodies(request: Request, problem: EstimationProblem, estimate: Estimate) -> PerBase:
    """Return the base parameters of the most likely bodies, or those of an estimate without prior.

    The free estimate may trade the torque of links against friction that depends on it, and then it never settles.
    """
    base, posterior = problem.base.standard_combinations, estimate.posterior
    if base is None or posterior is None:
        return estimate.beta
    body_problem = BodyProblem.of(
        base,
        estimate,
        problem.normal_equations(),
        settings=request.prior,
        bounds=request.bounds,
        highest_speeds=find_highest_speeds(request.robot, request.fit_logs),
    )
    information = posterior.evidence.information
    N = information.factor @ information.factor.T
    return base.K @ body_problem.fit(N, N @ information.beta, WIDTHS[0]).theta


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


def _find_log_findings(request: Request, plan: PreparationPlan, repeated: tuple[Finding, ...]) -> Iterator[Finding]:
    """Yield findings about the logs and their preparation."""
    yield from collect_log_findings(request.logs, (*plan.own.fit, *plan.own.validation))
    yield from describe_cutoffs(plan)
    yield from describe_torque_delay(plan.torque_delay)
    yield from log_checks.find_zero_torques(request.fit_logs)
    yield from repeated
    if request.prior.earlier is not None:
        yield from log_checks.find_logs_of_prior(request.prior.earlier.table, request.fit_logs)


def _find_body_findings(
    problem: EstimationProblem,
    estimate: Estimate,
    bodies: AssessedBodies,
    known: tuple[Finding, ...],
    center: PriorCenter,
) -> Iterator[Finding]:
    """Yield findings about the bodies; ``known``: those about the log, ``center``: that of the prior."""
    base, standard = bodies.assessed.base, bodies.standard
    findings = tuple(find_body_findings(base.robot, standard, bodies.cost, bodies.lacking, estimate, center))
    yield from findings
    # A mistake that is named is the better answer, and without a prior the description may be anything.
    is_named = any(finding.code in CONTRADICTIONS for finding in (*known, *findings))
    is_described = center is PriorCenter.DESCRIPTION and not is_named
    if base.standard_combinations is not None and estimate.posterior is not None and is_described:
        equations, prior = problem.normal_equations(), estimate.posterior.prior
        yield from find_other_robot(base.standard_combinations, standard, equations, prior)
