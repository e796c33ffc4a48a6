"""Columns whose cells are vectors with one entry for each joint: lists of Parquet files and DataFrames, and texts.

The entries of a vector ``position`` are columns called position1, position2, … In text files, vectors are texts such as
[0.1, 0.2], (0.1, 0.2) or array('d', [0.1, 0.2]). A column of lists of texts may contain the names of the joints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.errors import InputError
from ytheta.shapes import PerSample, Shaped

MAX_WIDTH = 1000  # entries of a vector
MAX_LIST_LENGTH = 100_000  # characters of a list in a text

_LIST = re.compile(r"(?:array\(\s*(?:'\w',\s*)?)?[\[(]([^\[\]()]*)[\])]\s*(?:,\s*dtype=\w+\s*)?\)?")
_ENTRY_BREAK = re.compile(r"\s*[,;]\s*|\s+")


@dataclass(frozen=True, eq=False)
class Vectors:
    """The vectors of one column, which are loaded when they are first needed; None stands for a missing vector."""

    name: str
    source: str
    width: int
    load: Callable[[], Sequence[Any]]

    @cached_property
    def values(self) -> Shaped[np.ndarray, "rows width"]:
        vectors = self.load()
        values = np.full((len(vectors), self.width), np.nan)
        for row, vector in enumerate(vectors):
            if vector is None:
                continue
            try:
                entries = np.asarray(vector, dtype=np.float64)
            except (TypeError, ValueError):
                entries = np.empty(0)
            if entries.shape != (self.width,):
                raise InputError(
                    f"{self.source}, row {row}: {str(vector)[:40]!r} in the column {self.name!r} is not a vector of "
                    f"{self.width} numbers, as in the first row; correct or remove it"
                )
            values[row] = entries
        return values

    def list_columns(self) -> list[tuple[str, VectorColumn]]:
        """Return names and columns of all entries."""
        return [(f"{self.name}{k + 1}", VectorColumn(self, k)) for k in range(self.width)]


@dataclass(frozen=True, eq=False)
class VectorColumn:
    """One entry of the vectors of a column."""

    vectors: Vectors
    number: int

    def __getitem__(self, rows: slice, /) -> PerSample:
        return np.asarray(self.vectors.values[rows, self.number])


def find_width(cell: Any) -> int:
    """Return the number of entries of a cell that is a vector of numbers; 0 if it is something else."""
    if isinstance(cell, str | bytes) or not hasattr(cell, "__len__"):
        return 0
    try:
        entries = np.asarray(cell)
    except (TypeError, ValueError):
        return 0
    is_vector = entries.ndim == 1 and 0 < len(entries) <= MAX_WIDTH
    if entries.dtype == object and is_vector:
        is_vector = all(entry is None or isinstance(entry, int | float) for entry in entries)
        return len(entries) if is_vector else 0
    return len(entries) if is_vector and entries.dtype.kind in "fiub" else 0


def parse_list(text: str) -> list[str]:
    """Return the entries of a list in a text; an empty list if it contains none."""
    match = _LIST.fullmatch(text.strip()) if len(text) <= MAX_LIST_LENGTH else None
    entries = _ENTRY_BREAK.split(match.group(1).strip().rstrip(",").strip()) if match else []
    return [entry.strip("'\"") for entry in entries if entry][: MAX_WIDTH + 1]


def parse_vector(text: str | None) -> list[float] | str | None:
    """Return the numbers of a list in a text, None if it is missing, and the text itself if it is something else."""
    if text is None or not text.strip():
        return None
    try:
        return [float(entry) for entry in parse_list(text)] or text
    except ValueError:
        return text


def read_repeated_list(lists: Sequence[Sequence[str] | None], name: str, source: str) -> tuple[str, ...]:
    """Return the list that all rows contain; raise InputError if they differ."""
    first = next((tuple(each) for each in lists if each is not None), ())
    for row, each in enumerate(lists):
        if each is not None and tuple(each) != first:
            raise InputError(
                f"{source}, row {row}: the joint names in the column {name!r} are others than those of the first row; "
                "write one group of columns for each joint"
            )
    return first
