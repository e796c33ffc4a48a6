"""Identification of a payload: mass, centre and inertia of what an arm holds.

Method        The model predicts the torques without payload. What it does not explain is linear in the ten parameters
              of a body that is fixed to a link. Errors of the model's parameters are estimated together with them,
              with the covariance of the model as prior, so that they make the payload less certain, and logs without
              the payload make it more certain again.
Reference     J. Swevers, W. Verdonck, B. Naumer, S. Pieters and E. Biber, An Experimental Robot Load Identification
              Method for Industrial Application, International Journal of Robotics Research 21(8), 2002;
              C. Gaz and A. De Luca, Payload Estimation Based on Identified Coefficients of Robot Dynamics, with an
              Application to Collision Detection, IROS 2017
Differs from  them in: the model's uncertainty is part of the estimate; a log without payload need not repeat the
              motion; the payload is a body that can exist, and what the motion does not show comes from a prior
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ytheta.arguments import check_kind, check_number
from ytheta.conventions import LINK_PARAMETERS, SNAP
from ytheta.engine.local import limit_blas_threads
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity, attach_findings
from ytheta.identifiability.base_parameters import without_regrouping
from ytheta.identification import log_checks
from ytheta.identification.assessment.residuals import compute_errors
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.friction import (
    check_min_speed,
    find_sticking_rates,
    is_auto,
    make_drive_directions,
    make_rest_rules,
)
from ytheta.identification.fit_findings import name_log
from ytheta.identification.identify import identify
from ytheta.identification.result import TORQUE_SCALE
from ytheta.identification.torque_model import ModelInput, TorqueModel, read_torque_model
from ytheta.logs.log import Log
from ytheta.logs.preparing.cutoff import MIN_SAMPLES
from ytheta.logs.preparing.motion_sources import LogSource
from ytheta.logs.preparing.preparation import Preparation, PreparationSettings
from ytheta.logs.reading.read import GainInput, LogReadingOptions, RowsInput
from ytheta.logs.reading.read_logs import LogInputs, MappingInputs, read_logs
from ytheta.payload.attachment import PAYLOAD, Attachment, find_attachment
from ytheta.payload.columns import PayloadEquations
from ytheta.payload.estimation import FRICTION_DRIFT, estimate_payload, make_model_errors
from ytheta.payload.result import PayloadEstimate, find_consistent_payload
from ytheta.payload.verdict import PayloadFindingCode, judge_identification, judge_mass, judge_model
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint

# Largest mass of a payload in kg. Chosen on: reasoning; more is a mistake in the unit.
MAX_MASS = 1e6
# Largest relative change of friction that can be given. Chosen on: rule of thumb; to estimate friction anew, there is
# infinity.
MAX_FRICTION_DRIFT = 1e3
# Largest standard deviation of this scale that can be given. Chosen on: rule of thumb.
MAX_TORQUE_SCALE = 1.0


@limit_blas_threads()
def identify_payload(
    model: ModelInput,
    logs: LogInputs,
    *,
    unloaded: LogInputs | None = None,
    link: str | None = None,
    frame: str | None = None,
    mass: float | None = None,
    name: str = PAYLOAD,
    friction_drift: float = FRICTION_DRIFT,
    torque_scale: float = TORQUE_SCALE,
    mapping: MappingInputs = None,
    degrees: bool = False,
    rows: RowsInput = None,
    rate: float | None = None,
    gain: GainInput = None,
    topic: str | None = None,
    cutoff: float | str | None = None,
    derivative: str | None = None,
    velocity: str | None = None,
    settings: PreparationSettings | None = None,
    min_speed: float | Sequence[float] | PerJoint | str | None = None,
    threads: int | None = None,
    strict: bool = False,
    snap: float = SNAP,
    fix_base: bool = False,
    lengths: Mapping[str, float] | None = None,
    angles: Mapping[str, float] | None = None,
    report_stage: Callable[[str], None] | None = None,
) -> PayloadEstimate:
    """Identify the mass, the centre of mass and the inertia of a payload from the motion of the arm that carries it.

    Parameters
    ----------
    model       the robot without the payload: a file written by ``Identification.save``, an Identification, or a robot
                with inertias: a file, a catalog name or a Robot
    logs        one log with torques or a list of logs of the robot with the payload
    unloaded    logs of the robot without the payload, best of the same day: they correct the model. If the model is a
                description, it is identified from them first
    link        link or marker to which the payload is fixed; None for the last link of the arm
    frame       link or marker in whose frame centre and inertia are stated; None for that of ``link``
    mass        the mass of the payload in kg if it was weighed; None to estimate it
    name        name of the payload as a link of the resulting robot
    friction_drift
                expected change of friction since the model was identified, relative to its values: viscous, Coulomb
                friction and offsets are estimated within it. 0 keeps the friction of the model; ``math.inf`` estimates
                friction anew
    torque_scale
                standard deviation of the scale of the torques, relative to it. Torques from motor currents depend on
                torque constants and gear ratios: 0.05 for 5 %. For joints with calibrated torque sensors, give 0.01
    mapping, degrees, rows, rate, gain, topic
                how the logs are read, as for ``identify``; ``rows`` are those of ``logs``, and mappings of ``unloaded``
                come last
    cutoff, derivative, velocity, settings, min_speed
                how the logs are prepared, as for ``predict``
    threads     number of threads; None uses all cores
    strict      refuse logs with findings more serious than a note
    snap, fix_base, lengths, angles
                how the file of a model is read, as for ``load``
    report_stage
                called with the name of each stage when it starts; None reports nothing
    """
    report = report_stage or (lambda _: None)
    _check_arguments(mass, name, friction_drift, torque_scale)
    report("reading the model")
    torque_model = read_torque_model(model, snap=snap, fix_base=fix_base, lengths=lengths or {}, angles=angles or {})
    robot = torque_model.base.robot
    if torque_model.base.standard_combinations is None:
        raise InputError(f"the model of {robot.name!r} has unknown geometry; a payload needs that of the robot")
    find_attachment(robot, link=link, frame=frame, name=name)
    report("reading the logs")
    options = LogReadingOptions(degrees=degrees, rows=rows, rate=rate, gain=gain, topic=topic)
    loaded_logs, unloaded_logs = read_logs(robot, logs, unloaded, mapping=mapping, options=options, strict=strict)
    all_logs = (*loaded_logs, *unloaded_logs)
    _check_logs(robot, loaded_logs, unloaded_logs)
    findings = [finding for log in all_logs for finding in name_log(log.findings, log, all_logs)]
    findings += log_checks.find_zero_torques(loaded_logs)
    new_logs = unloaded_logs
    with attach_findings(findings):
        if torque_model.identified is None and unloaded_logs:
            report("identifying the robot without payload")
            fit = identify(
                robot,
                list(unloaded_logs),
                cutoff=cutoff,
                derivative=derivative,
                velocity=velocity,
                settings=settings,
                threads=threads,
            )
            findings.append(judge_identification(fit.verdict))
            torque_model = read_torque_model(fit, snap=SNAP, fix_base=False, lengths={}, angles={})
            new_logs = ()
        new_parts, notes = leave_out_known_rows(torque_model, new_logs)
        findings += [*judge_model(torque_model), *notes]
        arguments = {"cutoff": cutoff, "derivative": derivative, "velocity": velocity}
        speed = torque_model.default_min_speed if min_speed is None else min_speed
        prepared_loaded, prepared_unloaded = (
            [torque_model.choose_preparation(log, settings, **arguments) for log in part]
            for part in (loaded_logs, new_parts)
        )
        request = PayloadRequest(
            model=torque_model,
            attachment=find_attachment(torque_model.base.robot, link=link, frame=frame, name=name),
            loaded=prepared_loaded,
            unloaded=prepared_unloaded,
            min_speed=check_min_speed(robot, speed),
            leaves_out_rest=is_auto(speed),
            friction_drift=float(friction_drift),
            torque_scale=float(torque_scale),
            mass=mass,
            threads=threads,
        )
        estimate = run_payload_identification(request, report)
    return replace(
        estimate,
        unloaded=tuple(log.source for log in unloaded_logs),
        findings=tuple(dict.fromkeys((*findings, *estimate.findings))),
    )


def _check_logs(robot: Robot, loaded: Sequence[Log], unloaded: Sequence[Log]) -> None:
    if not loaded:
        raise InputError("there is no log with the payload; give one")
    log_checks.check_logs(robot, (*loaded, *unloaded))
    for log in loaded:
        if any(log_checks.is_same_log(log, other) for other in unloaded):
            raise InputError(
                f"{log.source or 'a log'} is given both as a log with and as one without the payload; leave one out"
            )
    log_checks.refuse_repeated_logs(loaded)
    log_checks.refuse_repeated_logs(unloaded)


def _check_arguments(mass: float | None, name: str, friction_drift: float, torque_scale: float) -> None:
    if mass is not None:
        form = f"the mass of the payload in kg, which is positive and at most {MAX_MASS:g}"
        check_number("mass", mass, form, allow=lambda value: 0.0 < value <= MAX_MASS)
    check_kind("name", name, str, "a name for the payload")
    if not name.strip():
        raise InputError("name is empty; give a name for the payload")
    if not name.isprintable():
        raise InputError(f"name is {name!r}, which is not a text that can be printed; give another name")
    if not (isinstance(friction_drift, float) and friction_drift == math.inf):
        form = "an expected relative change of friction, such as 0.2 for 20 %, or inf"
        check_number("friction_drift", friction_drift, form, allow=lambda value: 0.0 <= value <= MAX_FRICTION_DRIFT)
    form = f"a standard deviation relative to the torques between 0 and {MAX_TORQUE_SCALE:g}, such as 0.05 for 5 %"
    check_number("torque_scale", torque_scale, form, allow=lambda value: 0.0 <= value <= MAX_TORQUE_SCALE)


# The steps of the identification of a payload after model and logs have been read.


@dataclass(frozen=True, eq=False)
class PayloadRequest:
    """What ``identify_payload`` was asked for, after model and logs have been read.

    Attributes
    ----------
    model            the model without payload
    attachment       where the payload is attached
    loaded           prepared logs with the payload
    unloaded         prepared logs without it, which the model does not know yet
    min_speed        one speed per joint below which its equations are left out, or None
    leaves_out_rest  whether the equations of joints that rest and may stick are left out
    friction_drift   expected relative change of friction
    torque_scale     standard deviation of the scale of the torques
    mass             the known mass in kg, or None
    threads          number of threads, or None
    """

    model: TorqueModel
    attachment: Attachment
    loaded: Sequence[Preparation]
    unloaded: Sequence[Preparation]
    min_speed: PerJoint | None
    leaves_out_rest: bool
    friction_drift: float
    torque_scale: float
    mass: float | None
    threads: int | None


def run_payload_identification(request: PayloadRequest, report: Callable[[str], None]) -> PayloadEstimate:
    """Estimate the payload, and compute the torque errors without and with it."""
    robot, attachment, min_speed = request.model.base.robot, request.attachment, _leave_out_zero_torques(request)
    loaded, unloaded = (_make_sources(request, part) for part in (request.loaded, request.unloaded))
    report("comparing the torques with those of the model")
    before = compute_errors(_make_form(robot, min_speed), loaded, robot.theta, threads=request.threads)
    if not before.counts.any():
        raise InputError(
            f"{', '.join(source.name for source in loaded)}: "
            + (
                "no joint ever moves, and joints with Coulomb friction may stick at rest; move the arm, or set "
                "min_speed to 0 to use rest too"
                if request.leaves_out_rest
                else "no joint ever reaches its min_speed; lower min_speed"
            )
        )
    identified = request.model.identified
    errors = make_model_errors(request.model, request.friction_drift, request.torque_scale)
    payload = without_regrouping(
        attachment.attach(Inertia()), [parameter_name(attachment.name, each) for each in LINK_PARAMETERS]
    )
    arm_mass = float(sum(max(each.inertia.mass, 0.0) for each in robot.links))
    fit = estimate_payload(
        PayloadEquations(robot, Differential(payload, min_speed), None if errors is None else errors.base, min_speed),
        np.zeros((0, 0)) if errors is None else errors.factor,
        loaded,
        unloaded,
        torque_squares=before.torque,
        arm_mass=arm_mass,
        mass=request.mass,
        threads=request.threads,
        report=report,
    )
    report("computing the torque errors with the payload")
    holding = attachment.attach(find_consistent_payload(fit.posterior).inertia)
    after = compute_errors(_make_form(holding, min_speed), loaded, holding.theta, threads=request.threads)
    preparations = (*request.loaded, *request.unloaded)
    return PayloadEstimate(
        attachment=attachment,
        fit=fit,
        before=before,
        after=after,
        logs=tuple(each.log.source for each in request.loaded),
        unloaded=tuple(each.log.source for each in request.unloaded),
        arm_mass=arm_mass,
        has_covariance=identified is not None,
        cutoff=min(float(each.settings.cutoff) for each in request.loaded),
        torque_scale=request.torque_scale,
        noise=None if identified is None else identified.noise,
        findings=(*(finding for each in preparations for finding in each.findings), *judge_mass(fit)),
    )


def _leave_out_zero_torques(request: PayloadRequest) -> PerJoint | None:
    """Return the speeds below which equations are left out: all of those of joints whose torque is always zero.

    The torque of such a joint was not measured, and its equations would say that the payload weighs nothing.
    """
    names = {
        name
        for finding in log_checks.find_zero_torques([each.log for each in request.loaded])
        for name in finding.names
    }
    if not names:
        return request.min_speed
    joints = request.model.base.robot.actuated
    speeds = np.zeros(len(joints)) if request.min_speed is None else request.min_speed
    return np.where([name in names for name in joints], np.inf, speeds)


def _make_form(robot: Robot, min_speed: PerJoint | None) -> Differential:
    """Return the form of all standard parameters."""
    return Differential(without_regrouping(robot, robot.parameter_names), min_speed)


def _make_sources(request: PayloadRequest, preparations: Sequence[Preparation]) -> tuple[LogSource, ...]:
    robot = request.model.base.robot
    rates = find_sticking_rates(robot, ())
    rules = make_rest_rules(preparations, rates) if request.leaves_out_rest else [None] * len(preparations)
    directions = make_drive_directions(robot)
    return tuple(LogSource(each, directions, rest=rest) for each, rest in zip(preparations, rules, strict=True))


# Logs without payload that the model already knows, since it was identified from them: they count once.
#
# If the model was identified from some rows of a log, as with ``hold_out`` or ``rows``, only the others are new.


def leave_out_known_rows(model: TorqueModel, logs: Sequence[Log]) -> tuple[list[Log], list[Finding]]:
    """Return the logs, or parts of them, that a model was not identified from, and findings about the others."""
    new_logs: list[Log] = []
    findings: list[Finding] = []
    for log in logs:
        known = log_checks.find_known_rows(model.origin, log)
        if known:
            findings.append(_describe(log, known))
        new_logs += [part for part in _split_off(log, known) if len(part) == len(log) or len(part) >= MIN_SAMPLES]
    return new_logs, findings


def _split_off(log: Log, known: Sequence[tuple[int, int]]) -> list[Log]:
    """Return the parts of a log between these rows; the log itself if there are none."""
    if not known:
        return [log]
    starts, stops = [0, *(stop for _, stop in known)], [*(first for first, _ in known), len(log)]
    return [log.select_rows(start, stop) for start, stop in zip(starts, stops, strict=True) if start < stop]


def _describe(log: Log, known: Sequence[tuple[int, int]]) -> Finding:
    is_whole = list(known) == [(0, len(log))]
    rows = " and ".join(f"{first}:{stop}" for first, stop in known)
    what = "this log" if is_whole else f"rows {rows} of this log"
    statement = f"the model was identified from {what}, and its covariance contains what the data say"
    remedy = "the log is not used a second time" if is_whole else "these rows are not used a second time"
    return Finding(PayloadFindingCode.LOG, Severity.NOTE, statement, remedy, source=log.source)
