"""``read_log``: read a file of any supported format, or a table in memory, into a checked Log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ytheta.errors import InputError
from ytheta.files.paths import check_path
from ytheta.findings import Severity
from ytheta.logs.checking.check import check_joints, check_log, refuse_findings
from ytheta.logs.log import Log
from ytheta.logs.reading.assemble import assemble_log
from ytheta.logs.reading.file import read_file
from ytheta.logs.reading.mapping import ColumnMapping, read_mapping
from ytheta.logs.reading.memory import is_frame, read_arrays, read_frame
from ytheta.logs.reading.options import GainInput, ReadingOptions, RowsInput
from ytheta.logs.reading.reshaping.long_table import unstack_joints
from ytheta.logs.reading.reshaping.stamps import join_stamps
from ytheta.logs.reading.table import ColumnTable
from ytheta.robot.locking.lock_joints import list_locked
from ytheta.robot.robot import Robot, check_is_robot

if TYPE_CHECKING:

    class DataFrame(Protocol):
        """A DataFrame of pandas or Polars."""

        @property
        def columns(self) -> Any: ...

    LogInput = str | Path | Log | DataFrame | Mapping[str, Any]
    MappingInput = str | Path | Mapping[str, Any] | ColumnMapping | None
else:  # a value of another type is refused with a sentence that says what is accepted
    LogInput = MappingInput = Any


def read_log(
    source: LogInput,
    robot: Robot,
    *,
    mapping: MappingInput = None,
    degrees: bool = False,
    rows: RowsInput = None,
    rate: float | None = None,
    gain: GainInput = None,
    topic: str | None = None,
    strict: bool = False,
) -> Log:
    """Read a log, convert it to the robot's coordinates and SI units, check it and repair it.

    Parameters
    ----------
    source   a file (text, JSON lines, Parquet, NPZ, HDF5, MATLAB, ROS bag), a LeRobot dataset, a pandas or Polars
             DataFrame, or a dict of arrays. Tables in memory are read and checked like files with the same columns. A
             Log is returned as it is
    robot    the robot that was recorded
    mapping  the meaning of columns whose names do not define it: a TOML file or a dict of the same form, such as
             ``{"columns": {"q": "angle{}"}, "scale": {"q": "degrees"}}``
    degrees  whether positions and velocities of revolute joints are in degrees and degrees per second
    rows     (start, stop): rows from ``start``, counted from 0, up to but not including ``stop``; None on either side
             for the first and the last row
    rate     sampling rate in Hz, in place of a time column
    gain     torque per current in Nm/A at the joint (torque constant × gear ratio), if the log contains currents: one
             for all joints, one for each, or a dict by joint
    topic    topic of a bag, or group or struct of a file, that contains the log
    strict   refuse a log with any finding more serious than a note

    The ``findings`` of the log list all faults and repairs.
    """
    options = ReadingOptions(degrees=degrees, rows=rows, rate=rate, gain=gain, topic=topic)
    return read_with_options(source, robot, mapping=mapping, options=options, strict=strict)


def read_with_options(
    source: LogInput,
    robot: Robot,
    *,
    mapping: MappingInput,
    options: ReadingOptions,
    strict: bool,
    name: str | None = None,
) -> Log:
    """Read a log as ``read_log`` does; findings and errors call a file or a table in memory ``name``."""
    check_is_robot(robot)
    if isinstance(source, Log):
        return _check_read_log(source, robot, mapping, options, strict=strict)
    unchecked = read_unchecked(source, robot, mapping=mapping, options=options, name=name)
    return unchecked.check(strict=strict)


@dataclass(frozen=True)
class UncheckedLog:
    """A log as it was recorded, before it is checked and repaired."""

    log: Log
    robot: Robot
    mapping: ColumnMapping

    def check(self, *, strict: bool) -> Log:
        """Return the checked and repaired log; raise InputError if it is refused."""
        return check_log(
            self.log,
            self.robot,
            strict=strict,
            position_unit_known=self.mapping.has_position_unit,
            time_unit_known=self.mapping.has_time_unit,
        )


def read_unchecked(
    source: LogInput, robot: Robot, *, mapping: MappingInput, options: ReadingOptions, name: str | None = None
) -> UncheckedLog:
    """Read a file or a table in memory and convert it to SI units, without checks of its rows."""
    name = name or describe_source(source)
    columns = options.add_to(read_mapping(mapping), robot)
    table = unstack_joints(join_stamps(_read_columns(source, robot, columns, name)), robot.actuated, name)
    return UncheckedLog(assemble_log(table, robot, columns, name), robot, columns)


def describe_source(source: LogInput) -> str:
    """Return the name of a log in findings: its path, "DataFrame" or "dict". Refuse values that are not logs."""
    if isinstance(source, str | Path):
        return str(source)
    if isinstance(source, Log):
        return source.source
    if is_frame(source):
        return "DataFrame"
    if isinstance(source, Mapping):
        return "dict"
    kind = type(source)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    raise InputError(
        f"a log cannot be read from {'None' if source is None else f'a value of type {name}'}; give a path, a Log, a "
        "pandas or Polars DataFrame, or a dict of arrays"
    )


def _check_read_log(log: Log, robot: Robot, mapping: MappingInput, options: ReadingOptions, *, strict: bool) -> Log:
    """Return a log that was read before; refuse a mapping, another robot and, with ``strict``, serious findings."""
    for name in (*(["the mapping"] if mapping is not None else []), *options.names):
        raise InputError(
            f"{log.source or 'the log'} is a Log, whose columns are known; remove {name}, or give the file instead"
        )
    check_joints(log, robot)
    if strict:
        refuse_findings(log, frozenset(Severity) - {Severity.NOTE})
    return log


def _read_columns(source: LogInput, robot: Robot, mapping: ColumnMapping, name: str) -> ColumnTable:
    if isinstance(source, str | Path):
        return read_file(
            check_path(source, "the log"),
            robot.actuated,
            locked=tuple(list_locked(robot)),
            skip=mapping.skip,
            topic=mapping.topic,
        )
    if mapping.skip:
        raise InputError(f"{mapping.source}: 'skip' is for text files, but {name} is not one; use 'rows'")
    return read_arrays(source, name) if isinstance(source, Mapping) else read_frame(source, name)
