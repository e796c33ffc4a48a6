"""Recognizing files that ytheta wrote: such files may be overwritten without asking, others may not.

Every written file has a mark where its format allows it: a comment in TOML and YAML, a ``meta`` element in HTML,
a key in the metadata of Parquet, an array in NPZ. CSV and MCAP files have no place for a mark, so none is recognized.

A file is overwritten only by a file of its kind, so that a trajectory never replaces a model. Marks of Parquet and NPZ
contain the kind; the kind of a TOML file follows from a key that only this kind has.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

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
