"""The arrays of a file, read by a process of its own; see ``server``."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import ytheta
from ytheta.errors import InputError, MissingExtraError
from ytheta.files.lengths import shorten
from ytheta.shapes import Shaped

EXTRAS = {"h5py": "hdf5"}  # libraries and the extras that install them
# Recorded numbers have noise, which cannot be compressed much: a small file that becomes large is no log.
MAX_CHECKED_RATIO = 100  # size of an array divided by its size in the file, if the array is large
MAX_UNCHECKED_SIZE = 2**26  # bytes; smaller arrays may have any ratio


@dataclass(frozen=True, eq=False)
class StoredArray:
    """An array of a file, which is read when it is first needed."""

    source: ArrayFile
    number: int
    name: str
    shape: tuple[int, ...]
    stored_size: int | None

    @cached_property
    def values(self) -> Shaped[np.ndarray, "..."]:
        """The array as floating-point numbers."""
        size = 8 * math.prod(self.shape)
        stored = self.source.path.stat().st_size if self.stored_size is None else self.stored_size
        if size > MAX_UNCHECKED_SIZE and size > MAX_CHECKED_RATIO * max(1, stored):
            raise InputError(
                f"{self.source.path}: the array {self.name!r} has {size / 1e9:.3g} GB but only {stored / 1e6:.3g} MB "
                "in the file, so it is no record of a motion; check the file"
            )
        return self.source.read(self.number, self.shape)


class ArrayFile:
    """A file of nested arrays, and what its other entries are.

    The process that reads it ends when this object and its arrays are not needed any more.
    """

    def __init__(self, path: Path, reader: str, kind: str) -> None:
        self.path = path
        self.kind = kind
        self._process = subprocess.Popen(
            # -P: modules in the current folder, which may have come with the log, are not imported.
            [sys.executable, "-P", "-m", "ytheta.logs.reading.arrays.server", reader, str(path.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_make_environment(),
        )
        self._close = weakref.finalize(self, _end, self._process)
        answer = self._receive()
        self._arrays: list[tuple[str, list[int], int | None]] = answer["arrays"]
        self.others: Mapping[str, str] = answer["others"]

    @property
    def _name(self) -> str:
        return f"{'an' if self.kind.startswith('H') else 'a'} {self.kind}"

    def list_arrays(self) -> list[StoredArray]:
        """Return all arrays. They are not kept, since they refer to this object."""
        return [
            StoredArray(self, k, name, tuple(shape), stored) for k, (name, shape, stored) in enumerate(self._arrays)
        ]

    def read(self, number: int, shape: tuple[int, ...]) -> Shaped[np.ndarray, "..."]:
        """Return the numbers of an array."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{number}\n".encode())
            self._process.stdin.flush()
        except OSError:
            raise self._make_error("the library that reads it has crashed") from None
        answer = self._receive()
        if tuple(answer["shape"]) != shape:
            raise self._make_error(f"an array has the shape {tuple(answer['shape'])} instead of {shape}")
        values = np.empty(shape)
        buffer = values.reshape(-1).view(np.uint8).data
        received = self._process.stdout.readinto(buffer) if values.size else 0  # type: ignore[attr-defined]
        if received != values.nbytes:
            raise self._make_error("the library that reads it has crashed")
        return values

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._make_error("the library that reads it has crashed, or took too long")
        answer: dict[str, Any] = json.loads(line)
        if "missing" in answer:
            library = answer["missing"]
            raise MissingExtraError(
                f"{self.path} is {self._name}, and the library {library} that reads it is not installed; run: pip "
                f"install 'ytheta[{EXTRAS.get(library, library)}]'"
            )
        if "refused" in answer:
            raise InputError(f"{self.path} is refused: {shorten(answer['refused'], 300)}")
        if "error" in answer:
            raise self._make_error(answer["error"])
        return answer

    def _make_error(self, reason: str) -> InputError:
        self._close()
        return InputError(
            f"{self.path} cannot be read as {self._name}: {shorten(reason)}; write it again, or check that it was "
            "copied completely"
        )


def _make_environment() -> dict[str, str]:
    """Return the environment of the process: the same modules, one thread, and no plug-ins of HDF5."""
    package = Path(ytheta.__file__).parents[1]
    paths = os.pathsep.join([*filter(None, sys.path), str(package)])
    return {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "HDF5_PLUGIN_PRELOAD": "::"}


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent yet cannot be sent any more
            if stream is not None:
                stream.close()
    process.wait()
