"""``check``: which columns and rows of logs are used, how they are converted, and whether they are plausible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.display import Reported
from ytheta.errors import InputError
from ytheta.logs.checking.check import MIN_LIMIT_EXCESS, is_above_limit
from ytheta.logs.checking.units import get_min_motion_range
from ytheta.logs.checking.velocities import MAX_RATIO_ERROR, MIN_CORRELATION, VelocityFit, compare_with_positions
from ytheta.logs.log import ColumnOrigin, Log
from ytheta.logs.reading.mapping import read_mapping
from ytheta.logs.reading.read import (
    GainInput,
    LogInput,
    LogReadingOptions,
    MappingInput,
    RowsInput,
    describe_source,
    read_unchecked,
)
from ytheta.logs.reading.read_logs import LogInputs
from ytheta.robot.parts import Limits
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import PerSample


@dataclass(frozen=True, eq=False)
class CheckedLog:
    """One log.

    Attributes
    ----------
    log      the log after all repairs; as it was recorded if it is refused
    columns  plausibility of each column
    refusal  the reason if the log is refused; empty otherwise
    """

    log: Log
    columns: tuple[ColumnCheck, ...]
    refusal: str = ""


@dataclass(frozen=True)
class UnreadableLog:
    """A log without the columns or rows that it needs.

    Attributes
    ----------
    source   its path, "DataFrame" or "dict"
    refusal  the reason
    """

    source: str
    refusal: str


@dataclass(frozen=True, eq=False, repr=False)
class LogCheck(Reported):
    """What was chosen from logs, and how plausible it is.

    Attributes
    ----------
    robot       the robot that was recorded
    logs        the logs that were read, in the order in which they were given
    unreadable  the other logs
    accepted    whether no log is refused
    """

    robot: Robot
    logs: tuple[CheckedLog, ...]
    unreadable: tuple[UnreadableLog, ...] = ()

    @property
    def accepted(self) -> bool:
        return not self.unreadable and not any(checked.refusal for checked in self.logs)

    def __repr__(self) -> str:
        refused = sum(bool(checked.refusal) for checked in self.logs) + len(self.unreadable)
        return f"LogCheck({len(self.logs) + len(self.unreadable)} logs of {self.robot.name!r}, {refused} refused)"


def check(
    robot: Robot,
    logs: LogInputs,
    *,
    mapping: MappingInput | Sequence[MappingInput] = None,
    degrees: bool = False,
    rows: RowsInput = None,
    rate: float | None = None,
    gain: GainInput = None,
    topic: str | None = None,
    strict: bool = False,
) -> LogCheck:
    """Read logs and report which columns were chosen, how they are converted, and whether they are plausible.

    A log that would be refused is reported. InputError is raised only for a file that does not exist, and for options
    or mappings that are wrong for any log.

    Parameters
    ----------
    robot    the robot that was recorded
    logs     one log or a list of logs: files, DataFrames of pandas or Polars, or dicts of arrays
    mapping  the meaning of the columns, as for ``read_log``: one mapping for all logs, or a list with one for each
    degrees, rows, rate, gain, topic
             how all logs are read, as for ``read_log``
    strict   count a log with any finding more serious than a note as refused
    """
    check_is_robot(robot)
    sources: list[Any] = list(logs) if isinstance(logs, list | tuple) else [logs]
    if not sources:
        raise InputError("there is no log to check; give at least one")
    options = LogReadingOptions(degrees=degrees, rows=rows, rate=rate, gain=gain, topic=topic)
    mappings: list[Any] = list(mapping) if isinstance(mapping, list | tuple) else [mapping]
    if len(mappings) not in (1, len(sources)):
        raise InputError(
            f"there are {len(mappings)} mappings for {len(sources)} logs; give one for all of them, or one for each"
        )
    each = mappings * len(sources) if len(mappings) == 1 else mappings
    results = [_check(source, robot, one, options, strict=strict) for source, one in zip(sources, each, strict=True)]
    return LogCheck(
        robot,
        tuple(result for result in results if isinstance(result, CheckedLog)),
        tuple(result for result in results if isinstance(result, UnreadableLog)),
    )


def _check(
    source: LogInput, robot: Robot, mapping: MappingInput, options: LogReadingOptions, *, strict: bool
) -> CheckedLog | UnreadableLog:
    if isinstance(source, Log):
        raise InputError(
            f"{source.source or 'the log'} is a Log, which was checked when it was read; give the file or the table"
        )
    name, columns = describe_source(source), options.add_to(read_mapping(mapping), robot)
    try:
        recorded = read_unchecked(source, robot, mapping=columns, options=LogReadingOptions())
    except InputError as error:
        if isinstance(source, str | Path) and not _exists(source):
            raise
        return UnreadableLog(name, str(error))
    try:
        log, refusal = recorded.check(strict=strict), ""
    except InputError as error:
        log, refusal = recorded.log, str(error)
    return CheckedLog(log, check_columns(log, robot), refusal)


def _exists(path: str | Path) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # the name is too long
        return False


# Plausibility of each column of a log: range and limits, velocity against position, torque against effort limits.


@dataclass(frozen=True)
class ColumnCheck:
    """One column of a log.

    Attributes
    ----------
    origin           where the column comes from and how it was converted
    lowest, highest  range of its values in SI units; nan if it has no finite values
    is_plausible     whether nothing speaks against the column
    remark           the reason, with numbers; empty if there is nothing to compare the column with
    """

    origin: ColumnOrigin
    lowest: float
    highest: float
    is_plausible: bool
    remark: str


def check_columns(log: Log, robot: Robot) -> tuple[ColumnCheck, ...]:
    """Check every column that a log was read from, in the order of its origin."""
    if log.origin is None:
        return ()
    with np.errstate(all="ignore"):  # the times of a log that is refused may be any numbers
        fits = compare_with_positions(log)
    limits = dict(zip(robot.actuated, robot.actuated_limits, strict=True))
    return tuple(_check_column(log, robot, column, limits, fits) for column in log.origin.columns)


def _check_column(
    log: Log, robot: Robot, origin: ColumnOrigin, limits: dict[str, Limits], fits: dict[str, VelocityFit]
) -> ColumnCheck:
    values = _get_values(log, origin)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return ColumnCheck(origin, math.nan, math.nan, is_plausible=False, remark="no finite values")
    lowest, highest = float(finite.min()), float(finite.max())
    joint = origin.joint
    if origin.quantity == "t":
        plausible, remark = _judge_time(log)
    elif joint in robot.base_coordinates and origin.quantity == "q":
        plausible, remark = True, "floating base"  # it may rest, and it has no limits
    elif origin.quantity == "tau" and lowest == highest == 0.0 and joint in robot.base_coordinates:
        plausible, remark = True, "free flight"
    elif origin.quantity == "q":
        plausible, remark = _judge_position(lowest, highest, limits[joint], get_min_motion_range(robot, joint))
    elif origin.quantity == "qd":
        plausible, remark = _judge_velocity(max(-lowest, highest), limits[joint].velocity, fits.get(joint))
    else:
        plausible, remark = _judge_torque(lowest, highest, limits[joint].effort)
    return ColumnCheck(origin, lowest, highest, plausible, remark)


def _get_values(log: Log, origin: ColumnOrigin) -> PerSample:
    if origin.quantity == "t":
        return log.t
    matrix = {"q": log.q, "qd": log.qd, "tau": log.tau}[origin.quantity]
    assert matrix is not None
    return matrix[:, log.joints.index(origin.joint)]


def _judge_time(log: Log) -> tuple[bool, str]:
    rate = log.rate
    if not (math.isfinite(rate) and rate > 0.0):
        return False, "does not increase"
    return True, f"{rate:.4g} Hz"


def _judge_position(lowest: float, highest: float, limits: Limits, min_range: float) -> tuple[bool, str]:
    excess = max(highest - limits.upper, limits.lower - lowest)
    if excess > MIN_LIMIT_EXCESS:
        return False, f"beyond the limits {limits.lower:.4g} … {limits.upper:.4g}"
    if highest - lowest < min_range:
        return False, "hardly moves"
    width = limits.upper - limits.lower
    if not 0.0 < width < math.inf:
        return True, "no limits known"
    return True, f"{100 * (highest - lowest) / width:.2g} % of its range"


def _judge_velocity(highest: float, limit: float, fit: VelocityFit | None) -> tuple[bool, str]:
    if is_above_limit(highest, limit):
        return False, f"above the limit of {limit:.4g}"
    if fit is None:
        return True, "the joint hardly moves"
    if not math.isfinite(fit.ratio):
        return False, "cannot be compared with the position"
    if fit.correlation < MIN_CORRELATION:
        return False, f"does not follow the position (correlation {fit.correlation:.2f})"
    remark = f"{fit.ratio:.3f} × position, differentiated"
    return abs(fit.ratio - 1.0) <= MAX_RATIO_ERROR, remark


def _judge_torque(lowest: float, highest: float, limit: float) -> tuple[bool, str]:
    if lowest == highest:
        return False, "never changes"
    if not 0.0 < limit < math.inf:
        return True, "no limit known"
    largest = max(-lowest, highest)
    return not is_above_limit(largest, limit), f"{100 * largest / limit:.3g} % of the limit {limit:.4g}"
