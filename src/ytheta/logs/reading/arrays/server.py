"""The process that reads files of nested arrays, since damaged ones can crash or stall the libraries that read them.

    python -m ytheta.logs.reading.arrays.server hdf5|mat PATH

It answers on stdout with one line of JSON: the names, shapes and sizes of all arrays, or an error. For each line with
the number of an array on stdin, it answers with a line of JSON and the numbers of the array, 8 bytes each. It ends when
stdin is closed. Memory and processor time are limited in proportion to the size of the file.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ytheta.logs.reading.arrays.listing import Listing, RefusedError

SPARE_MEMORY = 400 * 2**20  # bytes beyond what is in use when the libraries are loaded
MAX_MEMORY_RATIO = 40  # further memory divided by the size of the file
SPARE_SECONDS, SECONDS_PER_BYTE = 3, 5e-8  # of processor time


def main(kind: str, path: Path) -> None:
    warnings.simplefilter("ignore")
    # What the libraries print must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        reader = import_module(f"ytheta.logs.reading.arrays.{kind}")
        limit_resources(path.stat().st_size)
        listing: Listing = reader.list_arrays(path)
    except Exception as error:
        _answer(answers, describe_error(error))
        return
    arrays = [[array.name, list(array.shape), array.stored_size] for array in listing.arrays]
    _answer(answers, {"arrays": arrays, "others": dict(listing.others)})
    for line in sys.stdin:
        try:
            values = np.ascontiguousarray(listing.arrays[int(line)].load(), dtype=np.float64)
        except Exception as error:
            _answer(answers, describe_error(error))
            continue
        _answer(answers, {"shape": list(values.shape)})
        answers.write(values.data if values.size else b"")
        answers.flush()


def describe_error(error: Exception) -> dict[str, str]:
    """Return the answer on an error, with the first line of its message."""
    if isinstance(error, ModuleNotFoundError):
        return {"missing": error.name or "a library"}
    if isinstance(error, RefusedError):
        return {"refused": str(error)}
    if isinstance(error, MemoryError):
        return {"error": "it needs too much memory for its size"}
    return {"error": (str(error).strip().splitlines() or [type(error).__name__])[0][:200]}


def limit_resources(file_size: int) -> None:
    """Limit memory and processor time, where the system can do that."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        memory = pages * os.sysconf("SC_PAGE_SIZE") + SPARE_MEMORY + MAX_MEMORY_RATIO * file_size
        seconds = SPARE_SECONDS + int(SECONDS_PER_BYTE * file_size)
        for limit, value in (
            (resource.RLIMIT_AS, memory),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, 0),
        ):
            resource.setrlimit(limit, (value, value))


def _answer(file: Any, content: Mapping[str, Any]) -> None:
    file.write(json.dumps(content).encode() + b"\n")
    file.flush()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
