"""The logs of an identification or a prediction: how they are read, and checks of all logs before a fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.arguments import check_number
from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.logs.checking.check import find_repeated_motion
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.cutoff import MIN_SAMPLES
from ytheta.logs.reading.read import LogInput, LogReadingOptions, MappingInput, describe_source, read_with_options
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool

if TYPE_CHECKING:
    LogInputs = LogInput | Sequence[LogInput]
    MappingInputs = MappingInput | Sequence[MappingInput]
else:  # a value of another type is refused with a sentence that says what is accepted
    LogInputs = MappingInputs = Any


def read_logs(
    robot: Robot,
    logs: LogInputs,
    validate: LogInputs | None = None,
    *,
    mapping: MappingInputs = None,
    options: LogReadingOptions | None = None,
    hold_out: float | None = None,
    strict: bool = False,
) -> tuple[tuple[Log, ...], tuple[Log, ...]]:
    """Read the logs of the fit and of the validation; refuse logs without torques.

    ``mapping`` is one mapping for all logs, or a list with one for each, validation logs last; ``options`` are those of
    all logs, except that validation logs are read whole: rows of one recording say nothing about those of another.
    ``hold_out`` is the percentage at the end of a single log that becomes the validation log.
    """
    fit_inputs, validation_inputs = _to_list(logs), [] if validate is None else _to_list(validate)
    check_hold_out(hold_out, len(fit_inputs), len(validation_inputs))
    sources = [*fit_inputs, *validation_inputs]
    mappings = _assign_mappings(mapping, len(sources))
    fit_options = options or LogReadingOptions()
    all_options = [fit_options] * len(fit_inputs) + [replace(fit_options, rows=None)] * len(validation_inputs)
    read = []
    for source, name, each, chosen in zip(sources, _name_sources(sources), mappings, all_options, strict=True):
        log = read_with_options(source, robot, mapping=each, options=chosen, strict=strict, name=name)
        _refuse_without_torques(log)
        read.append(log)
    count = len(fit_inputs)
    if hold_out is not None:
        return split_log(read[0], hold_out)
    return tuple(read[:count]), tuple(read[count:])


def check_hold_out(percent: float | None, fit_logs: int, validation_logs: int) -> None:
    """Refuse a percentage that is out of range, or that cannot be applied to this number of logs."""
    if percent is None:
        return
    if validation_logs:
        raise InputError("hold_out and validate both choose the validation data; keep one of them")
    if fit_logs != 1:
        raise InputError(f"hold_out splits a single log, but there are {fit_logs}; use validate for one of them")
    form = "a percentage of the log between 0 and 100, such as 30"
    check_number("hold_out", percent, form, allow=lambda value: 0.0 < value < 100.0)
    if percent < 1.0:
        raise InputError(f"hold_out is {percent:g}, less than one percent of the log; did you mean {100 * percent:g}?")


def split_log(log: Log, percent: float) -> tuple[tuple[Log], tuple[Log]]:
    """Return the first part of a log, and its last ``percent`` for the validation.

    Findings concern the whole log; only the first part keeps them.
    """
    first = len(log) - round(0.01 * percent * len(log))
    for rows, purpose, remedy in (
        (first, "the fit", "hold out less"),
        (len(log) - first, "the validation", "hold out more"),
    ):
        if rows < MIN_SAMPLES:
            raise InputError(
                f"hold_out is {percent:g}, which leaves {rows} of {len(log)} samples for {purpose}; {remedy}, or "
                "record longer"
            )
    source = f"{log.source or 'log'} (the last {percent:g} %)"
    first_part, last_part = log.select_rows(0, first), log.select_rows(first, len(log))
    origin = log.origin
    if origin is not None and origin.stop - origin.first == len(log):  # else the checks have dropped rows
        border = origin.first + first
        first_part = replace(first_part, origin=replace(origin, stop=border))
        last_part = replace(last_part, origin=replace(origin, first=border))
    return (first_part,), (replace(last_part, source=source, findings=()),)


def _to_list(logs: Any) -> list[LogInput]:
    return list(logs) if isinstance(logs, list | tuple) else [logs]


def _name_sources(sources: Sequence[LogInput]) -> list[str]:
    """Return the names of the logs in findings; several tables in memory get numbers."""
    names = [describe_source(source) for source in sources]
    is_table = [not isinstance(source, str | Path | Log) for source in sources]
    if sum(is_table) < 2:
        return names
    numbers = np.cumsum(is_table)
    return [f"{names[k]} {numbers[k]}" if is_table[k] else names[k] for k in range(len(names))]


def _assign_mappings(mapping: Any, count: int) -> list[MappingInput]:
    """Return one mapping for each log."""
    if not isinstance(mapping, list | tuple):
        return [mapping] * count
    if len(mapping) == 1:
        return list(mapping) * count
    if len(mapping) != count:
        raise InputError(
            f"there are {len(mapping)} mappings for {count} logs; give one for all of them, or one for each in the "
            "order of the logs, validation logs last"
        )
    return list(mapping)


def _refuse_without_torques(log: Log) -> None:
    for finding in log.findings:
        if log.tau is None and finding.code == LogFindingCode.TORQUE:
            raise InputError(finding.text)


# Checks of all logs before a fit.


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
