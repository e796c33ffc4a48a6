"""Recognizing files that ytheta wrote: such files may be overwritten without asking, others may not.

Every written file has a mark where its format allows it: a comment in TOML and YAML, a ``meta`` element in HTML,
a key in the metadata of Parquet, an array in NPZ. CSV and MCAP files have no place for a mark, so none is recognized.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

MARK = "ytheta"
TOML_MARK = f"# Written by {MARK}."
HTML_MARK = f'<meta name="generator" content="{MARK}'
HEAD_BYTES = 4096  # within which the mark of a text file stands


def is_own_file(path: Path) -> bool:
    """Return whether a file has the mark of a file that ytheta wrote; False if it cannot be read."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _has_parquet_mark(path)
    if suffix == ".npz":
        return _has_npz_mark(path)
    mark = TOML_MARK if suffix in (".toml", ".yaml", ".yml") else HTML_MARK
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    return mark.encode() in head


def _has_parquet_mark(path: Path) -> bool:
    import polars as pl

    try:
        return MARK in pl.read_parquet_metadata(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return False


def _has_npz_mark(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{MARK}.npy" in archive.namelist()
    except (OSError, NotImplementedError, ValueError, zipfile.BadZipFile):
        return False
