"""The identification of a request, from its logs to the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.assessment.before_after import is_described
from ytheta.identification.assessment.consistency_cost import ConsistencyCost
from ytheta.identification.assessment.diagnosis import diagnose
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.equations.autocorrelation import compute_equation_autocorrelation_time
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import find_highest_speeds, with_smooth_speeds
from ytheta.identification.equations.friction_laws import bound_friction
from ytheta.identification.equations.hat_matrix import compute_hat_autocovariance
from ytheta.identification.equations.known_torque import KnownTorque
from ytheta.identification.estimators.estimate import Estimate, Estimator
from ytheta.identification.estimators.evidence.empirical_bayes import EmpiricalBayes
from ytheta.identification.estimators.evidence.model_choice import (
    MAX_LOAD_ERROR_RATIO,
    MAX_LOAD_ROUNDS,
    compute_error_percent,
    make_rigid_torque,
)
from ytheta.identification.fit_findings import (
    collect_log_findings,
    describe_cumulative_form,
    describe_small_offsets,
    describe_transitions,
    describe_unknown_geometry,
    find_body_findings,
    find_bounded_friction,
    find_contradictory_friction,
    find_resting_joints,
    find_unexcited_joints,
)
from ytheta.identification.inputs.log_checks import check_logs, find_logs_of_prior, find_repetitions, find_zero_torques
from ytheta.identification.origin import Origin
from ytheta.identification.preparing.plan import PreparationPlan, describe_cutoffs
from ytheta.identification.priors.prior import Family
from ytheta.identification.priors.settings import PriorCenter
from ytheta.identification.procedure.equation_maker import EquationMaker, plan_logs
from ytheta.identification.procedure.judge import Judge
from ytheta.identification.procedure.model_selection import SelectedModel, select_model
from ytheta.identification.procedure.request import Request
from ytheta.identification.result import Identification
from ytheta.identification.standard_parameters import find_standard_parameters
from ytheta.identification.unknown_geometry import find_driving_friction, find_negative_inertias
from ytheta.logs.preparing.preparation import AUTO, Preparation

# Noise bandwidth of the low-pass divided by its cut-off: the integral of 1 / (1 + x^8)² from 0 to infinity.
NOISE_BANDWIDTH = 0.898


def run_identification(request: Request, report: Callable[[str], None]) -> Identification:
    """Identify what is requested; ``report`` is called with the name of each stage when it starts."""
    check_logs(request.robot, request.logs)
    repetitions, earlier = tuple(find_repetitions(request.fit_logs, request.validation_logs)), request.prior.earlier
    report("choosing the low-pass")
    plan = plan_logs(request)
    report("choosing the model")
    model = select_model(EquationMaker(request, plan))
    report("estimating")
    model, problem, estimator, estimate = _estimate_with_own_load(request, model)
    report("computing the errors")
    highest_speeds = find_highest_speeds(request.robot, request.fit_logs)
    base = problem.base.with_robot(
        bound_friction(problem.base.robot, problem.base.independent, estimate.beta, highest_speeds)
    )
    load = None if model.load is None else make_rigid_torque(problem, estimate.beta)
    judge = Judge(base, model.equations, plan, load)
    fit, validation = judge.compute_fit_errors(estimate.beta), judge.compute_validation_errors(estimate.beta)
    base = base.with_robot(with_smooth_speeds(base.robot, model.transition_speeds))
    result = Identification(
        base,
        estimate,
        problem.normal_equations(),
        fit,
        validation,
        _describe_origin(request, plan, problem, estimator, estimate),
        (
            *collect_log_findings(request.logs, (*plan.own.fit, *plan.own.validation)),
            *describe_cutoffs(plan),
            *find_zero_torques(request.fit_logs),
            *repetitions,
            *(find_logs_of_prior(earlier.table, request.fit_logs) if earlier is not None else ()),
            *_find_model_findings(request, model, problem, estimator, estimate, base),
            *_find_rests(request, fit, validation),
            *diagnose(problem, request.fit_logs),
        ),
        compute_equation_autocorrelation_time(problem, estimate.beta, estimate.hat)
        if request.form != "differential" or plan.is_fit_judged_apart
        else None,
        choice=model.choice,
        residual_causes=judge.find_causes(estimate.beta),
        transition_covariance=model.compute_transition_covariance(),
        reported=judge.compute_reported_errors(estimate.beta),
    )
    if isinstance(base, BaseParameters):
        if is_described(base.robot):
            load = None if model.load is None else make_rigid_torque(problem, base.beta)
            result = replace(result, description_errors=judge.compute_description_errors(base.beta, load))
        report("finding the bodies")
        return _add_bodies(result, base, judge, request, highest_speeds)
    impossible = (
        *find_negative_inertias(base, result.beta, result.std),
        *find_driving_friction(base, result.beta, result.covariance, result.std, highest_speeds),
    )
    return replace(result, findings=(*result.findings, *impossible))


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
            model = select_model(model.maker, contradictory=(Family.LOAD,))
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


def _describe_origin(
    request: Request, plan: PreparationPlan, problem: EstimationProblem, estimator: Estimator, estimate: Estimate
) -> Origin:
    min_speed = None if request.min_speed is None else tuple(request.min_speed.tolist())
    return Origin(
        logs=tuple(log.source for log in request.fit_logs),
        validation_logs=tuple(log.source for log in request.validation_logs),
        form=problem.form.name,
        estimator=estimator.name,
        parameters=problem.base.selected,
        min_speed=AUTO if request.leaves_out_rest else min_speed,
        settings=tuple(each.settings for each in plan.own.fit),
        validation_settings=tuple(each.settings for each in plan.judged.validation),
        judged_cutoffs=tuple(float(each.settings.cutoff) for each in (*plan.judged.fit, *plan.judged.validation)),
        expected_autocorrelation_time=_compute_expected_autocorrelation_time(plan.own.fit[0]),
        prior=request.prior.center if estimate.posterior is not None else PriorCenter.NONE,
        prior_source=request.prior.source,
        log_origins=tuple(log.origin for log in request.logs),
        log_digests=tuple(log.compute_digest() for log in request.fit_logs),
        log_sizes=tuple(log.size for log in request.logs),
    )


def _compute_expected_autocorrelation_time(preparation: Preparation) -> float:
    """Return the autocorrelation time of low-passed white noise, in samples: rate / (2 · noise bandwidth)."""
    return max(1.0, 0.5 * preparation.rate / (NOISE_BANDWIDTH * float(preparation.settings.cutoff)))


def _find_model_findings(
    request: Request,
    model: SelectedModel,
    problem: EstimationProblem,
    estimator: Estimator,
    estimate: Estimate,
    base: ModelParameters,
) -> Iterator[Finding]:
    """Yield findings about the parameters, the choice of the model and the estimate."""
    yield from describe_unknown_geometry(problem.base)
    yield from describe_cumulative_form(request.form)
    yield from describe_small_offsets(problem, estimate)
    yield from estimate.findings
    yield from find_unexcited_joints(problem, estimator, estimate)
    yield from describe_transitions(request.lowest_transition_speeds, model.transition_speeds)
    yield from find_bounded_friction(base.robot)
    yield from find_contradictory_friction(model.choice, model.families)


def _find_rests(request: Request, fit: TorqueErrors, validation: TorqueErrors | None) -> Iterator[Finding]:
    """Yield findings about joints whose equations were left out while they rested."""
    if request.leaves_out_rest:
        yield from find_resting_joints(request.robot.actuated, fit, "the logs of the fit")
        if validation is not None:
            yield from find_resting_joints(request.robot.actuated, validation, "the validation logs")


def _add_bodies(
    result: Identification, base: BaseParameters, judge: Judge, request: Request, highest_speeds: Mapping[str, float]
) -> Identification:
    """Return the result with the bodies of the model, and findings about what they cost."""
    variances = result.error_variances
    standard = find_standard_parameters(
        base,
        result.estimate,
        result.normal_equations,
        result.covariance,
        np.where(variances > 0.0, 1.0 / np.where(variances > 0.0, variances, 1.0), 0.0),
        settings=request.prior,
        bounds=request.bounds,
        highest_speeds=highest_speeds,
    )
    beta = base.K @ standard.theta
    estimate_percent, bodies_percent = (
        compute_error_percent(result.normal_equations, each) for each in (result.beta, beta)
    )
    if request.form != "differential" or KnownTorque(base):  # then the equations are not those of the whole torque
        estimate_percent = result.fit.relative_percent
        bodies_percent = judge.compute_fit_errors(beta).relative_percent
    validation, bodies_validation = result.validation, judge.compute_validation_errors(beta)
    cost = ConsistencyCost(
        estimate_percent,
        bodies_percent,
        None if validation is None else validation.relative_percent,
        None if bodies_validation is None else bodies_validation.relative_percent,
    )
    result = replace(result, standard=standard, consistency_cost=cost)
    return replace(result, findings=(*result.findings, *find_body_findings(result)))
