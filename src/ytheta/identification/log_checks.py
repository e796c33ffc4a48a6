"""Logs of one robot, looked at before anything is learnt from them, and how to prepare them all alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.checking.repeated_motion import find_repeated_motion
from ytheta.logs.log import Log
from ytheta.logs.preparing.cutoff import MAX_CUTOFF_RATIO
from ytheta.logs.preparing.preparation import Preparation, PreparationSettings, choose_preparation
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool

HELD = (np.radians(2.0), 0.005)  # a joint that moves less, in rad or m, is held: what its encoder shows is noise


def check_logs(robot: Robot, logs: Sequence[Log]) -> None:
    """Every log has the robot's joints, numbers everywhere, and torques; also those that were not read from a file."""
    for log in logs:
        if not isinstance(log, Log):
            raise InputError(f"{log!r} is no log; read it with read_log(path, robot)")
        name = log.source or "log"
        if log.joints != robot.actuated:
            raise InputError(
                f"{name} has the joints {', '.join(log.joints)}, but robot {robot.name!r} has "
                f"{', '.join(robot.actuated)}; read it with read_log(path, robot)"
            )
        if log.tau is None:
            raise InputError(f"{name}: there are no torques to learn from; name their columns")
        for what, values in (("time", log.t[:, None]), ("q", log.q), ("tau", log.tau), ("qd", log.qd)):
            if values is not None and not np.isfinite(values.sum()):
                for row in np.flatnonzero(~np.isfinite(values).all(axis=1))[:1]:
                    raise InputError(f"{name}: {what} in row {row} is not a finite number; drop such rows, cut the log")
        if not any(column.any() for column in log.tau.T):
            raise InputError(f"{name}: all torques are zero; name the columns that hold them")


def held_joints(robot: Robot, logs: Sequence[Log]) -> Bool[np.ndarray, "joints"]:
    """True for joints that no log moves."""
    low = np.min([log.q.min(axis=0) for log in logs], axis=0)
    high = np.max([log.q.max(axis=0) for log in logs], axis=0)
    sliding = robot.sliding_joints
    return np.array([b - a < HELD[name in sliding] for name, a, b in zip(robot.actuated, low, high, strict=True)])


def choose_preparations(fitted: Sequence[Log], judged: Sequence[Log], settings: PreparationSettings) -> tuple[list[Preparation], list[Preparation]]:
    """How to prepare all logs: with one low-pass, the widest that a log of the fit asks for and all logs allow."""
    if not fitted:
        raise InputError("there is no log to learn from")
    first = [choose_preparation(log, settings) for log in fitted]
    cutoff = max(float(each.settings.cutoff) for each in first)
    if settings.cutoff == "auto":
        cutoff = min([cutoff, *(MAX_CUTOFF_RATIO * log.rate for log in (*fitted, *judged))])
    same = replace(settings, cutoff=cutoff)

    def alike(log: Log) -> Preparation:
        try:
            return choose_preparation(log, same)
        except InputError as error:
            name = log.source or "log"
            raise InputError(str(error) if name in str(error) else f"{name}: {error}") from None

    pairs = zip(fitted, first, strict=True)
    own = [each if each.settings.cutoff == cutoff else alike(log) for log, each in pairs]
    return own, [alike(log) for log in judged]


def silent_joints(logs: Sequence[Log]) -> Iterator[Finding]:
    """Joints whose torque is zero throughout: their equations say nothing."""
    for log in logs:
        assert log.tau is not None
        none = [name for name, column in zip(log.joints, log.tau.T, strict=True) if not column.any()]
        if none:
            name = log.source or "log"
            text = f"{name}: the torque of {', '.join(none)} is zero throughout; its equations are left out"
            yield Finding("torque", Severity.WARNING, text)


def repeated(fitted: Sequence[Log], judged: Sequence[Log]) -> Iterator[Finding]:
    """Validation logs that repeat the motion of the fit, and logs of the fit that repeat each other."""
    for k, one in enumerate(fitted):
        for other in fitted[k + 1 :]:
            if other is one or (np.array_equal(one.q, other.q) and np.array_equal(one.t, other.t)):
                raise InputError(
                    f"{other.source or 'a log'} is given twice; the same data again would only feign certainty"
                )
        for other in judged:
            found = find_repeated_motion(one, other)
            if found is not None:
                yield found
