"""Checks of all logs before a fit: joints, finite numbers, torques, repeated motion, logs of the prior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.logs.checking.check import find_repeated_motion
from ytheta.logs.log import Log, LogFindingCode
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool

# Range of positions below which a joint counts as held: rad for revolute joints, m for prismatic joints. Chosen on:
# rule of thumb; such a range is encoder noise.
MAX_HELD_RANGE = (np.radians(2.0), 0.005)


def check_logs(robot: Robot, logs: Sequence[Log]) -> None:
    """Raise an error if a log has other joints than the robot, contains non-finite values, or has no torques."""
    for log in logs:
        name = log.source or "log"
        if log.joints != robot.actuated:
            raise InputError(
                f"{name} has the joints {', '.join(log.joints)}, but robot {robot.name!r} has "
                f"{', '.join(robot.actuated)}; read it with read_log(path, robot)"
            )
        if log.tau is None:
            raise InputError(f"{name}: the log has no torques; name the columns that contain them")
        for quantity, values in (("time", log.t[:, None]), ("q", log.q), ("tau", log.tau), ("qd", log.qd)):
            if values is not None and not np.isfinite(values.sum()):
                for row in np.flatnonzero(~np.isfinite(values).all(axis=1))[:1]:
                    raise InputError(
                        f"{name}: {quantity} in row {row} is not a finite number; drop such rows, or cut the log there"
                    )
        if not any(column.any() for column in log.tau.T):
            raise InputError(f"{name}: all torques are zero; name the columns that contain them")


def find_held_joints(robot: Robot, logs: Sequence[Log]) -> Bool[np.ndarray, " joints"]:
    """Return True for every joint that does not move in any log."""
    low = np.min([log.q.min(axis=0) for log in logs], axis=0)
    high = np.max([log.q.max(axis=0) for log in logs], axis=0)
    limits = [MAX_HELD_RANGE[name in robot.prismatic_joints] for name in robot.actuated]
    return np.array([b - a < limit for limit, a, b in zip(limits, low, high, strict=True)])


def find_zero_torques(logs: Sequence[Log]) -> Iterator[Finding]:
    """Yield findings about joints whose torque is always zero; the equations of such joints get no weight."""
    for log in logs:
        assert log.tau is not None
        names = tuple(
            name
            for name, column in zip(log.joints, log.tau.T, strict=True)
            if not column.any() and name not in BASE_COORDINATES  # the wrench on a robot in free flight is zero
        )
        if names:
            statement = f"the torque of {', '.join(names)} is always zero"
            remedy = "equations of joints without torque are left out"
            source = log.source or "log"
            yield Finding(LogFindingCode.TORQUE, Severity.WARNING, statement, remedy, names, source)


def find_repetitions(fit: Sequence[Log], validation: Sequence[Log]) -> Iterator[Finding]:
    """Yield findings about validation logs that repeat the motion of the fit; refuse to fit the same log twice."""
    refuse_repeated_logs(fit)
    for log in fit:
        for other in validation:
            finding = find_repeated_motion(log, other)
            if finding is not None:
                yield finding


def refuse_repeated_logs(logs: Sequence[Log]) -> None:
    """Raise an error if a log is given twice."""
    for k, log in enumerate(logs):
        for other in logs[k + 1 :]:
            if is_same_log(log, other):
                raise InputError(
                    f"{other.source or 'a log'} is given twice; repeated data would make standard deviations too small"
                )


def is_same_log(log: Log, other: Log) -> bool:
    """Whether two logs have the same times and positions."""
    return other is log or (np.array_equal(log.q, other.q) and np.array_equal(log.t, other.t))


def find_known_rows(table: Mapping[str, Any], log: Log) -> list[tuple[int, int]]:
    """Return first row and stop of the parts of a log from which a model was identified.

    ``table`` is that of its identification. Logs are recognized by their content: names of files say little, since
    every day can have its own empty.csv.
    """
    digests = table.get("log_digests", ())
    if log.compute_digest() in digests:
        return [(0, len(log))]
    origin, known = log.origin, []
    if origin is None or origin.stop - origin.first != len(log):  # else the checks have dropped rows
        return []
    for digest, (first, stop) in zip(digests, table.get("log_rows") or (), strict=False):  # validation logs come last
        rows = first - origin.first, stop - origin.first
        if 0 <= rows[0] < rows[1] <= len(log) and log.select_rows(*rows).compute_digest() == digest:
            known.append(rows)
    return sorted(known)


def find_logs_of_prior(table: Mapping[str, Any], logs: Sequence[Log]) -> Iterator[Finding]:
    """Yield findings about logs from which the model that is the prior was identified; ``table`` as above."""
    for log in logs:
        if find_known_rows(table, log):
            statement = (
                "the model that is the prior was identified from this log, or from a part of it: these data count "
                "twice, and the standard deviations are too small"
            )
            remedy = "use new logs, or the prior of a description"
            yield Finding(FitFindingCode.PRIOR, Severity.WARNING, statement, remedy, source=log.source or "log")
