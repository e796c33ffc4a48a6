"""The main job: from a robot and its logs to an Identification."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.assessment.autocorrelation import equations_that_count_as_one
from ytheta.identification.assessment.diagnosis import diagnose
from ytheta.identification.assessment.residuals import judge
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.friction import COULOMB, with_smooth_friction, drive_directions
from ytheta.identification.equations.known_torque import KnownTorque, remaining
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.registry import form as form_named
from ytheta.identification.equations.motion_sources import LogSource, Source
from ytheta.identification.estimators.estimate import Estimator
from ytheta.identification.estimators.registry import get_estimator
from ytheta.identification.log_checks import check_logs, held_joints, choose_preparations, repeated, silent_joints
from ytheta.identification.result import Identification, Origin
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import DEFAULT_SETTINGS, Preparation, PreparationSettings
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

FRICTION = ("viscous", "coulomb", "offset")
NOISE_BANDWIDTH = 0.898  # of the low-pass, in cut-offs: the integral of 1 / (1 + x^8)²
ASYMMETRIC = "asymmetric"  # friction that differs with the direction: Coulomb and offset together


def identify(
    robot: Robot,
    logs: Log | Sequence[Log],
    *,
    validate: Log | Sequence[Log] = (),
    estimator: str | Estimator = "auto",
    form: str = "differential",
    friction: Sequence[str] = FRICTION,
    rotor_inertia: bool = False,
    parameters: Sequence[str] = (),
    settings: PreparationSettings = DEFAULT_SETTINGS,
    min_speed: Sequence[float] | None = None,
    threads: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Identification:
    """Learn the base parameters of a robot from measured motion.

    ``validate``: logs of other motion to judge the model by. ``estimator``: a name, or one with settings of its own
    such as ``Recursive(forgetting=0.999)``. ``friction``: of "viscous", "coulomb", "offset" and
    "asymmetric" (coulomb and offset). ``parameters``: names or patterns such as "*.fv" of exactly what is asked about,
    instead of friction and rotor inertia; all others keep the description's values. ``min_speed``: leave out equations of
    joints that move more slowly. ``tell`` is told what is being done.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"{robot!r} is no robot; load it with load(name or path)")
    method = get_estimator(estimator) if isinstance(estimator, str) else estimator
    kinds, speeds = _kinds(friction), _speeds(robot, min_speed)
    fitted, judged = _listed(logs), _listed(validate)
    check_logs(robot, (*fitted, *judged))
    repetitions = tuple(repeated(fitted, judged))
    tell("choosing the low-pass")
    own_plans, other_plans = choose_preparations(fitted, judged, settings)
    robot = with_smooth_friction(robot, fitted)
    tell("finding the base parameters")
    if parameters:
        base = base_parameters(robot, parameters=parameters)
    else:
        base = base_parameters(robot, rotor_inertia=rotor_inertia, friction=kinds)
    if not len(base):
        raise InputError(f"robot {robot.name!r}: no parameter has any effect on its torques; nothing can be identified")
    drives, known, differential = drive_directions(robot), KnownTorque(base), Differential(base, speeds)
    held = held_joints(robot, fitted)
    sources: tuple[Source, ...] = tuple(LogSource(each, drives, held) for each in own_plans)
    problem = EstimationProblem(form_named(form, base, min_speed=speeds), remaining(sources, known), threads=threads)
    if not any(True for _ in problem.tasks()):
        raise InputError(f"no segment is as long as a window of the {form} form; take the differential form")
    tell("estimating")
    estimate = method.fit(problem)
    sums = problem.sums()
    if not sums.counts.any():
        raise InputError("no equation is left: all joints are slower than 'min_speed' all the time; lower it")
    tell("judging")
    fit = judge(differential, sources, estimate.beta, known=known, threads=threads)
    validation = None
    if other_plans:
        others = tuple(LogSource(each, drives) for each in other_plans)
        validation = judge(differential, others, estimate.beta, known=known, threads=threads)
    origin = Origin(
        logs=tuple(log.source for log in fitted),
        validation_logs=tuple(log.source for log in judged),
        form=problem.form.name,
        estimator=method.name,
        asked=base.selected,
        min_speed=None if speeds is None else tuple(speeds.tolist()),
        settings=tuple(each.settings for each in own_plans),
        expected_autocorrelation_time=_expected_correlation(own_plans[0]),
    )
    findings = (
        *_findings((*fitted, *judged), (*own_plans, *other_plans)),
        *silent_joints(fitted),
        *repetitions,
        *(Finding("estimator", Severity.WARNING, note) for note in estimate.notes),
        *_about_loops(base),
        *diagnose(problem, sums, estimate),
    )
    correlated = None if form == "differential" else equations_that_count_as_one(problem, estimate.beta)
    return Identification(base, estimate, sums, fit, validation, origin, findings, correlated)


def _listed(logs: Log | Sequence[Log]) -> tuple[Log, ...]:
    if isinstance(logs, str):
        raise InputError(f"{logs!r} is no log; read it with read_log(path, robot)")
    return (logs,) if isinstance(logs, Log) else tuple(logs)


def _expected_correlation(chosen: Preparation) -> float:
    """How many kept samples of white noise count as one after the low-pass: half the rate over its noise bandwidth."""
    return max(1.0, 0.5 * chosen.rate / (NOISE_BANDWIDTH * float(chosen.settings.cutoff)))


def _kinds(friction: Sequence[str]) -> tuple[str, ...]:
    """Friction as base_parameters knows it, each kind once; it refuses those it does not know."""
    if isinstance(friction, str) or not isinstance(friction, Sequence):
        raise InputError(f"friction is a list of kinds, such as {FRICTION}, or empty; it is {friction!r}")
    wanted = [kind for given in friction for kind in (("coulomb", "offset") if given == ASYMMETRIC else (given,))]
    return tuple(dict.fromkeys(wanted))


def _speeds(robot: Robot, min_speed: Sequence[float] | None) -> Float[np.ndarray, "joints"] | None:
    if min_speed is None:
        return None
    try:
        speeds = np.asarray(min_speed, dtype=float)
    except (TypeError, ValueError):
        speeds = np.array(np.nan)
    if speeds.shape != (len(robot.actuated),) or not (np.isfinite(speeds) & (speeds >= 0.0)).all():
        raise InputError(f"min_speed must be {len(robot.actuated)} speeds, one for each joint; it is {min_speed!r}")
    return speeds


def _findings(logs: Sequence[Log], plans: Sequence[Preparation]) -> Iterator[Finding]:
    """What the reader said of the logs, and what was decided for them; by name where there are several."""
    for log, chosen in zip(logs, plans, strict=True):
        for finding in (*log.findings, *chosen.findings):
            name = Path(log.source).name
            yield replace(finding, source=name) if len(logs) > 1 else finding


def _about_loops(base: BaseParameters) -> Iterator[Finding]:
    """Coulomb friction of robots with loops does not pass the low-pass; see ``forms.friction``."""
    if base.robot.loops and any(name.endswith(COULOMB) for name in base.selected):
        text = (
            "the robot has closed loops, and its Coulomb friction is compared with a low-passed torque as it is, "
            "without the low-pass; expect it, and viscous friction, to be off by more than their standard deviations"
        )
        yield Finding("friction", Severity.WARNING, text)
