"""Kernel: a graph that computes, for many samples or for one.

Results are the same to the last bit however samples are cut into batches, blocks and threads, and for ``one``: every
sample runs through the same instructions, whatever its neighbours are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, runtime_checkable

import numpy as np

from ytheta.errors import InputError
from ytheta.native import arguments
from ytheta.native.machine import Lender, fresh
from ytheta.native.operations import Operations, count_operations
from ytheta.shapes import Float, Int

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

# One operation on one sample takes about this long; a thread must have a millisecond of work to be worth its start.
_SECONDS = 6e-11
_WORTH_A_THREAD = 1e-3


@runtime_checkable
class Runner(Protocol):
    """What a backend offers; see ``Machine``."""

    backend: str

    columns: int

    def look(self, samples: int, out: Any, arrays: tuple[Any, ...]) -> bool: ...
    def dense(self, arrays: tuple[np.ndarray, ...], first: int, last: int, out: np.ndarray) -> bool: ...
    def writer(self, arrays: tuple[np.ndarray, ...], values: np.ndarray, place: int) -> Callable[[int, int], bool]: ...
    def single(self, graph: Graph) -> Callable[[tuple[Any, ...]], np.ndarray | None]: ...


@dataclass(frozen=True)
class About:
    """How a kernel was made: ``origin`` is "compiled", "disk", "memory" or "interpreted", and took ``seconds``."""

    backend: str
    cpu: str
    lanes: int
    operations: Operations
    instructions: int
    digest: str
    origin: str
    seconds: float


class Block(NamedTuple):  # which is made in half the time that a frozen dataclass takes
    """Samples first, first + 1, …: row k of ``values`` is the entry at ``Kernel.places[k]``, one column per sample.

    The array is written again by the next block; copy what must outlive it.
    """

    first: int
    values: Float[np.ndarray, "nonzeros samples"]

    def __eq__(self, other: object) -> bool:
        return self is other  # arrays have no one answer

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


class Kernel:
    """Inputs of shape (samples, size), or (size,) where shared → an array of shape (samples, *shape)."""

    def __init__(self, graph: Graph, runner: Runner, *, cpu: str, lanes: int, origin: str, seconds: float) -> None:
        self.graph = graph
        self._runner = runner
        self._made = (cpu, lanes, origin, seconds)
        self._seconds = (graph.function.n_instructions() + graph.size) * _SECONDS  # for one sample, about
        self._single = runner.single(graph)
        self._first = next((k for k, entry in enumerate(graph.inputs) if not entry.shared), None)

    def __call__(
        self, *arrays: Any, out: np.ndarray | None = None, threads: int | None = None
    ) -> Float[np.ndarray, "samples *shape"]:
        """The dense array of every sample, zeros included; in ``out`` if given.

        ``threads`` is chosen by the amount of work unless given. After an error ``out`` holds nothing of use.
        """
        taken, samples, fine = self._taken(arrays, out)
        shape = (samples, *self.graph.shape)
        result = fresh(shape) if out is None else out if fine else arguments.check_output(self.graph, shape, out, taken)
        if result.size == 0:
            return result
        if not self._in_threads(taken, samples, result, self._threads(samples, threads)):
            arguments.raise_not_finite(self.graph, taken)
        return result

    def one(self, *vectors: Any) -> Float[np.ndarray, "*shape"]:
        """The array of one sample from vectors of shape (size,)."""
        result = self._single(vectors)
        if result is None:
            taken = tuple(arguments.check_vectors(self.graph, vectors))
            result = self._single(taken)
            if result is None:
                arguments.raise_not_finite(self.graph, taken)
        return result

    def blocks(self, *arrays: Any, size: int = 1024) -> Iterator[Block]:
        """Blocks of at most ``size`` samples that hold only the structural non-zeros; each replaces the one before.

        They are shorter where a block of that size would not stay in the processor's cache.
        """
        taken, samples, _ = self._taken(arrays)
        if size < 1:
            raise InputError(f"kernel {self.graph.name!r}: blocks of {size} samples; give at least 1")
        return self._blocks(taken, samples, size)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.graph.shape

    @cached_property
    def places(self) -> Int[np.ndarray, "nonzeros"]:
        """Flat places of the structural non-zeros in C order."""
        return np.array(self.graph.places, dtype=np.int64)

    @cached_property
    def indices(self) -> tuple[Int[np.ndarray, "nonzeros"], ...]:
        """The same places as one array of indices per axis: rows and columns of a matrix."""
        return tuple(np.unravel_index(self.places, self.shape)) if self.shape else ()

    @cached_property
    def about(self) -> About:
        """Backend, processor, operation counts, fingerprint."""
        cpu, lanes, origin, seconds = self._made
        counts, instructions = count_operations(self.graph), self.graph.function.n_instructions()
        return About(self._runner.backend, cpu, lanes, counts, instructions, self.graph.digest, origin, seconds)

    def __repr__(self) -> str:
        inputs = ", ".join(entry.name for entry in self.graph.inputs)
        return f"Kernel({self.graph.name!r}: ({inputs}) → {self.shape}, {self._runner.backend})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Kernel is machine code of this process; send kernel.graph and compile it there")

    def _taken(self, arrays: tuple[Any, ...], out: Any = None) -> tuple[tuple[np.ndarray, ...], int, bool]:
        """The inputs, the number of samples, and whether all, ``out`` included, were fine as they were."""
        try:
            samples = 1 if self._first is None else len(arrays[self._first])
        except (IndexError, TypeError):  # too few of them, or a number
            samples = 0
        if self._runner.look(samples, out, arrays):
            return arrays, samples, True
        taken, samples = arguments.check_batch(self.graph, arrays)
        return tuple(taken), samples, False

    @cached_property
    def _lender(self) -> Lender:
        return Lender(len(self.graph.places), self._runner.columns)

    def _blocks(self, taken: tuple[np.ndarray, ...], samples: int, size: int) -> Iterator[Block]:
        values, place = self._lender.lend()
        write = self._runner.writer(taken, values, place)
        size = min(size, self._runner.columns)
        for first in range(0, samples, size):
            last = min(first + size, samples)
            if not write(first, last):
                arguments.raise_not_finite(self.graph, taken)
            yield Block(first, values[:, : last - first])

    def _threads(self, samples: int, wanted: int | None) -> int:
        if wanted is not None:
            if wanted < 1:
                raise InputError(f"kernel {self.graph.name!r}: {wanted} threads; give at least 1")
            return min(wanted, samples)
        worth = int(samples * self._seconds / _WORTH_A_THREAD)
        return 1 if worth < 2 or self._runner.backend == "interpreter" else min(worth, _processors())

    def _in_threads(self, taken: tuple[np.ndarray, ...], samples: int, result: np.ndarray, threads: int) -> bool:
        if threads == 1:
            return self._runner.dense(taken, 0, samples, result)
        ends = [samples * k // threads for k in range(threads + 1)]
        # A pool of its own costs far less than the work, and survives a fork of the process.
        with ThreadPoolExecutor(threads) as pool:
            parts = pool.map(lambda first, last: self._runner.dense(taken, first, last, result), ends, ends[1:])
            return all(list(parts))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
