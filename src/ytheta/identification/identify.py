"""The main job: from a robot and its logs to an Identification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.doubts import doubts
from ytheta.identification.estimators.choice import estimator as estimator_named
from ytheta.identification.forms.choice import form as form_named
from ytheta.identification.forms.differential import Differential
from ytheta.identification.forms.friction import softened, turning
from ytheta.identification.known import Known, remaining
from ytheta.identification.problem import Problem
from ytheta.identification.residuals import judge
from ytheta.identification.result import Identification, Origin
from ytheta.identification.source import LogSource, Source
from ytheta.minimal.choice import base_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.signal.log import Finding, Log
from ytheta.signal.plan import AUTO, Plan, Settings, plan
from ytheta.signal.same_motion import same_motion

FRICTION = ("viscous", "coulomb", "offset")
NOISE_BANDWIDTH = 0.898  # of the low-pass, in cut-offs: the integral of 1 / (1 + x^8)²
ASYMMETRIC = "asymmetric"  # friction that differs with the direction: Coulomb and offset together


def identify(
    robot: Robot,
    logs: Log | Sequence[Log],
    *,
    validate: Log | Sequence[Log] = (),
    estimator: str = "auto",
    form: str = "differential",
    friction: Sequence[str] = FRICTION,
    rotor_inertia: bool = False,
    parameters: Sequence[str] = (),
    settings: Settings = AUTO,
    slowest: Sequence[float] | None = None,
    threads: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Identification:
    """Learn the base parameters of a robot from measured motion.

    ``validate``: logs of other motion to judge the model by. ``friction``: of "viscous", "coulomb", "offset" and
    "asymmetric" (coulomb and offset). ``parameters``: names or patterns such as "*.fv" of exactly what is asked about,
    instead of friction and rotor inertia; all others keep the description's values. ``slowest``: leave out equations of
    joints that move more slowly. ``tell`` is told what is being done.
    """
    fitted, judged = _listed(logs), _listed(validate)
    for log in (*fitted, *judged):
        _check_joints(robot, log)
    tell("choosing the low-pass")
    plans, other_plans = _plans(fitted, judged, settings)
    kinds = _kinds(friction)
    robot = softened(robot, fitted)
    tell("finding the base parameters")
    if parameters:
        base = base_parameters(robot, parameters=parameters)
    else:
        base = base_parameters(robot, rotor_inertia=rotor_inertia, friction=kinds)
    if not len(base):
        raise InputError(f"robot {robot.name!r}: no parameter has any effect on its torques; nothing can be identified")
    speeds = _speeds(robot, slowest)
    drives, known, differential = turning(robot), Known(base), Differential(base, speeds)
    sources: tuple[Source, ...] = tuple(LogSource(each, drives) for each in plans)
    chosen = form_named(form, base, slowest=speeds)
    problem = Problem(chosen, remaining(sources, known), threads=threads)
    tell("estimating")
    method = estimator_named(estimator)
    estimate = method.fit(problem)
    sums = problem.sums()
    tell("judging")
    fit = judge(differential, sources, estimate.beta, known=known, threads=threads)
    validation = None
    if other_plans:
        others = tuple(LogSource(each, drives) for each in other_plans)
        validation = judge(differential, others, estimate.beta, known=known, threads=threads)
    origin = Origin(
        logs=tuple(log.source for log in fitted),
        validation_logs=tuple(log.source for log in judged),
        form=chosen.name,
        estimator=method.name,
        asked=base.asked,
        slowest=None if speeds is None else tuple(speeds.tolist()),
        settings=tuple(each.settings for each in plans),
        expected_correlation=_expected_correlation(plans[0]),
    )
    findings = (*_findings(fitted, plans), *_repeated(fitted, judged), *doubts(problem, sums, estimate))
    return Identification(base, estimate, sums, fit, validation, origin, findings)


def _listed(logs: Log | Sequence[Log]) -> tuple[Log, ...]:
    return (logs,) if isinstance(logs, Log) else tuple(logs)


def _check_joints(robot: Robot, log: Log) -> None:
    if log.joints != robot.actuated:
        raise InputError(
            f"{log.source or 'log'} has the joints {', '.join(log.joints)}, but robot {robot.name!r} has "
            f"{', '.join(robot.actuated)}; read it with read_log(path, robot)"
        )


def _plans(fitted: Sequence[Log], judged: Sequence[Log], settings: Settings) -> tuple[list[Plan], list[Plan]]:
    """How to prepare all logs: with one low-pass, the widest that any log of the fit asks for."""
    if not fitted:
        raise InputError("there is no log to learn from")
    first = [plan(log, settings) for log in fitted]
    cutoff = max(float(each.settings.cutoff) for each in first)
    same = replace(settings, cutoff=cutoff)
    plans = [
        each if each.settings.cutoff == cutoff else plan(log, same) for log, each in zip(fitted, first, strict=True)
    ]
    return plans, [plan(log, same) for log in judged]


def _expected_correlation(chosen: Plan) -> float:
    """How many kept samples of white noise count as one after the low-pass: half the rate over its noise bandwidth."""
    return max(1.0, 0.5 * chosen.rate / (NOISE_BANDWIDTH * float(chosen.settings.cutoff)))


def _kinds(friction: Sequence[str]) -> tuple[str, ...]:
    """Friction as base_parameters knows it, each kind once; it refuses those it does not know."""
    if isinstance(friction, str):
        raise InputError(f"friction is a list of kinds, such as ({friction!r},), not one text")
    wanted = [kind for given in friction for kind in (("coulomb", "offset") if given == ASYMMETRIC else (given,))]
    return tuple(dict.fromkeys(wanted))


def _speeds(robot: Robot, slowest: Sequence[float] | None) -> Float[np.ndarray, "joints"] | None:
    if slowest is None:
        return None
    speeds = np.asarray(slowest, dtype=float)
    if speeds.shape != (len(robot.actuated),) or not (np.isfinite(speeds) & (speeds >= 0.0)).all():
        raise InputError(f"slowest must be {len(robot.actuated)} speeds, one for each joint; it is {list(slowest)}")
    return speeds


def _findings(logs: Sequence[Log], plans: Sequence[Plan]) -> tuple[Finding, ...]:
    """What the reader said of the logs, and what was decided for them."""
    return tuple(finding for log, each in zip(logs, plans, strict=True) for finding in (*log.findings, *each.findings))


def _repeated(fitted: Sequence[Log], judged: Sequence[Log]) -> tuple[Finding, ...]:
    """Validation logs that repeat the motion of the fit."""
    found = (same_motion(one, other) for one in fitted for other in judged)
    return tuple(finding for finding in found if finding is not None)
