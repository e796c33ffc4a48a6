"""The identification of a request, from its logs to the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding
from ytheta.identifiability.base_parameters import BaseParameters, ModelParameters
from ytheta.identification.assessment.diagnosis import diagnose
from ytheta.identification.assessment.residual_analysis import ResidualCause, find_residual_causes
from ytheta.identification.assessment.residuals import compute_errors
from ytheta.identification.assessment.torque_errors import ReportedErrors, TorqueErrors, is_described
from ytheta.identification.consistency.bounds import BodyBounds
from ytheta.identification.consistency.standard_parameters import ConsistencyCost, find_standard_parameters
from ytheta.identification.equations.autocorrelation import (
    compute_equation_autocorrelation_time,
    compute_hat_autocovariance,
)
from ytheta.identification.equations.differential import Differential, KnownTorque, RigidTorque
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import (
    find_highest_speeds,
    find_smooth_speeds,
    list_smooth_speeds,
    make_drive_directions,
    make_rest_rules,
    with_smooth_speeds,
)
from ytheta.identification.equations.friction_laws import bound_friction
from ytheta.identification.equations.model_equations import FitEquations, Selection
from ytheta.identification.equations.motion_sources import CachedSource, LogSource, Source, cache_sources
from ytheta.identification.estimators.empirical_bayes import EmpiricalBayes
from ytheta.identification.estimators.estimator import Estimate, Estimator
from ytheta.identification.fit_findings import (
    collect_log_findings,
    describe_cumulative_form,
    describe_small_offsets,
    describe_transitions,
    describe_unknown_geometry,
    find_body_findings,
    find_bounded_friction,
    find_contradictory_friction,
    find_driving_friction,
    find_negative_inertias,
    find_resting_joints,
    find_unexcited_joints,
)
from ytheta.identification.log_inputs import (
    check_logs,
    find_held_joints,
    find_logs_of_prior,
    find_repetitions,
    find_zero_torques,
)
from ytheta.identification.model_choice import (
    MAX_LOAD_ERROR_RATIO,
    MAX_LOAD_ROUNDS,
    ModelChoice,
    choose_model,
    compute_error_percent,
    make_rigid_torque,
)
from ytheta.identification.plan import PreparationPlan, choose_velocity, describe_cutoffs, plan_preparations
from ytheta.identification.priors.prior import Family, PriorCenter, PriorSettings
from ytheta.identification.result import Identification, Origin
from ytheta.identification.transition_speeds import (
    ChoiceByDrive,
    SpeedsByDrive,
    choose_transition_speeds,
    compute_transition_covariance,
    improve_transition_speeds,
)
from ytheta.logs.log import Log
from ytheta.logs.preparing.drive_directions import AnyDirections
from ytheta.logs.preparing.preparation import AUTO, Preparation, PreparationSettings
from ytheta.logs.preparing.rest import RestRule, remake_rest_rule
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, Bool, Float, PerBase, PerJoint

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


# What is to be identified, from which logs and how: the checked arguments of ``identify``.


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
    selection: Selection
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

    @cached_property
    def held_joints(self) -> Bool[np.ndarray, "joints"]:
        """True for joints that do not move in any log of the fit."""
        return find_held_joints(self.robot, self.fit_logs)

    @cached_property
    def considered(self) -> tuple[Family, ...]:
        """The families of parameters about which the data decide."""
        is_known = not (self.robot.unset_symbols or self.selection.unknown_geometry)
        uses_evidence = isinstance(self.estimator, EmpiricalBayes) and is_known
        return self.selection.list_considered(self.robot, self.form) if uses_evidence else ()

    @cached_property
    def lowest_transition_speeds(self) -> dict[str, float]:
        """The lowest speeds at which Coulomb friction changes its sign gradually.

        They depend on the logs. Kernels do not contain them, so that logs share kernels.
        """
        return find_smooth_speeds(self.robot, self.fit_logs)

    @cached_property
    def sticking_rates(self) -> Float[np.ndarray, "drives joints"]:
        """The rates of the drives whose rests are left out."""
        if not self.leaves_out_rest:
            return np.zeros((0, len(self.robot.actuated)))
        return self.selection.find_sticking_rates(self.robot)


# Equations of the logs of a request: with one transition speed per drive, or with several to choose from.


MAX_SCAN_SAMPLES = 10_000  # from which the transition speeds of friction are chosen
MAX_REFEREE_SAMPLES = 4096  # of a log, from which the source of its velocity is chosen


def plan_logs(request: Request) -> PreparationPlan:
    """Plan how the logs are prepared for the fit and for the judgement."""

    def make_problem(preparation: Preparation) -> EstimationProblem:
        directions = make_drive_directions(with_smooth_speeds(request.robot, request.lowest_transition_speeds))
        rests = make_rest_rules((preparation,), request.sticking_rates, request.held_joints)
        source = LogSource(preparation, directions, request.held_joints, *rests)
        only = FitEquations(
            request.robot,
            request.selection,
            "differential",
            None,
            request.min_speed,
            request.threads,
            request.considered,
            (source,),
            (),
        )
        return only.thin(MAX_REFEREE_SAMPLES).make_problem(request.selection.forced, None)

    return plan_preparations(
        request.fit_logs,
        request.validation_logs,
        request.settings,
        report_cutoff=request.report_cutoff,
        referee=lambda preparation: choose_velocity(preparation, make_problem),
    )


@dataclass(frozen=True, eq=False)
class EquationMaker:
    """Makes equations from the logs of a request, prepared as planned."""

    request: Request
    plan: PreparationPlan

    def make(self, transition_speeds: Mapping[str, float]) -> FitEquations:
        """Return the equations with these transition speeds, by drive; raise InputError if there are none."""
        request = self.request
        directions = make_drive_directions(with_smooth_speeds(request.robot, transition_speeds))
        equations = self._make_with(directions, request.form, request.window)
        _check_equations(equations)
        return equations

    def make_alternatives(
        self, families: Sequence[Family], speeds: Sequence[SpeedsByDrive], choices: Sequence[ChoiceByDrive]
    ) -> list[EstimationProblem]:
        """Return the equations of several choices among transition speeds, from a part of the motion."""
        robot = self.request.robot
        directions = make_drive_directions(robot)
        all_speeds = np.array([list_smooth_speeds(with_smooth_speeds(robot, each)) for each in speeds])
        equations = self._make_with(directions.with_alternatives(all_speeds), "differential", None)
        return equations.thin(MAX_SCAN_SAMPLES).make_alternatives(families, directions.row_drives, choices)

    def _make_with(self, directions: AnyDirections, form: str, window: float | None) -> FitEquations:
        request, (rests, validation_rests) = self.request, self._rests
        sources = tuple(
            LogSource(each, directions, request.held_joints, rest)
            for each, rest in zip(self.plan.own.fit, rests, strict=True)
        )
        validation_sources = tuple(
            LogSource(each, directions, rest=rest)
            for each, rest in zip(self.plan.judged.validation, validation_rests, strict=True)
        )
        return FitEquations(
            request.robot,
            request.selection,
            form,
            window,
            request.min_speed,
            request.threads,
            request.considered,
            cache_sources(sources),
            cache_sources(validation_sources),
        )

    @cached_property
    def _rests(self) -> tuple[tuple[RestRule | None, ...], tuple[RestRule | None, ...]]:
        """The rules of rest of the logs of the fit and of the validation logs."""
        rates = self.request.sticking_rates
        return (
            make_rest_rules(self.plan.own.fit, rates, self.request.held_joints),
            make_rest_rules(self.plan.judged.validation, rates, None),
        )


def _check_equations(fit_equations: FitEquations) -> None:
    """Raise an error if no parameter has an effect, or if no segment is long enough for a window."""
    problem = fit_equations.make_problem(fit_equations.selection.forced, None)
    if not len(problem.base):
        raise InputError(
            f"robot {fit_equations.robot.name!r}: no parameter has any effect on its torques; nothing can be identified"
        )
    if not any(True for _ in problem.tasks()):
        remedy = "use the differential form" if fit_equations.window is None else "use a shorter window"
        raise InputError(f"no segment is as long as a window of the {fit_equations.form} form; {remedy}")


# Choice of the model: transition speeds of friction, then rotor inertias and friction laws.


@dataclass(frozen=True, eq=False)
class SelectedModel:
    """The model that the data chose, and its equations.

    Attributes
    ----------
    maker               makes equations with other transition speeds
    equations           the equations of models with other families
    choice              what was chosen, and what the alternatives would have given
    families            families of parameters of the model
    load                torque that drives transmit, if friction depends on it
    transition_speeds   those of Coulomb friction, by drive
    """

    maker: EquationMaker
    equations: FitEquations
    choice: ModelChoice
    families: tuple[Family, ...]
    load: RigidTorque | None
    transition_speeds: Mapping[str, float]

    def make_problem(self) -> EstimationProblem:
        """Return the equations of the model."""
        return self.equations.make_problem(self.families, self.load)

    def compute_transition_covariance(self) -> BaseByBase | None:
        """Return the part of the covariance that is due to uncertain transition speeds; None if none was chosen."""
        request = self.maker.request
        make_alternatives = partial(self.maker.make_alternatives, self.families)
        lowest = request.lowest_transition_speeds
        return compute_transition_covariance(request.robot, make_alternatives, lowest, self.transition_speeds)


def select_model(maker: EquationMaker, *, contradictory: tuple[Family, ...] = ()) -> SelectedModel:
    """Choose the model of a request; ``contradictory``: families that the model cannot have."""
    request = maker.request
    robot, selection, lowest = request.robot, request.selection, request.lowest_transition_speeds
    speeds: Mapping[str, float] = lowest
    equations = maker.make(lowest)
    if selection.smooth and "coulomb" in selection.basic_friction and not list_smooth_speeds(robot).all():
        make_scanned = partial(maker.make_alternatives, selection.list_scanned(robot))
        speeds = choose_transition_speeds(robot, make_scanned, lowest)
        equations = equations if speeds == lowest else maker.make(speeds)
    thinned = equations.thin()
    choice, load = choose_model(
        thinned.make_problem,
        thinned.make_validation_problem if equations.validation_sources else None,
        considered=[family for family in equations.considered if family not in contradictory],
        forced=selection.forced,
        prior=request.prior,
    )
    choice = replace(choice, contradictory=(*choice.contradictory, *contradictory))
    del thinned  # frees its motion
    families = (*choice.kept, *selection.forced)
    if speeds != lowest:  # they were chosen with other families
        speeds = improve_transition_speeds(robot, partial(maker.make_alternatives, families), lowest, speeds)
        equations = maker.make(speeds)
    return SelectedModel(maker, equations, choice, families, load, speeds)


# Judgement of a model: its torque errors on all logs, at the cut-off of the judgement and at that of the report.


PIECE_LENGTH = 1024  # samples that are prepared at once: their cut-off is low, so there are many recorded ones for each


@dataclass(frozen=True, eq=False)
class Judge:
    """Computes torque errors, always in the differential form, so that forms can be compared."""

    base: ModelParameters
    equations: FitEquations
    plan: PreparationPlan
    load: RigidTorque | None

    def compute_fit_errors(self, beta: PerBase) -> TorqueErrors:
        """Return the errors on the logs of the fit."""
        sources = self.equations.sources
        if self.plan.is_fit_judged_apart:
            sources = _with_preparations(sources, self.plan.judged.fit)
        return self._compute_errors(sources, beta)

    def compute_validation_errors(self, beta: PerBase) -> TorqueErrors | None:
        """Return the errors on the validation logs; None if there are none."""
        sources = self.equations.validation_sources
        if not sources:
            return None
        errors = self._compute_errors(sources, beta)
        if not errors.counts.any():
            names = ", ".join(source.name for source in sources)
            raise InputError(
                f"{names}: no joint moves, or none reaches its min_speed, so that nothing can be judged; validate with "
                "motion, or set min_speed to 0 to judge rest"
            )
        return errors

    def compute_reported_errors(self, beta: PerBase) -> ReportedErrors | None:
        """Return the errors at the report cut-off; None if it was not given."""
        reported = self.plan.reported
        if reported is None:
            return None
        fit, validation = (
            _with_preparations(sources, preparations)
            for sources, preparations in (
                (self.equations.sources, reported.fit),
                (self.equations.validation_sources, reported.validation),
            )
        )
        return ReportedErrors(
            reported.cutoff,
            self._compute_errors(fit, beta),
            self._compute_errors(validation, beta) if validation else None,
        )

    def compute_description_errors(self, beta: PerBase, load: RigidTorque | None) -> TorqueErrors:
        """Return the errors of a description on the validation logs, or on those of the fit without them.

        ``load``: the torque that its drives transmit, if friction depends on it.
        """
        judge = replace(self, load=load)
        return judge.compute_validation_errors(beta) or judge.compute_fit_errors(beta)

    def find_causes(self, beta: PerBase) -> tuple[ResidualCause, ...]:
        """Return what explains the residuals, on the validation logs if there are any."""
        sources = self.equations.validation_sources or self.equations.sources
        return find_residual_causes(self._form, sources, beta, known=KnownTorque(self.base))

    def _compute_errors(self, sources: tuple[Source, ...], beta: PerBase) -> TorqueErrors:
        return compute_errors(self._form, sources, beta, known=KnownTorque(self.base), threads=self.equations.threads)

    @property
    def _form(self) -> Differential:
        return Differential(self.base, self.equations.min_speed, self.load)


def _with_preparations(sources: tuple[Source, ...], preparations: Sequence[Preparation]) -> tuple[Source, ...]:
    """Return the sources of the same logs with other preparations. They are used once, so nothing is stored."""
    uncached = (each.source if isinstance(each, CachedSource) else each for each in sources)
    prepared = tuple(
        replace(source, preparation=preparation, rest=source.rest and remake_rest_rule(source.rest, preparation))
        for source, preparation in zip(uncached, preparations, strict=True)
        if isinstance(source, LogSource)
    )
    return tuple(CachedSource(source, 0, PIECE_LENGTH) for source in prepared)
