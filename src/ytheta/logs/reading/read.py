"""``read_log``: read a file of any supported format, or a table in memory, into a checked Log."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ytheta.errors import InputError, suggest_names
from ytheta.files.command_files import report_input
from ytheta.files.paths import check_path
from ytheta.findings import Severity
from ytheta.logs.checking.check import check_joints, check_log, refuse_findings
from ytheta.logs.log import Log
from ytheta.logs.reading.assemble import assemble_log
from ytheta.logs.reading.mapping import ColumnMapping, read_mapping
from ytheta.logs.reading.memory import is_frame, read_arrays, read_frame
from ytheta.logs.reading.table import ColumnTable
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

TEXT_SUFFIXES = (".csv", ".txt", ".tsv", ".dat")
BAG_SUFFIXES = (".mcap", ".db3")
SUFFIXES = (*TEXT_SUFFIXES, ".parquet", ".npz", *BAG_SUFFIXES)


def read_log(
    source: LogInput,
    robot: Robot,
    *,
    mapping: MappingInput = None,
    strict: bool = False,
) -> Log:
    """Read a log, convert it to the robot's coordinates and SI units, check it and repair it.

    Parameters
    ----------
    source   a file (CSV, Parquet, NPZ or ROS bag), a pandas or Polars DataFrame, or a dict of arrays. Tables in memory
             are read and checked like files with the same columns. A Log is returned as it is
    robot    the robot that was recorded
    mapping  the meaning of columns whose names do not define it: a TOML file or a dict of the same form, which
             docs/logs.md describes
    strict   refuse a log with any finding more serious than a note

    The ``findings`` of the log list all faults and repairs.
    """
    check_is_robot(robot)
    if isinstance(source, Log):
        return _check_read_log(source, robot, mapping, strict=strict)
    return read_named_log(source, robot, mapping=mapping, strict=strict, name=describe_source(source))


def read_named_log(source: LogInput, robot: Robot, *, mapping: MappingInput, strict: bool, name: str) -> Log:
    """Read a file or a table in memory; findings and errors call it ``name``."""
    columns = read_mapping(mapping)
    return check_log(
        assemble_log(_read_columns(source, robot, columns, name), robot, columns, name),
        robot,
        strict=strict,
        position_unit_known=columns.has_position_unit,
        time_unit_known=columns.has_time_unit,
    )


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


def _check_read_log(log: Log, robot: Robot, mapping: MappingInput, *, strict: bool) -> Log:
    """Return a log that was read before; refuse a mapping, another robot and, with ``strict``, serious findings."""
    if mapping is not None:
        raise InputError(
            f"{log.source or 'the log'} is a Log, whose columns are known; remove the mapping, or give the file instead"
        )
    check_joints(log, robot)
    if strict:
        refuse_findings(log, frozenset(Severity) - {Severity.NOTE})
    return log


def _read_columns(source: LogInput, robot: Robot, mapping: ColumnMapping, name: str) -> ColumnTable:
    if isinstance(source, str | Path):
        return _read_file(check_path(source, "the log"), robot, mapping)
    if mapping.skip:
        raise InputError(f"{mapping.source}: 'skip' is for text files, but {name} is not one; use 'rows'")
    return read_arrays(source, name) if isinstance(source, Mapping) else read_frame(source, name)


def _read_file(path: Path, robot: Robot, mapping: ColumnMapping) -> ColumnTable:
    is_folder = _check_path(path)
    suffix = path.suffix.lower()
    if mapping.skip and (is_folder or suffix not in TEXT_SUFFIXES):
        raise InputError(f"{mapping.source}: 'skip' is for text files, but {path} is not one; use 'rows'")
    # Each format is imported here, since a log has only one.
    if is_folder or suffix in BAG_SUFFIXES:
        from ytheta.logs.reading.formats.bag import read_bag

        return read_bag(path, robot.actuated, mapping.topic)
    if suffix in TEXT_SUFFIXES:
        from ytheta.logs.reading.formats.csv import read_csv

        return read_csv(path, mapping.skip)
    if suffix == ".parquet":
        from ytheta.logs.reading.formats.parquet import read_parquet

        return read_parquet(path)
    from ytheta.logs.reading.formats.npz import read_npz

    return read_npz(path)


def _check_path(path: Path) -> bool:
    """Refuse a path that cannot be a log; return whether it is the folder of a bag."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            if not (path / "metadata.yaml").is_file():
                raise InputError(
                    f"{path} is a directory without metadata.yaml, hence not a ROS 2 bag; choose a log file in it"
                )
            return True
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{path} is not a regular file; save the log as a regular file")
        if path.suffix.lower() not in SUFFIXES:
            suggestion = suggest_names(path.suffix, SUFFIXES)
            raise InputError(f"{path} ends in {path.suffix!r}, which is not a supported log format{suggestion}")
        if status.st_size == 0:
            raise InputError(f"{path} is empty; record the motion again, or choose another file")
        with path.open("rb"):
            report_input(path)
            return False
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path} does not exist; check the path of the log") from None
    except (OSError, ValueError) as error:  # no permission; or the name is too long or contains a null character
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}; check its path and permissions") from None
