"""What a file of nested arrays contains, as the process that reads it sees it, and the error if it cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ytheta.errors import InputError
from ytheta.files.lengths import shorten

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
    """All arrays of a file, what the other entries are, and the lists of texts that may be the names of joints."""

    arrays: Sequence[ListedArray]
    others: Mapping[str, str]
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)


def name_with_article(kind: str) -> str:
    """Return ``an HDF5 file`` or ``a MATLAB file``."""
    return f"{'an' if kind.startswith('H') else 'a'} {kind}"


def make_unreadable_error(path: Path, kind: str, reason: str) -> InputError:
    """Return the error of a file that cannot be read."""
    return InputError(
        f"{path} cannot be read as {name_with_article(kind)}: {shorten(reason)}; write it again, or check that it was "
        "copied completely"
    )
