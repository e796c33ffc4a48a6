"""Which files may be overwritten: not those that a command reads, and without asking only those that ytheta wrote.

A command declares its outputs before its work begins. From then on every reader reports the files that it opens:
robots and what they extend or include, meshes, logs and mappings. If one of them is an output, an error ends the
command before anything is written. Without a command, such as in a program that uses the library, nothing is recorded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ytheta.errors import InputError

FileIdentity = tuple[int, int]  # device and number of a file, which all of its names and links have in common


@dataclass
class _CommandFiles:
    inputs: set[FileIdentity] = field(default_factory=set)
    outputs: set[FileIdentity] = field(default_factory=set)


_command_files: ContextVar[_CommandFiles | None] = ContextVar("command_files", default=None)


@contextmanager
def record_command_files() -> Iterator[None]:
    """Record the files of one command, from the beginning to the end of the ``with`` block."""
    token = _command_files.set(_CommandFiles())
    try:
        yield
    finally:
        _command_files.reset(token)


def report_input(path: str | Path) -> None:
    """Report that a file is read. Raise InputError if the command is going to overwrite it."""
    if (files := _command_files.get()) is None or (identity := _identify(path)) is None:
        return
    if identity in files.outputs:
        raise _make_error(path)
    files.inputs.add(identity)


def declare_output(path: str | Path) -> None:
    """Declare that a file will be written. Raise InputError if the command has already read it."""
    if (files := _command_files.get()) is None or (identity := _identify(path)) is None:
        return
    if identity in files.inputs:
        raise _make_error(path)
    files.outputs.add(identity)


def _identify(path: str | Path) -> FileIdentity | None:
    """Return the identity of an existing file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # it does not exist, or its name contains a null character
        return None
    return status.st_dev, status.st_ino


def _make_error(path: str | Path) -> InputError:
    return InputError(f"{path} is one of the inputs and would be overwritten; choose another name")


# Recognizing files that ytheta wrote: such files may be overwritten without asking, others may not.
#
# Every written file has a mark where its format allows it: a comment in TOML and YAML, a ``meta`` element in HTML,
# a key in the metadata of Parquet, an array in NPZ. CSV and MCAP files have no place for a mark, so none is recognized.
#
# A file is overwritten only by a file of its kind, so that a trajectory never replaces a model. Marks of Parquet and
# NPZ contain the kind; the kind of a TOML file follows from a key that only this kind has.


MARK = "ytheta"
TOML_MARK = f"# Written by {MARK}."
HTML_MARK = f'<meta name="generator" content="{MARK}'
HEAD_BYTES = 4096  # within which the mark of a text file stands
FileKind = Literal["model", "trajectory", "log", "prediction"]
# Lines that only one kind of TOML file has. A robot description has neither, so that no command overwrites it.
TOML_LINES: dict[FileKind, bytes] = {"model": rb"^\[identification\]", "trajectory": rb"^parametrisation *="}
MAX_TOML_BYTES = 64 * 1024 * 1024  # of a file whose kind is looked for


def is_own_file(path: Path, kind: FileKind | None = None) -> bool:
    """Return whether ytheta wrote a file, according to its mark, and it is of this kind; False if it is unreadable."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _has_parquet_mark(path, kind)
    if suffix == ".npz":
        return _has_npz_mark(path, kind)
    mark = TOML_MARK if suffix in (".toml", ".yaml", ".yml") else HTML_MARK
    line = TOML_LINES.get(kind) if kind is not None and suffix == ".toml" else None
    try:
        with path.open("rb") as file:
            content = file.read(HEAD_BYTES if line is None else MAX_TOML_BYTES)
    except OSError:
        return False
    return mark.encode() in content[:HEAD_BYTES] and (
        line is None or re.search(line, content, flags=re.MULTILINE) is not None
    )


def _has_parquet_mark(path: Path, kind: FileKind | None) -> bool:
    import polars as pl

    try:
        found = pl.read_parquet_metadata(path).get(MARK)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return False
    return found is not None and kind in (None, found)


def _has_npz_mark(path: Path, kind: FileKind | None) -> bool:
    import zipfile
    import zlib

    name = f"{MARK}.npy"
    try:
        with zipfile.ZipFile(path) as archive:
            if kind is None or name not in archive.namelist():
                return name in archive.namelist()
            with archive.open(name) as file:
                content = file.read(HEAD_BYTES)
    except (OSError, EOFError, NotImplementedError, RuntimeError, ValueError, zipfile.BadZipFile, zlib.error):
        return False
    return content.endswith(b"\n" + kind.encode("utf-32-le"))  # the array is one string, after a header of one line
