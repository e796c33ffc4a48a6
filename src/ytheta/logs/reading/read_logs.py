"""Reading the logs of a fit and of its validation: names, one mapping or several, and a part that is held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.arguments import check_number
from ytheta.errors import InputError
from ytheta.logs.log import Log, LogFindingCode
from ytheta.logs.preparing.cutoff import MIN_SAMPLES
from ytheta.logs.reading.read import LogInput, LogReadingOptions, MappingInput, describe_source, read_with_options
from ytheta.robot.robot import Robot

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
