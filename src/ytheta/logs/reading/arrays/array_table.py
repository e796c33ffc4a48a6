"""Arrays of a file as the columns of a table: which axis of a matrix is time, and which arrays belong to the log.

A matrix may have one row or one column per sample. The number of samples is the length of the time vector or, without
one, that of the matrices with one row or column per joint. Arrays of another length are not part of the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ytheta.errors import InputError, suggest_names
from ytheta.logs.reading.arrays.client import ArrayFile, StoredArray
from ytheta.logs.reading.arrays.recordings import join_tables, merge_texts, split_recordings
from ytheta.logs.reading.columns.column_names import parse_time_name
from ytheta.logs.reading.memory import make_table
from ytheta.logs.reading.table import Column, ColumnTable
from ytheta.shapes import PerSample

MAX_COLUMNS = 10_000  # of one array
MAX_LISTED = 6  # arrays in an error message
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
MATLAB_HEADER_SIZE = 512  # bytes before the HDF5 content of a MATLAB 7.3 file


@dataclass(frozen=True, eq=False)
class ArrayColumn:
    """One column of an array; ``number`` is None if the array is a vector. ``transposed``: samples are columns."""

    array: StoredArray
    number: int | None
    transposed: bool

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
    tables = [_make_array_table(file, each, joints) for each in recordings or [arrays]]
    return replace(join_tables(tables) if recordings else tables[0], topic=topic or "", has_groups=True)


def _make_array_table(file: ArrayFile, arrays: Sequence[StoredArray], joints: Sequence[str]) -> ColumnTable:
    """Return the table of arrays that all have the same number of samples."""
    source, others = str(file.path), dict(file.others)
    samples = _find_samples(arrays, len(joints), source)
    columns: list[tuple[str, Column]] = []
    for array in arrays:
        shape = _drop_ones(array.shape)
        if shape == (samples,):
            # The only column of a matrix q is called q1, as those of other matrices; vectors look the same in MATLAB.
            is_matrix = len(joints) == 1 and parse_time_name(array.name) is None and not array.name[-1:].isdigit()
            columns.append((f"{array.name}1" if is_matrix else array.name, ArrayColumn(array, None, transposed=False)))
        elif len(shape) == 2 and samples in shape and min(shape) <= MAX_COLUMNS:
            transposed = shape[0] != samples
            count = shape[0] if transposed else shape[1]
            columns += [(f"{array.name}{k + 1}", ArrayColumn(array, k, transposed)) for k in range(count)]
        else:
            others[array.name] = f"an array of shape {array.shape}, while the log has {samples} samples"
    table = make_table(columns, [samples] * len(columns), others, source, kind=file.kind)
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
