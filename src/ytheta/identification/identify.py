"""Identification of the base parameters of a robot from logs of its motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ytheta.engine.local import limit_blas_threads
from ytheta.errors import InputError
from ytheta.findings import attach_findings
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.arguments import (
    check_friction_laws,
    check_min_speed,
    check_parameters,
    choose_estimator,
    expand_friction,
    ignore_stage,
    is_auto,
    with_prior,
    with_unknown_loads,
)
from ytheta.identification.assessment.diagnosis import diagnose
from ytheta.identification.assessment.residual_causes import ResidualCause, find_residual_causes
from ytheta.identification.assessment.residuals import TorqueErrors, compute_errors
from ytheta.identification.bodies.bounds import BodyBounds
from ytheta.identification.equations.autocorrelation import compute_equation_autocorrelation_time
from ytheta.identification.equations.differential import Differential, RigidTorque
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import (
    find_highest_speeds,
    find_smooth_speeds,
    list_smooth_speeds,
    make_drive_directions,
    with_smooth_speeds,
)
from ytheta.identification.equations.friction_laws import bound_friction
from ytheta.identification.equations.hat_matrix import compute_hat_autocovariance
from ytheta.identification.equations.known_torque import KnownTorque
from ytheta.identification.equations.motion_sources import CachedSource, LogSource, Source, cache_sources
from ytheta.identification.equations.stiction import make_rest_rules
from ytheta.identification.estimators.estimate import Estimate, Estimator
from ytheta.identification.estimators.evidence.empirical_bayes import EmpiricalBayes
from ytheta.identification.estimators.evidence.model_choice import (
    choose_model,
    compute_error_percent,
    make_rigid_torque,
)
from ytheta.identification.estimators.evidence.transition_speeds import (
    ChoiceByDrive,
    SpeedsByDrive,
    choose_transition_speeds,
    compute_transition_covariance,
    improve_transition_speeds,
)
from ytheta.identification.fit_findings import (
    collect_log_findings,
    describe_cumulative_form,
    describe_transitions,
    describe_unknown_geometry,
    find_body_findings,
    find_bounded_friction,
    find_contradictory_friction,
    find_resting_joints,
    find_unexcited_joints,
    name_log,
)
from ytheta.identification.fitting import FitEquations, Selection
from ytheta.identification.log_checks import (
    check_logs,
    find_held_joints,
    find_repetitions,
    find_zero_torques,
)
from ytheta.identification.log_inputs import LogInputs, MappingInputs, read_logs
from ytheta.identification.model_file import PriorInput, read_prior
from ytheta.identification.preparing.plan import PreparationPlan, describe_cutoffs, plan_preparations
from ytheta.identification.preparing.velocity_referee import choose_velocity
from ytheta.identification.priors.prior import Family
from ytheta.identification.priors.settings import PriorCenter, PriorSettings
from ytheta.identification.result import ConsistencyCost, Identification, Origin, ReportedErrors
from ytheta.identification.standard_parameters import find_standard_parameters
from ytheta.identification.unknown_geometry import find_negative_inertias
from ytheta.logs.log import Log
from ytheta.logs.preparing.drive_directions import AnyDirections
from ytheta.logs.preparing.preparation import Preparation
from ytheta.logs.preparing.rest import remake_rest_rule
from ytheta.logs.preparing.settings import AUTO, PreparationSettings, merge_settings
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import PerBase, PerJoint

MAX_SCAN_SAMPLES = 10_000  # from which the transition speeds of friction are chosen
MAX_REFEREE_SAMPLES = 4096  # of a log, from which the source of its velocity is chosen
# Noise bandwidth of the low-pass divided by its cut-off: the integral of 1 / (1 + x^8)² from 0 to infinity.
NOISE_BANDWIDTH = 0.898


@limit_blas_threads()
def identify(
    robot: Robot,
    logs: LogInputs,
    *,
    validate: LogInputs | None = None,
    hold_out: float | None = None,
    mapping: MappingInputs = None,
    estimator: str | Estimator = "auto",
    forgetting: float | None = None,
    form: str = "differential",
    friction: Sequence[str] | None = None,
    rotor_inertia: bool | None = None,
    parameters: Sequence[str] | None = None,
    unknown_geometry: bool = False,
    prior: PriorInput = None,
    prior_strength: float | None = None,
    bounds: BodyBounds | None = None,
    add_load: Sequence[str] = (),
    window: float | None = None,
    cutoff: float | str | None = None,
    derivative: str | None = None,
    velocity: str | None = None,
    average_periods: float | str | None = None,
    settings: PreparationSettings | None = None,
    report_cutoff: float | None = None,
    min_speed: float | Sequence[float] | PerJoint | str | None = AUTO,
    threads: int | None = None,
    strict: bool = False,
    report_stage: Callable[[str], None] | None = None,
) -> Identification:
    """Identify the base parameters of a robot from measured motion.

    If a length or an angle of the robot has no value, the parameters of its regrouped Lagrangian are identified
    instead, which need no geometry.

    Parameters
    ----------
    robot          a robot whose description contains at least geometry and gravity; symbolic lengths and angles may
                   be unknown
    logs           one log with torques or a list of logs, to which the model is fitted: files, DataFrames of pandas or
                   Polars, dicts of arrays, or Logs; ``read_log`` describes them
    validate       logs of other motion, on which the errors of the model are computed; None for no validation
    hold_out       percentage at the end of a single log that is not used for the fit, but for the validation
    mapping        the meaning of the columns, as for ``read_log``: one mapping for all logs, or a list with one for
                   each, validation logs last
    estimator      "auto" or "evidence": the description is a prior whose strength the data choose; without prior:
                   "weighted", "least-squares", "sequential", "huber", "recursive", "lin", "instrumental-variables" or
                   "total-least-squares"; or an estimator
    forgetting     forgetting factor per sample of the estimators "recursive" and "sequential", such as 0.999
    form           equation form: "differential", or without accelerations "integral", "cumulative" or "momentum"
    friction       kinds of friction to estimate: "viscous", "coulomb", "offset", "asymmetric" (coulomb and offset),
                   "root" (root of the speed), "load" (in proportion to the load), and "smooth" if the data are to
                   choose how gradually Coulomb friction changes its sign. By default viscous, coulomb, offset and
                   smooth; and with "auto" also root and load if the data speak for them
    rotor_inertia  whether to estimate the rotor inertias of the drives; by default the data decide with "auto", and
                   they are not estimated with estimators without prior
    parameters     names or patterns, such as "*.fv", of the standard parameters to estimate. They replace ``friction``
                   and ``rotor_inertia``; all other parameters keep the values of the description
    unknown_geometry
                   whether all symbolic lengths and angles count as unknown, even if they have values
    prior          what the prior is centred on instead of the description: a robot, or the file of a robot or of an
                   identified model, whose covariance is used too; or "none" for no prior
    prior_strength inverse of the relative deviation that is expected of the description, such as 5 for 20 %; None lets
                   the data choose
    bounds         bounds of masses and centres of mass of the bodies in the model
    add_load       names of links that carry something that the description lacks: each gets a load whose ten parameters
                   are estimated
    window         length in seconds of the windows of the integral form, or between the ends of the integrals of the
                   cumulative form; None for the default of the form
    cutoff         cut-off of the low-pass in Hz, the same for all logs; "auto", the default, chooses it for each log
    derivative     how positions are differentiated: "central", the default, or "spline"
    velocity       "recorded", "position" (differentiated), or "auto", the default: for every joint of each log the one
                   with the smaller expected error
    average_periods
                   length of one period of a periodic motion in seconds, or "auto" to detect it: its periods are
                   averaged before the fit. None does not average
    settings       all settings of the preparation, in place of the four arguments above; None for the default settings
    report_cutoff  cut-off in Hz at which errors are computed in addition, to compare them with those of other tools
    min_speed      which equations are left out of fit and errors because stiction dominates them. "auto", the default:
                   those of a joint with Coulomb friction while it rests, by a rule that follows from the log; or a
                   speed for all joints or one for each, in rad/s or m/s: those of a joint while it is slower. 0 or
                   None: none
    threads        number of threads; None uses all cores
    strict         refuse logs with findings more serious than a note
    report_stage   called with the name of each stage when it starts; None reports nothing
    """
    check_is_robot(robot)
    report = report_stage or ignore_stage
    robot = with_unknown_loads(robot, add_load)
    names = check_parameters(parameters, friction, rotor_inertia=rotor_inertia)
    kinds = None if friction is None else expand_friction(friction)
    check_friction_laws(robot, kinds or ())
    settings_of_prior = read_prior(robot, prior, prior_strength)
    if (unknown_geometry or robot.unset_symbols) and (prior, prior_strength) != (None, None):
        raise InputError("without geometry there is no prior of the links; remove prior and prior_strength")
    method = with_prior(
        choose_estimator(estimator, forgetting), settings_of_prior, given=(prior, prior_strength) != (None, None)
    )
    speeds = check_min_speed(robot, min_speed)
    preparation = merge_settings(
        settings, cutoff=cutoff, derivative=derivative, velocity=velocity, average_periods=average_periods
    )
    report("reading the logs")
    fit_logs, validation_logs = read_logs(robot, logs, validate, mapping=mapping, hold_out=hold_out, strict=strict)
    read = (*fit_logs, *validation_logs)
    with attach_findings(finding for log in read for finding in name_log(log.findings, log, read)):
        return _identify_from_logs(
            robot,
            fit_logs,
            validation_logs,
            estimator=method,
            form=form,
            selection=Selection.of(kinds, rotor_inertia, names, unknown_geometry=unknown_geometry),
            prior=settings_of_prior,
            bounds=bounds or BodyBounds(),
            window=window,
            settings=preparation,
            report_cutoff=report_cutoff,
            min_speed=speeds,
            leaves_out_rest=is_auto(min_speed),
            threads=threads,
            report=report,
        )


def _identify_from_logs(
    robot: Robot,
    fit_logs: Sequence[Log],
    validation_logs: Sequence[Log],
    *,
    estimator: Estimator,
    form: str,
    selection: Selection,
    prior: PriorSettings,
    bounds: BodyBounds,
    window: float | None,
    settings: PreparationSettings,
    report_cutoff: float | None,
    min_speed: PerJoint | None,
    leaves_out_rest: bool,
    threads: int | None,
    report: Callable[[str], None],
) -> Identification:
    if not fit_logs:
        raise InputError("there is no log to identify from")
    check_logs(robot, (*fit_logs, *validation_logs))
    repetitions = tuple(find_repetitions(fit_logs, validation_logs))
    report("choosing the low-pass")
    held_joints = find_held_joints(robot, fit_logs)
    is_known = not (robot.unset_symbols or selection.unknown_geometry)
    uses_evidence = isinstance(estimator, EmpiricalBayes) and is_known
    if prior.earlier is not None and not selection.parameters:
        selection = selection.adopt(prior.earlier.base)
    # The speeds of smooth friction depend on the logs. Kernels do not contain them, so that logs share kernels.
    smooth_speeds = find_smooth_speeds(robot, fit_logs)
    considered = selection.list_considered(robot, form) if uses_evidence else ()
    rates = selection.find_sticking_rates(robot) if leaves_out_rest else np.zeros((0, len(robot.actuated)))

    def make_referee_problem(preparation: Preparation) -> EstimationProblem:
        directions = make_drive_directions(with_smooth_speeds(robot, smooth_speeds))
        source = LogSource(preparation, directions, held_joints, *make_rest_rules((preparation,), rates, held_joints))
        only = FitEquations(robot, selection, "differential", None, min_speed, threads, considered, (source,), ())
        return only.thin(MAX_REFEREE_SAMPLES).make_problem(selection.forced, None)

    plan = plan_preparations(
        fit_logs,
        validation_logs,
        settings,
        report_cutoff=report_cutoff,
        referee=lambda preparation: choose_velocity(preparation, make_referee_problem),
    )
    preparations, validation_preparations = plan.own.fit, plan.judged.validation
    rests, validation_rests = (
        make_rest_rules(each, rates, held)
        for each, held in ((preparations, held_joints), (validation_preparations, None))
    )
    report("finding the base parameters")

    def make_equations(speeds: Mapping[str, float]) -> FitEquations:
        return make_equations_with(make_drive_directions(with_smooth_speeds(robot, speeds)), form, window)

    def make_equations_with(directions: AnyDirections, form: str, window: float | None) -> FitEquations:
        sources = tuple(
            LogSource(each, directions, held_joints, rest) for each, rest in zip(preparations, rests, strict=True)
        )
        validation_sources = tuple(
            LogSource(each, directions, rest=rest)
            for each, rest in zip(validation_preparations, validation_rests, strict=True)
        )
        return FitEquations(
            robot,
            selection,
            form,
            window,
            min_speed,
            threads,
            considered,
            cache_sources(sources),
            cache_sources(validation_sources),
        )

    _check_equations(make_equations(smooth_speeds))
    report("choosing the model")
    lowest_speeds = smooth_speeds

    def make_alternatives(
        families: Sequence[Family], speeds: Sequence[SpeedsByDrive], choices: Sequence[ChoiceByDrive]
    ) -> list[EstimationProblem]:
        directions = make_drive_directions(robot)
        all_speeds = np.array([list_smooth_speeds(with_smooth_speeds(robot, each)) for each in speeds])
        equations = make_equations_with(directions.with_alternatives(all_speeds), "differential", None)
        return equations.thin(MAX_SCAN_SAMPLES).make_alternatives(families, directions.row_drives, choices)

    if selection.smooth and "coulomb" in selection.basic_friction and not list_smooth_speeds(robot).all():
        make_scanned = partial(make_alternatives, selection.list_scanned(robot))
        smooth_speeds = choose_transition_speeds(robot, make_scanned, smooth_speeds)
    fit_equations = make_equations(smooth_speeds)
    thinned = fit_equations.thin()
    choice, load = choose_model(
        thinned.make_problem,
        thinned.make_validation_problem if validation_preparations else None,
        considered=fit_equations.considered,
        forced=selection.forced,
        prior=prior,
    )
    del thinned  # frees its motion
    families = (*choice.kept, *selection.forced)
    if smooth_speeds != lowest_speeds:  # those of the chosen model
        make_chosen = partial(make_alternatives, families)
        smooth_speeds = improve_transition_speeds(robot, make_chosen, lowest_speeds, smooth_speeds)
        fit_equations = make_equations(smooth_speeds)
    problem = fit_equations.make_problem(families, load)
    report("estimating")
    if isinstance(estimator, EmpiricalBayes):
        estimator = replace(estimator, correlation=choice.correlation)
    estimate = _add_hat_matrix(problem, estimator.fit(problem))
    if not problem.normal_equations().counts.any():
        reason = "all joints always rest; record motion, or set min_speed to 0"
        if min_speed is not None:
            reason = "all joints are always slower than min_speed; lower min_speed"
        raise InputError(f"no equation is left: {reason}")
    report("computing the errors")
    speeds = find_highest_speeds(robot, fit_logs)
    bounded = problem.base.with_robot(
        bound_friction(problem.base.robot, problem.base.independent, estimate.beta, speeds)
    )
    judge = _Judge(
        bounded, fit_equations, min_speed, plan, load=make_rigid_torque(problem, estimate.beta) if load else None
    )
    model = bounded.with_robot(with_smooth_speeds(bounded.robot, smooth_speeds))
    validation = (
        judge.compute_errors(fit_equations.validation_sources, estimate.beta) if validation_preparations else None
    )
    reported = judge.compute_reported_errors(estimate.beta)
    origin = Origin(
        logs=tuple(log.source for log in fit_logs),
        validation_logs=tuple(log.source for log in validation_logs),
        form=problem.form.name,
        estimator=estimator.name,
        parameters=problem.base.selected,
        min_speed=AUTO if leaves_out_rest else None if min_speed is None else tuple(min_speed.tolist()),
        settings=tuple(each.settings for each in preparations),
        judged_cutoffs=tuple(float(each.settings.cutoff) for each in (*plan.judged.fit, *plan.judged.validation)),
        expected_autocorrelation_time=_compute_expected_autocorrelation_time(preparations[0]),
        prior=prior.center if estimate.posterior is not None else PriorCenter.NONE,
        prior_source=prior.source,
    )
    fit = judge.compute_fit_errors(estimate.beta)
    findings = (
        *collect_log_findings((*fit_logs, *validation_logs), (*plan.own.fit, *plan.own.validation)),
        *describe_cutoffs(plan),
        *find_zero_torques(fit_logs),
        *repetitions,
        *describe_unknown_geometry(problem.base),
        *describe_cumulative_form(form),
        *(find_resting_joints(robot.actuated, fit, "the logs of the fit") if leaves_out_rest else ()),
        *(
            find_resting_joints(robot.actuated, validation, "the validation logs")
            if leaves_out_rest and validation is not None
            else ()
        ),
        *estimate.findings,
        *find_unexcited_joints(problem, estimator, estimate),
        *describe_transitions(lowest_speeds, smooth_speeds),
        *find_bounded_friction(model.robot),
        *find_contradictory_friction(choice),
        *diagnose(problem, fit_logs),
    )
    result = Identification(
        model,
        estimate,
        problem.normal_equations(),
        fit,
        validation,
        origin,
        findings,
        compute_equation_autocorrelation_time(problem, estimate.beta, estimate.hat)
        if form != "differential" or plan.is_fit_judged_apart
        else None,
        choice=choice,
        residual_causes=judge.find_causes(fit_equations.validation_sources or fit_equations.sources, estimate.beta),
        transition_covariance=compute_transition_covariance(
            robot, partial(make_alternatives, families), lowest_speeds, smooth_speeds
        ),
        reported=reported,
    )
    if isinstance(model, BaseParameters):
        report("finding the bodies")
        return _add_bodies(result, judge, prior, bounds, speeds)
    negative = tuple(find_negative_inertias(model, result.beta, result.std))
    return replace(result, findings=(*findings, *negative))


@dataclass(frozen=True, eq=False)
class _Judge:
    """Computes torque errors, always in the differential form, so that forms can be compared."""

    base: ModelParameters
    equations: FitEquations
    min_speed: PerJoint | None
    plan: PreparationPlan
    load: RigidTorque | None

    def compute_errors(self, sources: tuple[Source, ...], beta: PerBase) -> TorqueErrors:
        return compute_errors(self._form, sources, beta, known=KnownTorque(self.base), threads=self.equations.threads)

    def find_causes(self, sources: tuple[Source, ...], beta: PerBase) -> tuple[ResidualCause, ...]:
        return find_residual_causes(self._form, sources, beta, known=KnownTorque(self.base))

    @property
    def _form(self) -> Differential:
        return Differential(self.base, self.min_speed, self.load)

    def compute_fit_errors(self, beta: PerBase) -> TorqueErrors:
        """Return the errors on the logs of the fit, at the cut-off of the judgement."""
        if not self.plan.is_fit_judged_apart:
            return self.compute_errors(self.equations.sources, beta)
        return self.compute_errors(_with_preparations(self.equations.sources, self.plan.judged.fit), beta)

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
            self.compute_errors(fit, beta),
            self.compute_errors(validation, beta) if validation else None,
        )


def _add_bodies(
    result: Identification, judge: _Judge, prior: PriorSettings, bounds: BodyBounds, speeds: Mapping[str, float]
) -> Identification:
    """Return the result with the bodies of the model, and findings about what they cost."""
    base = result.base
    assert isinstance(base, BaseParameters)
    variances = result.error_variances
    standard = find_standard_parameters(
        base,
        result.estimate,
        result.normal_equations,
        result.covariance,
        np.where(variances > 0.0, 1.0 / np.where(variances > 0.0, variances, 1.0), 0.0),
        settings=prior,
        bounds=bounds,
        highest_speeds=speeds,
    )
    beta = base.K @ standard.theta
    estimate_percent, bodies_percent = (
        compute_error_percent(result.normal_equations, each) for each in (result.beta, beta)
    )
    # Then the equations are not those of the whole torque, or have another cut-off than the errors.
    if result.origin.form != "differential" or KnownTorque(base) or judge.plan.is_fit_judged_apart:
        estimate_percent = result.fit.relative_percent
        bodies_percent = judge.compute_fit_errors(beta).relative_percent
    cost = ConsistencyCost(
        estimate_percent,
        bodies_percent,
        None if result.validation is None else result.validation.relative_percent,
        None
        if result.validation is None
        else judge.compute_errors(judge.equations.validation_sources, beta).relative_percent,
    )
    result = replace(result, standard=standard, consistency_cost=cost)
    return replace(result, findings=(*result.findings, *find_body_findings(result)))


def _add_hat_matrix(problem: EstimationProblem, estimate: Estimate) -> Estimate:
    """Return an estimate with what its standard deviations need to know of the hat matrix."""
    if estimate.gain is None:
        return estimate
    hat = compute_hat_autocovariance(problem, estimate.weights, estimate.gain, estimate.degrees_of_freedom)
    return replace(estimate, hat=hat)


def _with_preparations(sources: tuple[Source, ...], preparations: Sequence[Preparation]) -> tuple[Source, ...]:
    """Return the sources of the same logs with other preparations."""
    uncached = (each.source if isinstance(each, CachedSource) else each for each in sources)
    return tuple(
        replace(source, preparation=preparation, rest=source.rest and remake_rest_rule(source.rest, preparation))
        for source, preparation in zip(uncached, preparations, strict=True)
        if isinstance(source, LogSource)
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


def _compute_expected_autocorrelation_time(preparation: Preparation) -> float:
    """Return the autocorrelation time of low-passed white noise, in samples: rate / (2 · noise bandwidth)."""
    return max(1.0, 0.5 * preparation.rate / (NOISE_BANDWIDTH * float(preparation.settings.cutoff)))
