"""HDF5 and MATLAB files: which arrays belong to the log, and which axis of a matrix is time.

A matrix may have one row or one column per sample. The number of samples is the length of the time vector or, without
one, that of the matrices with one row or column per joint. Arrays of another length are not part of the log.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path

import numpy as np

from ytheta.engine.child_process import Reply
from ytheta.engine.limited_process import EndReason, LimitedProcess, ProcessEndedError, ProcessLimits
from ytheta.errors import InputError, suggest_names
from ytheta.findings import Finding, Severity
from ytheta.logs.log import LogFindingCode
from ytheta.logs.reading.column_names import parse_time_name
from ytheta.logs.reading.formats.array_server import make_unreadable_error
from ytheta.logs.reading.formats.expansion import RECORDED
from ytheta.logs.reading.memory import make_table
from ytheta.logs.reading.table import MAX_FILE_COLUMNS, ColumnTable, FileColumns, TableColumn
from ytheta.shapes import PerSample, Shaped

MAX_LISTED = 6  # arrays; affects only the length of a message
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
MATLAB_HEADER_SIZE = 512  # bytes before the HDF5 content. Fixed by: the format MATLAB 7.3.


@dataclass(frozen=True, eq=False)
class ArrayColumn:
    """One column of an array; ``number`` is None if the array is a vector. ``transposed``: samples are columns."""

    array: StoredArray
    transposed: bool
    number: int | None

    def __getitem__(self, rows: slice, /) -> PerSample:
        values = self.array.values
        if self.number is None:
            return np.asarray(values.reshape(-1)[rows])
        matrix = values.reshape([size for size in values.shape if size > 1] if values.ndim > 2 else values.shape)
        return np.asarray(matrix[self.number, rows] if self.transposed else matrix[rows, self.number])


def read_hdf5(path: Path, joints: Sequence[str], topic: str | None = None) -> ColumnTable:
    """Return the table of an HDF5 file; ``topic`` is the group that contains the log."""
    return _read(ArrayFile(path, "hdf5", "HDF5 file"), joints, topic)


def read_mat(path: Path, joints: Sequence[str], topic: str | None = None) -> ColumnTable:
    """Return the table of a MATLAB file of any version; ``topic`` is the struct that contains the log."""
    with path.open("rb") as file:
        start = file.read(MATLAB_HEADER_SIZE + len(HDF5_MAGIC))
    is_hdf5 = start.startswith(HDF5_MAGIC) or start[MATLAB_HEADER_SIZE:] == HDF5_MAGIC
    if is_hdf5:
        return _read(ArrayFile(path, "hdf5", "MATLAB 7.3 file"), joints, topic)
    return _read(ArrayFile(path, "mat", "MATLAB file"), joints, topic)


def _read(file: ArrayFile, joints: Sequence[str], topic: str | None) -> ColumnTable:
    arrays = file.list_arrays()
    if topic is not None:
        arrays = _select_scope(arrays, topic, str(file.path))
    arrays = [array for array in arrays if 0 not in array.shape and array.shape]
    recordings = split_recordings(arrays)
    max_count = MAX_FILE_COLUMNS // max(1, len(recordings))
    tables = [_make_array_table(file, each, joints, max_count) for each in recordings or [arrays]]
    return replace(join_tables(tables) if recordings else tables[0], topic=topic or "", has_groups=True)


def _make_array_table(
    file: ArrayFile, arrays: Sequence[StoredArray], joints: Sequence[str], max_count: int
) -> ColumnTable:
    """Return the table of arrays that all have the same number of samples."""
    source = str(file.path)
    samples = _find_samples(arrays, len(joints), source)
    columns = FileColumns(dict(file.others), max_count)
    for array in arrays:
        shape = _drop_ones(array.shape)
        if shape == (samples,):
            # The only column of a matrix q is called q1, as those of other matrices; vectors look the same in MATLAB.
            is_matrix = len(joints) == 1 and parse_time_name(array.name) is None and not array.name[-1:].isdigit()
            name = f"{array.name}1" if is_matrix else array.name
            columns.add(name, ArrayColumn(array, transposed=False, number=None), samples)
        elif len(shape) == 2 and samples in shape:
            transposed = shape[0] != samples
            count = shape[0] if transposed else shape[1]
            columns.add_matrix(array.name, count, partial(ArrayColumn, array, transposed), samples)
        else:
            columns.others[array.name] = f"an array of shape {array.shape}, while the log has {samples} samples"
    table = make_table(columns.named, columns.rows, columns.others, source, kind=file.kind)
    return replace(table, texts=merge_texts(file.texts, source))


def _select_scope(arrays: Sequence[StoredArray], topic: str, source: str) -> list[StoredArray]:
    """Return the arrays within a group or struct."""
    wanted = topic.strip("/").replace(".", "/")
    chosen = [array for array in arrays if array.name.replace(".", "/").startswith(f"{wanted}/")]
    if not chosen:
        scopes = {array.name.replace(".", "/").rpartition("/")[0] for array in arrays} - {""}
        raise InputError(f"{source} has no group or struct {topic!r} with arrays{suggest_names(wanted, scopes)}")
    return chosen


def _drop_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape without axes of length 1; a vector of one element keeps one."""
    return tuple(size for size in shape if size > 1) or (1,)


def _find_samples(arrays: Sequence[StoredArray], joints: int, source: str) -> int:
    """Return the number of samples; raise InputError if the arrays have several lengths."""
    vectors = {array.name: shape[0] for array in arrays if len(shape := _drop_ones(array.shape)) == 1 and shape[0] > 1}
    times = {name: size for name, size in vectors.items() if parse_time_name(name) is not None}
    matrices: dict[str, int] = {}
    for array in arrays:
        shape = _drop_ones(array.shape)
        if len(shape) == 2 and joints in shape:
            matrices[array.name] = shape[1] if shape[0] == joints else shape[0]
    for lengths in (times, matrices, vectors):
        if len(set(lengths.values())) > 1:
            raise _make_lengths_error(lengths, source)
        if lengths:
            return next(iter(lengths.values()))
    shown = ", ".join(f"{array.name} {array.shape}" for array in arrays[:MAX_LISTED])
    raise InputError(
        f"{source} contains no vector of time and no matrix with one row or column for each of {joints} joints"
        + (f" (it has: {shown})" if shown else "")
        + "; save t, q and tau, with one row per sample"
    )


def _make_lengths_error(lengths: Mapping[str, int], source: str) -> InputError:
    examples = {size: name for name, size in reversed(list(lengths.items()))}  # the first array of each length
    shown = ", ".join(f"{examples[size]} has {size}" for size in list(dict.fromkeys(lengths.values()))[:MAX_LISTED])
    scopes = {name.replace(".", "/").rpartition("/")[0] for name in lengths} - {""}
    remedy = f"choose a group with --topic, such as --topic {min(scopes)}" if scopes else "save one recording per file"
    return InputError(f"{source} contains arrays with different numbers of samples ({shown}); {remedy}")


# The arrays of a file, read by a child process; see ``array_server``.

SERVER = "ytheta.logs.reading.formats.array_server"  # not imported here, since only the child process needs it
# Bytes that the reading process may use, and those for each byte of the file. Chosen on: the libraries, which take 200
# MB of addresses; the rest suffices for structs of MATLAB, which are read at once.
MIN_MEMORY, MEMORY_PER_BYTE = 700 * 2**20, 40
# Processor time in s, and that for each byte of the file. Chosen on: rule of thumb.
MIN_PROCESSOR_SECONDS, PROCESSOR_SECONDS_PER_BYTE = 3.0, 5e-8
# Time in s, and that for each byte of the file. Chosen on: ten times the processor time, since the machine may be busy.
MIN_SECONDS, SECONDS_PER_BYTE = 30.0, 5e-7


@dataclass(frozen=True, eq=False)
class StoredArray:
    """An array of a file, which is read when it is first needed."""

    source: ArrayFile
    number: int
    name: str
    shape: tuple[int, ...]
    stored_size: int | None

    @cached_property
    def values(self) -> Shaped[np.ndarray, "..."]:
        """The array as floating-point numbers."""
        size = 8 * math.prod(self.shape)
        stored = self.source.path.stat().st_size if self.stored_size is None else self.stored_size
        if not RECORDED.allows(size, stored):
            raise InputError(
                f"{self.source.path}: the array {self.name!r} has {size / 1e9:.3g} GB but only {stored / 1e6:.3g} MB "
                "in the file, so it is no record of a motion; check the file"
            )
        return self.source.read(self.number, self.shape)


class ArrayFile:
    """A file of nested arrays, what its other entries are, and the lists of texts that may be the names of joints.

    The process that reads it ends when this object and its arrays are not needed any more.
    """

    def __init__(self, path: Path, reader: str, kind: str) -> None:
        self.path = path
        self.kind = kind
        self._reader = reader
        self._process = LimitedProcess(SERVER, "answer", _choose_limits(path))
        listing = self._ask(None).content
        self._arrays: list[tuple[str, list[int], int | None]] = listing["arrays"]
        self.others: Mapping[str, str] = listing["others"]
        self.texts: Mapping[str, tuple[str, ...]] = {name: tuple(each) for name, each in listing["texts"].items()}

    def list_arrays(self) -> list[StoredArray]:
        """Return all arrays. They are not kept, since they refer to this object."""
        return [
            StoredArray(self, k, name, tuple(shape), stored) for k, (name, shape, stored) in enumerate(self._arrays)
        ]

    def read(self, number: int, shape: tuple[int, ...]) -> Shaped[np.ndarray, "..."]:
        """Return the numbers of an array."""
        reply = self._ask(number)
        if tuple(reply.content) != shape:
            reason = f"an array has the shape {tuple(reply.content)} instead of {shape}"
            raise make_unreadable_error(self.path, self.kind, reason)
        return np.frombuffer(reply.blocks[0]).reshape(shape)

    def _ask(self, number: int | None) -> Reply:
        try:
            return self._process.ask(
                {"path": str(self.path), "reader": self._reader, "kind": self.kind, "number": number}
            )
        except ProcessEndedError as error:
            reasons = {
                EndReason.LATE: str(error),
                EndReason.OUT_OF_MEMORY: "it needs too much memory for its size",
                EndReason.CRASHED: "the library that reads it has crashed",
            }
            raise make_unreadable_error(self.path, self.kind, reasons[error.reason]) from None


def _choose_limits(path: Path) -> ProcessLimits:
    size = path.stat().st_size
    return ProcessLimits(
        MIN_MEMORY + MEMORY_PER_BYTE * size,
        MIN_SECONDS + SECONDS_PER_BYTE * size,
        MIN_PROCESSOR_SECONDS + PROCESSOR_SECONDS_PER_BYTE * size,
        RECORDED.find_max_size(size),
        readable=(path,),
    )


# Several recordings in numbered groups of one file, such as demo_0, demo_1, … of robomimic: one after the other.
#
# They are joined if all have arrays of the same names; each becomes a segment of the log. If their times start anew,
# they follow each other with a pause.

# Time between recordings, in the unit of time. Chosen on: reasoning; any gap separates segments.
PAUSE = 1.0

_NUMBERED = re.compile(r"(?P<before>(?:.*/)?)(?:demo|episode|ep|traj|trajectory)_?(?P<number>\d{1,9})/(?P<rest>.+)")


@dataclass(frozen=True, eq=False)
class JoinedColumn:
    """The same column of all recordings, one after the other; ``is_time``: those that start anew are shifted."""

    parts: Sequence[TableColumn]
    rows: Sequence[int]
    is_time: bool

    def __getitem__(self, rows: slice, /) -> PerSample:
        parts = [np.asarray(part[0:count]) for part, count in zip(self.parts, self.rows, strict=True)]
        for k in range(1, len(parts) if self.is_time else 0):
            if not parts[k][0] > parts[k - 1][-1]:
                parts[k] = parts[k] + (parts[k - 1][-1] + PAUSE - parts[k][0])
        return np.concatenate(parts)[rows]


def join_tables(tables: Sequence[ColumnTable]) -> ColumnTable:
    """Return the table of all recordings, with the columns that each of them has."""
    names = [name for name in tables[0].names if all(name in table.names for table in tables)]
    rows = [table.rows for table in tables]
    columns = {
        name: JoinedColumn(
            [table.columns[table.names.index(name)] for table in tables], rows, parse_time_name(name) is not None
        )
        for name in names
    }
    finding = Finding(
        LogFindingCode.EPISODES,
        Severity.NOTE,
        f"the file has {len(tables)} recordings, each a segment of the log",
        remedy="choose one of them with --topic",
        fields={"episodes": len(tables)},
    )
    joined = ColumnTable.of(columns, sum(rows), kind=tables[0].kind)
    return replace(
        joined,
        starts=tuple(accumulate(rows[:-1])),
        findings=(finding,),
        others=tables[0].others,
        texts=tables[0].texts,
    )


def merge_texts(texts: Mapping[str, tuple[str, ...]], source: str) -> dict[str, tuple[str, ...]]:
    """Return lists of texts with names without the groups of recordings; they must be the same in all recordings."""
    merged: dict[str, tuple[str, ...]] = {}
    for full_name, labels in texts.items():
        match = _NUMBERED.fullmatch(full_name)
        name = full_name if match is None else match["before"] + match["rest"]
        if merged.setdefault(name, labels) != labels:
            raise InputError(
                f"{source}: {name!r} is not the same in all recordings, so their joints may have different orders; "
                "choose one recording with --topic"
            )
    return merged


def split_recordings(arrays: Sequence[StoredArray]) -> list[list[StoredArray]]:
    """Return the arrays of each recording, with names without its group, in the order of the numbers.

    The list is empty unless there are several recordings, in groups of the same place and with the same names.
    """
    recordings: dict[int, dict[str, StoredArray]] = {}
    places = set()
    for array in arrays:
        match = _NUMBERED.fullmatch(array.name)
        if match is None:
            continue
        places.add(match["before"])
        name = match["before"] + match["rest"]
        recordings.setdefault(int(match["number"]), {})[name] = replace(array, name=name)
    if len(recordings) < 2 or len(places) > 1 or len({frozenset(each) for each in recordings.values()}) > 1:
        return []
    return [list(recordings[number].values()) for number in sorted(recordings)]
