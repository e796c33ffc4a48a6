"""``read_log``: read a file of any supported format, or a table in memory, into a checked Log.

Below it: the options of reading that need no mapping, and the choice of the format of a file.
"""

from __future__ import annotations

import math
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ytheta.arguments import check_count, check_kind, check_number, check_path
from ytheta.errors import InputError, suggest_names
from ytheta.files.atomic import report_input
from ytheta.findings import Severity
from ytheta.logs.checking.check import check_joints, check_log, refuse_findings
from ytheta.logs.log import Log
from ytheta.logs.reading.assemble import assemble_log
from ytheta.logs.reading.mapping import MAX_RATE, MIN_RATE, ColumnMapping, Factor, read_mapping
from ytheta.logs.reading.memory import is_frame, read_arrays, read_frame
from ytheta.logs.reading.reshape import join_stamps, unstack_joints
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
    options = LogReadingOptions(degrees=degrees, rows=rows, rate=rate, gain=gain, topic=topic)
    return read_with_options(source, robot, mapping=mapping, options=options, strict=strict)


def read_with_options(
    source: LogInput,
    robot: Robot,
    *,
    mapping: MappingInput,
    options: LogReadingOptions,
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
    source: LogInput, robot: Robot, *, mapping: MappingInput, options: LogReadingOptions, name: str | None = None
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


def _check_read_log(log: Log, robot: Robot, mapping: MappingInput, options: LogReadingOptions, *, strict: bool) -> Log:
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
            locked=tuple(robot.locked),
            skip=mapping.skip,
            topic=mapping.topic,
        )
    if mapping.skip:
        raise InputError(f"{mapping.source}: 'skip' is for text files, but {name} is not one; use 'rows'")
    return read_arrays(source, name) if isinstance(source, Mapping) else read_frame(source, name)


# Options of reading a log that need no mapping: degrees, rows, sampling rate, gains of currents, topic.


if TYPE_CHECKING:
    GainInput = float | Sequence[float] | Mapping[str, float] | None
    RowsInput = Sequence[int | None] | None
else:  # a value of another type is refused with a sentence that says what is accepted
    GainInput = RowsInput = Any

DEGREE = math.pi / 180  # rad. Fixed by: mathematics.


@dataclass(frozen=True)
class LogReadingOptions:
    """How to read a log, in addition to a mapping; an option that the mapping contains too is an error.

    Attributes
    ----------
    degrees  whether positions and velocities of revolute joints are in degrees and degrees per second
    rows     (start, stop): rows from ``start``, counted from 0, up to but not including ``stop``; None on either side
             for the first and the last row
    rate     sampling rate in Hz, in place of a time column
    gain     torque per current in Nm/A at the joint (torque constant × gear ratio): one for all joints, one for each,
             or a dict by joint
    topic    topic of a bag, or group or struct of a file, that contains the log
    """

    degrees: bool = False
    rows: RowsInput = None
    rate: float | None = None
    gain: GainInput = None
    topic: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the options that are set."""
        return tuple(name for name, value in vars(self).items() if value is not None and value is not False)

    def refuse_without_log(self, mapping: object) -> None:
        """Raise InputError if a mapping or an option is given, although there is no log."""
        for name in (*(["a mapping"] if mapping is not None else []), *self.names):
            raise InputError(f"{name} is given without a log; give the log, too, or remove it")

    def add_to(self, mapping: ColumnMapping, robot: Robot) -> ColumnMapping:
        """Return a mapping that contains these options too."""
        check_kind("degrees", self.degrees, bool, "True or False")
        for name, is_set in (
            ("degrees", "q" in mapping.scale or "qd" in mapping.scale),
            ("rows", mapping.rows != (0, None)),
            ("rate", mapping.rate is not None or mapping.t is not None),
            ("gain", mapping.gain is not None or "tau" in mapping.columns),
            ("topic", mapping.topic is not None),
        ):
            if name in self.names and is_set:
                place = {"degrees": "[scale]", "rate": "rate or [columns] t", "gain": "[gain] or [columns] tau"}
                raise InputError(
                    f"{name} is given, but {mapping.source} contains {place.get(name, name)} too; keep one of the two"
                )
        if self.topic is not None:
            check_kind("topic", self.topic, str, 'the name of a topic, such as "/joint_states"')
        changes: dict[str, Any] = {}
        if self.degrees:
            factors = tuple(1.0 if joint in robot.prismatic_joints else DEGREE for joint in robot.actuated)
            changes["scale"] = {**mapping.scale, "q": factors, "qd": factors}
        if self.rows is not None:
            changes |= {"rows": _check_rows(self.rows), "rows_option": "--rows"}
        if self.rate is not None:
            form = f"a sampling rate between {MIN_RATE:g} and {MAX_RATE:g} Hz, such as 500"
            changes["rate"] = check_number("rate", self.rate, form, allow=lambda hertz: MIN_RATE <= hertz <= MAX_RATE)
        if self.gain is not None:
            # The coordinates of a floating base and of sensors have no motors.
            others = {*robot.base_coordinates, *robot.sensor_coordinates}
            joints = tuple(joint for joint in robot.actuated if joint not in others)
            changes["gain"] = _check_gain(self.gain, joints)
        if self.topic is not None:
            changes["topic"] = self.topic
        return replace(mapping, **changes)


def _check_rows(rows: Any) -> tuple[int, int | None]:
    form = "(start, stop), such as (600, 3500), with row stop excluded"
    if isinstance(rows, str) or not isinstance(rows, Sequence) or len(rows) != 2:
        raise InputError(f"rows is {rows!r}; give {form}")
    start = 0 if rows[0] is None else check_count("rows", rows[0], form, minimum=0)
    stop = None if rows[1] is None else check_count("rows", rows[1], form, minimum=0)
    if stop is not None and stop <= start:
        raise InputError(f"rows = ({start}, {stop}) is empty; stop should be greater than start")
    return start, stop


def _check_gain(gain: Any, joints: tuple[str, ...]) -> Factor:
    form = "a torque per current in Nm/A other than 0"
    if isinstance(gain, Mapping):
        for name in gain:
            if name not in joints:
                raise InputError(f"gain: the robot has no actuated coordinate {name!r}{suggest_names(name, joints)}")
        if missing := [joint for joint in joints if joint not in gain]:
            raise InputError(f"gain: there is no gain of {', '.join(missing)}; give one for each joint")
        gain = [gain[joint] for joint in joints]
    values = list(gain) if isinstance(gain, Sequence | np.ndarray) and not isinstance(gain, str) else [gain]
    if len(values) not in (1, len(joints)):
        raise InputError(
            f"gain has {len(values)} numbers, but the robot has {len(joints)} actuated coordinates "
            f"({', '.join(joints)}); give one for all of them, or one for each"
        )
    return tuple(check_number("gain", value, form, allow=lambda number: number != 0.0) for value in values)


# Reading a file of any supported format into a table. The extension decides, and the content must agree with it.

TEXT_SUFFIXES = (".csv", ".txt", ".tsv", ".dat")
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
HDF5_SUFFIXES = (".h5", ".hdf5", ".hdf")
BAG_SUFFIXES = (".mcap", ".db3", ".bag")
SUFFIXES = (*TEXT_SUFFIXES, *JSON_SUFFIXES, ".parquet", ".npz", ".mat", *HDF5_SUFFIXES, *BAG_SUFFIXES)

# What files of binary formats begin with, their name, and their extensions.
MAGICS = (
    (b"PAR1", "a Parquet file", (".parquet",)),
    (b"PK\x03\x04", "a zip archive, such as an .npz file", (".npz",)),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", (*HDF5_SUFFIXES, ".mat")),
    (b"MATLAB ", "a MATLAB file", (".mat",)),
    (b"\x89MCAP0\r\n", "an MCAP file", (".mcap",)),
    (b"SQLite format 3\x00", "an SQLite database, such as a .db3 bag", (".db3",)),
    (b"#ROSBAG V", "a ROS 1 bag", (".bag",)),
)
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "Zstandard"}
HEAD_SIZE = 16  # bytes; longer than every magic. Fixed by: the formats.


def read_file(
    path: Path, joints: Sequence[str], *, locked: Sequence[str] = (), skip: int = 0, topic: str | None = None
) -> ColumnTable:
    """Return the table of a file or dataset. ``skip``: lines of a text file to skip. ``topic``: that of a bag.

    ``joints`` are the actuated coordinates of the robot, ``locked`` its locked joints.
    """
    table = _read_format(path, joints, locked=locked, skip=skip, topic=topic)
    return replace(table, stored_size=path.stat().st_size) if path.is_file() else table


def _read_format(
    path: Path, joints: Sequence[str], *, locked: Sequence[str], skip: int, topic: str | None
) -> ColumnTable:
    is_folder = _check_path(path)
    suffix = path.suffix.lower()
    if skip and (is_folder or suffix not in TEXT_SUFFIXES):
        raise InputError(f"'skip' of the mapping is for text files, but {path} is not one; use 'rows'")
    if topic is not None and not (is_folder or suffix in (*BAG_SUFFIXES, *HDF5_SUFFIXES, ".mat")):
        raise InputError(
            f"a topic is given ({topic[:40]!r}), but {path} has none; it is for bags, HDF5 and MATLAB files"
        )
    # Each format is imported here, since a log has only one.
    if is_folder and (path / "meta").is_dir():
        from ytheta.logs.reading.formats.lerobot import read_lerobot

        return read_lerobot(path)
    if is_folder or suffix in BAG_SUFFIXES:
        from ytheta.logs.reading.formats.bag import read_isolated_bag

        return read_isolated_bag(path, joints, topic, locked=locked)
    if suffix in TEXT_SUFFIXES:
        from ytheta.logs.reading.formats.csv import read_csv

        return read_csv(path, skip, joints, locked)
    if suffix in JSON_SUFFIXES:
        from ytheta.logs.reading.formats.json_lines import read_json_lines

        return read_json_lines(path)
    if suffix == ".parquet":
        from ytheta.logs.reading.formats.parquet import read_parquet

        _refuse_part_of_dataset(path)
        return read_parquet(path)
    if suffix in HDF5_SUFFIXES or suffix == ".mat":
        from ytheta.logs.reading.formats.arrays import read_hdf5, read_mat

        return (read_mat if suffix == ".mat" else read_hdf5)(path, joints, topic)
    from ytheta.logs.reading.formats.npz import read_npz

    return read_npz(path)


def _refuse_part_of_dataset(path: Path) -> None:
    """Refuse a data file of a LeRobot dataset: the names of its joints are elsewhere in the dataset."""
    folder = path.absolute().parent.parent.parent  # of data/chunk-000/file-000.parquet
    if (folder / "meta" / "info.json").is_file():
        raise InputError(
            f"{path} is a part of the LeRobot dataset {folder.name}, whose meta/info.json contains the names of the "
            "joints; give the folder of the dataset instead"
        )


def _check_path(path: Path) -> bool:
    """Refuse a path that cannot be a log; return whether it is the folder of a bag or a dataset."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            if not (path / "metadata.yaml").is_file() and not (path / "meta" / "info.json").is_file():
                is_bag = any(path.glob("*.mcap")) or any(path.glob("*.db3"))
                remedy = "choose a log file in it" + (
                    f", or write metadata.yaml with: ros2 bag reindex {path.name}" if is_bag else ""
                )
                raise InputError(
                    f"{path} is a directory without metadata.yaml or meta/info.json, hence neither a ROS 2 bag nor a "
                    f"LeRobot dataset; {remedy}"
                )
            return True
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{path} is not a regular file; save the log as a regular file")
        if status.st_size == 0:
            raise InputError(f"{path} is empty; record the motion again, or choose another file")
        with path.open("rb") as file:
            report_input(path)
            _check_format(path, file.read(HEAD_SIZE))
            return False
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path} does not exist; check the path of the log") from None
    except (OSError, ValueError) as error:  # no permission; or the name is too long or contains a null character
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}; check its path and permissions") from None


def _check_format(path: Path, head: bytes) -> None:
    """Refuse an unknown extension, and content of another format than the extension says."""
    suffix = path.suffix.lower()
    for magic, name in COMPRESSIONS.items():
        if head.startswith(magic):
            raise InputError(f"{path} is compressed with {name}; decompress it first")
    for magic, name, suffixes in MAGICS:
        if head.startswith(magic) and suffix not in suffixes:
            raise InputError(
                f"{path} ends in {path.suffix!r}, but its content is that of {name}; rename it to "
                f"{path.stem[:40]}{suffixes[0]}"
            )
    if suffix not in SUFFIXES:
        suggestion = suggest_names(path.suffix, SUFFIXES)
        raise InputError(f"{path} ends in {path.suffix!r}, which is not a supported log format{suggestion}")
