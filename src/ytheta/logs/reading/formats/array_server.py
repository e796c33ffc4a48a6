"""Reading files of nested arrays in a child process, since damaged ones can crash or stall the libraries.

The first request lists the arrays, further ones read one each; the file is opened once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.engine.child_process import Reply
from ytheta.errors import InputError, MissingExtraError
from ytheta.files.bounded import shorten

EXTRAS = {"h5py": "hdf5"}  # libraries and the extras that install them


def answer(request: dict[str, Any]) -> Reply:
    """Return the names, shapes and sizes of all arrays of a file, or the numbers of the one with a number."""
    path, kind = Path(request["path"]), request["kind"]
    try:
        listing = _open_file(path, request["reader"])
        if request["number"] is None:
            return _describe(listing)
        values = np.ascontiguousarray(listing.arrays[request["number"]].load(), dtype=np.float64)
        return Reply(list(values.shape), [values.data])
    except ModuleNotFoundError as error:
        library = error.name or "a library"
        raise MissingExtraError(
            f"{path} is {name_with_article(kind)}, and the library {library} that reads it is not installed; run: pip "
            f"install 'ytheta[{EXTRAS.get(library, library)}]'"
        ) from None
    except RefusedError as error:
        raise InputError(f"{path} is refused: {shorten(str(error), 300)}") from None
    except MemoryError:
        raise make_unreadable_error(path, kind, "it needs too much memory for its size") from None
    except Exception as error:  # the libraries raise exceptions of all kinds on damaged files
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise make_unreadable_error(path, kind, reason) from None


@cache
def _open_file(path: Path, reader: str) -> Listing:
    os.environ["HDF5_PLUGIN_PRELOAD"] = "::"  # no plug-ins of HDF5
    listing: Listing = import_module(f"ytheta.logs.reading.formats.{reader}").list_arrays(path)
    return listing


def _describe(listing: Listing) -> Reply:
    arrays = [[array.name, list(array.shape), array.stored_size] for array in listing.arrays]
    texts = {name: list(labels) for name, labels in listing.texts.items()}
    return Reply({"arrays": arrays, "others": dict(listing.others), "texts": texts})


# What a file of nested arrays contains, as the process that reads it sees it, and the error if it cannot be read.

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
