"""Identification of the base parameters of a robot from logs of its motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ytheta.engine.local import limit_blas_threads
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity, attach_findings
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identifiability.registry import model_parameters
from ytheta.identification.arguments import (
    check_min_speed,
    check_parameters,
    choose_estimator,
    expand_friction,
    ignore_stage,
)
from ytheta.identification.assessment.autocorrelation import compute_equation_autocorrelation_time
from ytheta.identification.assessment.diagnosis import diagnose
from ytheta.identification.assessment.residuals import compute_errors
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.friction import COULOMB, make_drive_directions, with_smooth_friction
from ytheta.identification.equations.known_torque import KnownTorque, subtract_known_torque
from ytheta.identification.equations.motion_sources import LogSource, Source
from ytheta.identification.equations.registry import create_form
from ytheta.identification.estimators.estimate import Estimate, Estimator
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.identification.log_checks import (
    check_logs,
    choose_preparations,
    find_held_joints,
    find_repetitions,
    find_zero_torques,
)
from ytheta.identification.log_inputs import LogInputs, MappingInputs, read_logs
from ytheta.identification.result import Identification, Origin
from ytheta.identification.unknown_geometry import find_negative_inertias, summarize_geometry
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import Preparation
from ytheta.logs.preparing.settings import PreparationSettings, merge_settings
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import PerJoint

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
    rotor_inertia: bool = False,
    parameters: Sequence[str] | None = None,
    unknown_geometry: bool = False,
    window: float | None = None,
    cutoff: float | str | None = None,
    derivative: str | None = None,
    average_periods: float | str | None = None,
    settings: PreparationSettings | None = None,
    min_speed: float | Sequence[float] | PerJoint | None = None,
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
    estimator      "auto", "weighted", "least-squares", "sequential", "huber", "recursive", "lin",
                   "instrumental-variables" or "total-least-squares"; or an estimator
    forgetting     forgetting factor per sample of the estimators "recursive" and "sequential", such as 0.999
    form           equation form: "differential", or without accelerations "integral", "cumulative" or "momentum"
    friction       kinds of friction to estimate: "viscous", "coulomb", "offset", "asymmetric" (coulomb and offset);
                   by default viscous, coulomb and offset
    rotor_inertia  whether to estimate the rotor inertias of the drives
    parameters     names or patterns, such as "*.fv", of the standard parameters to estimate. They replace ``friction``
                   and ``rotor_inertia``; all other parameters keep the values of the description
    unknown_geometry
                   whether all symbolic lengths and angles count as unknown, even if they have values
    window         length in seconds of the windows of the integral form, or between the ends of the integrals of the
                   cumulative form; None for the default of the form
    cutoff         cut-off of the low-pass in Hz, the same for all logs; "auto", the default, chooses it from the motion
    derivative     how positions are differentiated: "central", the default, or "spline"
    average_periods
                   length of one period of a periodic motion in seconds, or "auto" to detect it: its periods are
                   averaged before the fit. None does not average
    settings       all settings of the preparation, in place of the three arguments above; None for the default settings
    min_speed      a speed for all joints or one for each, in rad/s or m/s; equations of a joint are left out while the
                   joint is slower
    threads        number of threads; None uses all cores
    strict         refuse logs with findings more serious than a note
    report_stage   called with the name of each stage when it starts; None reports nothing
    """
    check_is_robot(robot)
    report = report_stage or ignore_stage
    method, kinds = choose_estimator(estimator, forgetting), expand_friction(friction)
    names = check_parameters(parameters, friction, rotor_inertia=rotor_inertia)
    speeds = check_min_speed(robot, min_speed)
    preparation = merge_settings(settings, cutoff=cutoff, derivative=derivative, average_periods=average_periods)
    report("reading the logs")
    fit_logs, validation_logs = read_logs(robot, logs, validate, mapping=mapping, hold_out=hold_out, strict=strict)
    read = (*fit_logs, *validation_logs)
    with attach_findings(finding for log in read for finding in _name_log(log.findings, log, read)):
        return _identify_from_logs(
            robot,
            fit_logs,
            validation_logs,
            estimator=method,
            form=form,
            friction=kinds,
            rotor_inertia=rotor_inertia,
            parameters=names,
            unknown_geometry=unknown_geometry,
            window=window,
            settings=preparation,
            min_speed=speeds,
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
    friction: tuple[str, ...],
    rotor_inertia: bool,
    parameters: tuple[str, ...],
    unknown_geometry: bool,
    window: float | None,
    settings: PreparationSettings,
    min_speed: PerJoint | None,
    threads: int | None,
    report: Callable[[str], None],
) -> Identification:
    check_logs(robot, (*fit_logs, *validation_logs))
    repetitions = tuple(find_repetitions(fit_logs, validation_logs))
    report("choosing the low-pass")
    preparations, validation_preparations = choose_preparations(fit_logs, validation_logs, settings)
    report("finding the base parameters")
    base = model_parameters(
        robot,
        method="ha" if robot.unset_symbols else "auto",
        rotor_inertia=rotor_inertia,
        friction=() if parameters else friction,
        parameters=parameters,
        unknown_geometry=unknown_geometry,
    )
    if not len(base):
        raise InputError(f"robot {robot.name!r}: no parameter has any effect on its torques; nothing can be identified")
    # The speeds of smooth friction depend on the logs. Kernels do not contain them, so that logs share kernels.
    smooth_robot = with_smooth_friction(base.robot, fit_logs)
    directions, known, differential = (
        make_drive_directions(smooth_robot),
        KnownTorque(base),
        Differential(base, min_speed),
    )
    held_joints = find_held_joints(robot, fit_logs)
    sources: tuple[Source, ...] = tuple(LogSource(each, directions, held_joints) for each in preparations)
    equation_form = create_form(form, base, min_speed=min_speed, window=window)
    problem = EstimationProblem(equation_form, subtract_known_torque(sources, known), threads=threads)
    if not any(True for _ in problem.tasks()):
        remedy = "use the differential form" if window is None else "use a shorter window"
        raise InputError(f"no segment is as long as a window of the {form} form; {remedy}")
    report("estimating")
    estimate = estimator.fit(problem)
    if not problem.normal_equations().counts.any():
        raise InputError("no equation is left: all joints are always slower than min_speed; lower min_speed")
    report("computing the errors")
    fit = compute_errors(differential, sources, estimate.beta, known=known, threads=threads)
    validation = None
    if validation_preparations:
        validation_sources = tuple(LogSource(each, directions) for each in validation_preparations)
        validation = compute_errors(differential, validation_sources, estimate.beta, known=known, threads=threads)
    origin = Origin(
        logs=tuple(log.source for log in fit_logs),
        validation_logs=tuple(log.source for log in validation_logs),
        form=equation_form.name,
        estimator=estimator.name,
        parameters=base.selected,
        min_speed=None if min_speed is None else tuple(min_speed.tolist()),
        settings=tuple(each.settings for each in preparations),
        expected_autocorrelation_time=_compute_expected_autocorrelation_time(preparations[0]),
    )
    findings = (
        *_collect_log_findings((*fit_logs, *validation_logs), (*preparations, *validation_preparations)),
        *find_zero_torques(fit_logs),
        *repetitions,
        *_describe_unknown_geometry(base),
        *_describe_cumulative_form(form),
        *estimate.findings,
        *_find_unexcited_joints(problem, estimator, estimate),
        *_find_unfiltered_friction(base),
        *diagnose(problem, estimate),
    )
    autocorrelation_time = None
    if form != "differential":
        autocorrelation_time = compute_equation_autocorrelation_time(problem, estimate.beta)
    equations, model = problem.normal_equations(), base.with_robot(smooth_robot)
    result = Identification(model, estimate, equations, fit, validation, origin, findings, autocorrelation_time)
    negative = tuple(find_negative_inertias(model, result.beta, result.std))
    return replace(result, findings=(*findings, *negative)) if negative else result


def _compute_expected_autocorrelation_time(preparation: Preparation) -> float:
    """Return the autocorrelation time of low-passed white noise, in samples: rate / (2 · noise bandwidth)."""
    return max(1.0, 0.5 * preparation.rate / (NOISE_BANDWIDTH * float(preparation.settings.cutoff)))


def _collect_log_findings(logs: Sequence[Log], preparations: Sequence[Preparation]) -> Iterator[Finding]:
    """Yield the findings of reading and preparing the logs; with several logs, each finding names its log."""
    for log, preparation in zip(logs, preparations, strict=True):
        yield from _name_log((*log.findings, *preparation.findings), log, logs)


def _name_log(findings: Sequence[Finding], log: Log, logs: Sequence[Log]) -> Iterator[Finding]:
    """Yield findings about one of these logs; with several logs, each finding names its log."""
    for finding in findings:
        yield replace(finding, source=Path(log.source).name) if len(logs) > 1 else finding


def _describe_unknown_geometry(base: ModelParameters) -> Iterator[Finding]:
    """Yield a note if lengths or angles are unknown: then the parameters are those of a regrouped Lagrangian."""
    if isinstance(base, BaseParameters):
        return
    unknown = base.robot.unset_symbols
    subject = f"{unknown[0]} has" if len(unknown) == 1 else f"{', '.join(unknown)} have"
    statement = f"{subject} no value: the {len(base)} parameters of the regrouped Lagrangian are identified"
    remedy = "they need no geometry; with known geometry, base parameters of the links would be identified"
    yield Finding(FitFindingCode.GEOMETRY, Severity.NOTE, statement, remedy, fields=summarize_geometry(base))


def _describe_cumulative_form(form: str) -> Iterator[Finding]:
    """Yield a note if the form is cumulative, whose equations share the noise of all samples before."""
    if form == "cumulative":
        statement = (
            "equations of the cumulative form share the noise of all samples before, so its standard deviations are "
            "only approximate: in simulations, those of friction were 3 times too small, others 2 to 4 times too large"
        )
        remedy = "for standard deviations that hold, use the integral form"
        yield Finding(FitFindingCode.DEVIATIONS, Severity.NOTE, statement, remedy)


def _find_unexcited_joints(problem: EstimationProblem, estimator: Estimator, estimate: Estimate) -> Iterator[Finding]:
    """Yield the joints of a regrouped Lagrangian for which the rank condition fails; ``sequential`` reports them."""
    if not isinstance(problem.base, BaseParameters) and estimator.name != "sequential":
        from ytheta.identification.estimators.sequential import check_rank_condition  # imported if needed

        yield from check_rank_condition(problem, estimate)


def _find_unfiltered_friction(base: ModelParameters) -> Iterator[Finding]:
    """Yield a finding if Coulomb friction is not low-passed, as in robots with loops; see ``friction``."""
    if base.robot.loops and any(name.endswith(COULOMB) for name in base.selected):
        statement = (
            "the robot has closed loops, so its Coulomb friction does not pass the low-pass, although the torque with "
            "which it is compared does"
        )
        remedy = "expect errors of Coulomb and viscous friction that exceed their standard deviations"
        yield Finding(FitFindingCode.FRICTION, Severity.WARNING, statement, remedy)
