"""What a file of nested arrays contains, as the process that reads it sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NUMBERS = "fiub"  # NumPy's kinds of numbers


class RefusedError(Exception):
    """The file contains something that is not read; the message is the clause of an error message."""


@dataclass(frozen=True)
class ListedArray:
    """An array of a file. ``stored_size`` is its size in the file, in bytes; None if it is not known."""

    name: str
    shape: tuple[int, ...]
    stored_size: int | None
    load: Callable[[], Any]


@dataclass(frozen=True)
class Listing:
    """All arrays of a file, and what the other entries are."""

    arrays: Sequence[ListedArray]
    others: Mapping[str, str]
