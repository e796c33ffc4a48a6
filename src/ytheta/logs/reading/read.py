"""``read_log``: read a file of any supported format into a checked Log."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ytheta.errors import InputError, suggest_names
from ytheta.logs.checking.check import check_log
from ytheta.logs.log import Log
from ytheta.logs.reading.assemble import assemble_log
from ytheta.logs.reading.bag import read_bag
from ytheta.logs.reading.csv import read_csv
from ytheta.logs.reading.mapping import ColumnMapping, read_mapping
from ytheta.logs.reading.npz import read_npz
from ytheta.logs.reading.parquet import read_parquet
from ytheta.logs.reading.table import ColumnTable
from ytheta.robot.robot import Robot

TEXT_SUFFIXES = (".csv", ".txt", ".tsv", ".dat")
BAG_SUFFIXES = (".mcap", ".db3")
SUFFIXES = (*TEXT_SUFFIXES, ".parquet", ".npz", *BAG_SUFFIXES)


def read_log(
    path: str | Path,
    robot: Robot,
    *,
    mapping: str | Path | Mapping[str, Any] | ColumnMapping | None = None,
    strict: bool = False,
) -> Log:
    """Read a log, convert it to the robot's coordinates and SI units, check it and repair it.

    ``mapping`` defines the meaning of columns whose names do not define it. The mapping is a TOML file or
    a dict of the same form; docs/logs.md describes this form. The ``findings`` of the log list all faults and repairs.
    ``strict`` refuses a log with any finding more serious than a note.
    """
    file = Path(path)
    columns = read_mapping(mapping)
    return check_log(
        assemble_log(_read_table(file, robot, columns), robot, columns, str(file)),
        robot,
        strict=strict,
        position_unit_known=columns.has_position_unit,
        time_unit_known=columns.has_time_unit,
    )


def _read_table(path: Path, robot: Robot, mapping: ColumnMapping) -> ColumnTable:
    is_folder = _check_path(path)
    suffix = path.suffix.lower()
    if mapping.skip and (is_folder or suffix not in TEXT_SUFFIXES):
        raise InputError(f"{mapping.source}: 'skip' is for text files, but {path} is not one; use 'rows'")
    if is_folder or suffix in BAG_SUFFIXES:
        return read_bag(path, robot.actuated, mapping.topic)
    if suffix in TEXT_SUFFIXES:
        return read_csv(path, mapping.skip)
    return read_parquet(path) if suffix == ".parquet" else read_npz(path)


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
            return False
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path} does not exist; check the path of the log") from None
    except (OSError, ValueError) as error:  # no permission; or the name is too long or contains a null character
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}; check its path and permissions") from None
