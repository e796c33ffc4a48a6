"""Reading files of nested arrays in a child process, since damaged ones can crash or stall the libraries.

The first request lists the arrays, further ones read one each; the file is opened once.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.engine.child_process import Reply
from ytheta.errors import InputError, MissingExtraError
from ytheta.files.lengths import shorten
from ytheta.logs.reading.arrays.listing import Listing, RefusedError, make_unreadable_error, name_with_article

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
    listing: Listing = import_module(f"ytheta.logs.reading.arrays.{reader}").list_arrays(path)
    return listing


def _describe(listing: Listing) -> Reply:
    arrays = [[array.name, list(array.shape), array.stored_size] for array in listing.arrays]
    texts = {name: list(labels) for name, labels in listing.texts.items()}
    return Reply({"arrays": arrays, "others": dict(listing.others), "texts": texts})
