"""The door to logs: a file of any kind becomes a checked Log of a robot."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ytheta.errors import InputError, suggest_names
from ytheta.logs.checking.check import check_log
from ytheta.logs.log import Log
from ytheta.logs.reading.assemble import assembled
from ytheta.logs.reading.bag import read_bag
from ytheta.logs.reading.csv import read_csv
from ytheta.logs.reading.mapping import ColumnMapping, read_mapping
from ytheta.logs.reading.npz import read_npz
from ytheta.logs.reading.parquet import read_parquet
from ytheta.logs.reading.table import Table
from ytheta.robot.robot import Robot

TEXT = (".csv", ".txt", ".tsv", ".dat")
BAGS = (".mcap", ".db3")
ENDINGS = (*TEXT, ".parquet", ".npz", *BAGS)


def read_log(
    path: str | Path,
    robot: Robot,
    *,
    mapping: str | Path | Mapping[str, Any] | ColumnMapping | None = None,
    strict: bool = False,
) -> Log:
    """The log in a file, in the robot's coordinates and SI units, checked and repaired.

    ``mapping`` says what the columns mean where their names do not: a TOML file or the same as a dict (docs/logs.md).
    What was found and done stands in ``findings``; ``strict`` refuses a log with anything worse than a note.
    """
    place = Path(path)
    chosen = read_mapping(mapping)
    return check_log(
        assembled(_table(place, robot, chosen), robot, chosen, str(place)),
        robot,
        strict=strict,
        units_stated=chosen.states_units,
        clock_stated=chosen.states_clock,
    )


def _table(path: Path, robot: Robot, mapping: ColumnMapping) -> Table:
    folder = _is_folder(path)
    ending = path.suffix.lower()
    if mapping.skip and (folder or ending not in TEXT):
        raise InputError(f"{mapping.place}: 'skip' leaves out lines of text files, and {path} is none; use 'rows'")
    if folder or ending in BAGS:
        return read_bag(path, robot.actuated, mapping.topic)
    if ending in TEXT:
        return read_csv(path, mapping.skip)
    return read_parquet(path) if ending == ".parquet" else read_npz(path)


def _is_folder(path: Path) -> bool:
    """Whether a path is a bag folder; everything that is no log is refused here."""
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            if not (path / "metadata.yaml").is_file():
                raise InputError(f"{path} is a directory without metadata.yaml, so no ROS 2 bag; name a log file in it")
            return True
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{path} is not a regular file; save the log into one and name that")
        if path.suffix.lower() not in ENDINGS:
            raise InputError(f"{path} ends in {path.suffix!r}, which is no kind of log{suggest_names(path.suffix, ENDINGS)}")
        if found.st_size == 0:
            raise InputError(f"{path} is empty; record the motion again or name another file")
        with path.open("rb"):
            return False
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path} is not a file that exists; check the path of the log") from None
    except (OSError, ValueError) as error:  # no permission, a name that is too long, a null character
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}; check its path and permissions") from None
