"""Reading NumPy archives with one array per column (``t``, ``q1``, …) or per quantity (``q``: samples x joints).

The columns of a two-dimensional array ``q`` are called q1, q2, … First only the headers of the arrays are read, and
the sizes that they declare are compared with those of the archive. An array is read when one of its columns is needed.
Pickled objects are refused, since unpickling can run code from the file.
"""

from __future__ import annotations

import lzma
import math
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.files.bounded import shorten
from ytheta.logs.reading.column_names import parse_label_name, parse_time_name
from ytheta.logs.reading.formats.expansion import RECORDED
from ytheta.logs.reading.memory import list_texts, make_table
from ytheta.logs.reading.table import ColumnTable, FileColumns
from ytheta.shapes import PerSample, Shaped

SUFFIX = ".npy"
NUMBERS, TEXTS = "fiub", "US"  # NumPy's kinds of numbers and texts
# Largest number of arrays. Chosen on: reasoning; a log has fewer.
MAX_ARRAYS = 10_000
MAX_HEADER_SIZE = 10_000  # bytes of the header of an array, which is a short text. Fixed by: NumPy.


def read_npz(path: Path) -> ColumnTable:
    """Return the table of an ``.npz`` file."""
    with _explain_errors(path), zipfile.ZipFile(path) as archive:
        members = [member for member in archive.infolist() if member.filename.endswith(SUFFIX)]
        if len(members) > MAX_ARRAYS:
            raise InputError(f"{path} has {len(members)} arrays; a log has at most {MAX_ARRAYS}, so check the file")
        arrays = [_read_header(path, archive, member) for member in members]
    columns = FileColumns()
    texts: dict[str, tuple[str, ...]] = {}
    for array in arrays:
        if array.dtype.kind in TEXTS and parse_label_name(array.name) is not None:
            texts[array.name] = list_texts(array.load())
        elif array.dtype.kind not in NUMBERS or len(array.shape) not in (1, 2):
            columns.others[array.name] = array.describe()
        elif len(array.shape) == 1 or (array.shape[1] == 1 and parse_time_name(array.name) is not None):
            columns.add(array.name, NpzColumn(array), array.shape[0])
        else:
            columns.add_matrix(array.name, array.shape[1], partial(NpzColumn, array), array.shape[0])
    table = make_table(columns.named, columns.rows, columns.others, str(path), kind="NumPy archive")
    return replace(table, texts=texts)


@dataclass(frozen=True, eq=False)
class NpzArray:
    """An array of an archive, which is read when it is first needed."""

    path: Path
    member: zipfile.ZipInfo  # a name would not do: an archive may contain several arrays with the same name
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]

    @property
    def name(self) -> str:
        return self.member.filename.removesuffix(SUFFIX)

    def describe(self) -> str:
        """Say what the array is, if it is no column of numbers."""
        if self.dtype.hasobject:
            return "an array of Python objects, which are not read because unpickling can run code"
        if not self.shape:
            return "a single value"
        return f"an array of {self.dtype} with {len(self.shape)} dimension{'s' if len(self.shape) > 1 else ''}"

    @cached_property
    def values(self) -> Shaped[np.ndarray, "..."]:
        """The array as floating-point numbers."""
        return self.load().astype(np.float64, copy=False)

    def load(self) -> Shaped[np.ndarray, "..."]:
        """Read the array as it is."""
        with (
            _explain_errors(self.path),
            zipfile.ZipFile(self.path) as archive,
            archive.open(self.member) as file,
        ):
            return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


@dataclass(frozen=True, eq=False)
class NpzColumn:
    """One column of an array; ``number`` is None if the array has only one."""

    array: NpzArray
    number: int | None = None

    def __getitem__(self, rows: slice, /) -> PerSample:
        values = self.array.values
        return np.asarray(values.reshape(-1)[rows] if self.number is None else values[rows, self.number])


def _read_header(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NpzArray:
    """Return an array without its values; raise InputError if its size is not that of the archive's member."""
    with archive.open(member) as file:
        shape, dtype = _read_shape(file)
        start = file.tell()
    array = NpzArray(path, member, shape, dtype)
    size = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and start + size != member.file_size:
        raise InputError(
            f"{path}: the array {array.name!r} of shape {shape} should have {size:,} bytes, but the archive contains "
            f"{member.file_size - start:,}; write the file again"
        )
    size = 8 * math.prod(shape)  # of the numbers in memory
    if not RECORDED.allows(size, member.compress_size):
        raise InputError(
            f"{path}: the array {array.name!r} has {size / 1e9:.3g} GB but only {member.compress_size / 1e6:.3g} MB in "
            "the file, so it is no record of a motion; check the file"
        )
    return array


def _read_shape(file: Any) -> tuple[tuple[int, ...], np.dtype[np.generic]]:
    """Return the shape and type of an array; NumPy would read a header of any length before it refuses it."""
    version = np.lib.format.read_magic(file)
    _check_header_length(file, width=2 if version == (1, 0) else 4)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    return shape, dtype


def _check_header_length(file: Any, *, width: int) -> None:
    place = file.tell()
    length = int.from_bytes(file.read(width), "little")
    if length > MAX_HEADER_SIZE:
        raise ValueError(f"the header of an array has {length:,} bytes")
    file.seek(place)


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    """Turn the errors that damaged archives cause into one InputError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about headers that Python 2 wrote
            yield
    except InputError:
        raise
    except zipfile.BadZipFile as error:
        reason = "it is not an .npz file" if "not a zip file" in str(error) else str(error).splitlines()[0]
        raise _make_error(path, reason) from None
    except (
        OSError,  # among others if the file ends too early
        EOFError,
        MemoryError,
        NotImplementedError,  # a compression that this Python does not have
        RuntimeError,  # an encrypted member
        SyntaxError,  # a header that is not a Python literal
        tokenize.TokenError,  # … of which a bracket is not closed
        TypeError,
        ValueError,
        lzma.LZMAError,
        zlib.error,
    ) as error:
        raise _make_error(path, (str(error).splitlines() or [type(error).__name__])[0]) from None


def _make_error(path: Path, reason: str) -> InputError:
    return InputError(
        f"{path} cannot be read as a NumPy archive: {shorten(reason)}; write it with "
        "numpy.savez(file, t=t, q=q, tau=tau)"
    )
