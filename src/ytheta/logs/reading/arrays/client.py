"""The arrays of a file, read by a child process; see ``server``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ytheta.engine.child_process import Reply
from ytheta.engine.limited_process import EndReason, LimitedProcess, Limits, ProcessEndedError
from ytheta.errors import InputError
from ytheta.logs.reading.arrays.listing import make_unreadable_error
from ytheta.shapes import Shaped

SERVER = "ytheta.logs.reading.arrays.server"  # not imported here, since only the child process needs it
# The libraries take 200 MB of addresses. What is left suffices for structs of MATLAB, which are read at once.
MIN_MEMORY, MEMORY_PER_BYTE = 700 * 2**20, 40  # bytes; bytes per byte of the file
MIN_PROCESSOR_SECONDS, PROCESSOR_SECONDS_PER_BYTE = 3.0, 5e-8
MIN_SECONDS, SECONDS_PER_BYTE = 30.0, 5e-7  # ten times as much, since the machine may be busy
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
    """A file of nested arrays, what its other entries are, and the lists of texts that may be the names of joints.

    The process that reads it ends when this object and its arrays are not needed any more.
    """

    def __init__(self, path: Path, reader: str, kind: str) -> None:
        self.path = path
        self.kind = kind
        self._reader = reader
        self._process = LimitedProcess(SERVER, "answer", _choose_limits(path))
        listing = self._ask(None).content
        self._arrays: list[tuple[str, list[int], int | None]] = listing["arrays"]
        self.others: Mapping[str, str] = listing["others"]
        self.texts: Mapping[str, tuple[str, ...]] = {name: tuple(each) for name, each in listing["texts"].items()}

    def list_arrays(self) -> list[StoredArray]:
        """Return all arrays. They are not kept, since they refer to this object."""
        return [
            StoredArray(self, k, name, tuple(shape), stored) for k, (name, shape, stored) in enumerate(self._arrays)
        ]

    def read(self, number: int, shape: tuple[int, ...]) -> Shaped[np.ndarray, "..."]:
        """Return the numbers of an array."""
        reply = self._ask(number)
        if tuple(reply.content) != shape:
            reason = f"an array has the shape {tuple(reply.content)} instead of {shape}"
            raise make_unreadable_error(self.path, self.kind, reason)
        return np.frombuffer(reply.blocks[0]).reshape(shape)

    def _ask(self, number: int | None) -> Reply:
        try:
            return self._process.ask(
                {"path": str(self.path), "reader": self._reader, "kind": self.kind, "number": number}
            )
        except ProcessEndedError as error:
            reasons = {
                EndReason.LATE: str(error),
                EndReason.OUT_OF_MEMORY: "it needs too much memory for its size",
                EndReason.CRASHED: "the library that reads it has crashed",
            }
            raise make_unreadable_error(self.path, self.kind, reasons[error.reason]) from None


def _choose_limits(path: Path) -> Limits:
    size = path.stat().st_size
    return Limits(
        MIN_MEMORY + MEMORY_PER_BYTE * size,
        MIN_SECONDS + SECONDS_PER_BYTE * size,
        MIN_PROCESSOR_SECONDS + PROCESSOR_SECONDS_PER_BYTE * size,
    )
