"""``check``: which columns and rows of logs are used, how they are converted, and whether they are plausible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ytheta.display import Reported
from ytheta.errors import InputError
from ytheta.logs.column_checks import ColumnCheck, check_columns
from ytheta.logs.log import Log
from ytheta.logs.reading.mapping import read_mapping
from ytheta.logs.reading.options import GainInput, ReadingOptions, RowsInput
from ytheta.logs.reading.read import LogInput, MappingInput, describe_source, read_unchecked
from ytheta.robot.robot import Robot, check_is_robot

if TYPE_CHECKING:
    LogInputs = LogInput | Sequence[LogInput]
else:
    LogInputs = Any


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

    subject: ClassVar[str] = "log_check"

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
    options = ReadingOptions(degrees=degrees, rows=rows, rate=rate, gain=gain, topic=topic)
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
    source: LogInput, robot: Robot, mapping: MappingInput, options: ReadingOptions, *, strict: bool
) -> CheckedLog | UnreadableLog:
    if isinstance(source, Log):
        raise InputError(
            f"{source.source or 'the log'} is a Log, which was checked when it was read; give the file or the table"
        )
    name, columns = describe_source(source), options.add_to(read_mapping(mapping), robot)
    try:
        recorded = read_unchecked(source, robot, mapping=columns, options=ReadingOptions())
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
