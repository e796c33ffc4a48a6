"""Kernel: a graph that computes, for many samples or for one.

Results are the same to the last bit however samples are cut into batches, blocks and threads, and for ``one``: every
sample runs through the same instructions, whatever its neighbours are.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, runtime_checkable

import numpy as np

from ytheta.errors import InputError
from ytheta.native import door
from ytheta.native.machine import Lender, fresh
from ytheta.native.operations import Operations, operations
from ytheta.shapes import Float, Int

if TYPE_CHECKING:
    from ytheta.formulation.graph import Graph

_DOUBLE = np.dtype(np.float64)
# One operation on one sample takes about this long; a thread must have a millisecond of work to be worth its start.
_SECONDS = 6e-11
_WORTH_A_THREAD = 1e-3


@runtime_checkable
class Runner(Protocol):
    """What a backend offers; see ``Machine``."""

    backend: str

    columns: int

    def prepared(self, arrays: Sequence[np.ndarray]) -> Any: ...
    def dense(self, prepared: Any, first: int, last: int, out: np.ndarray) -> bool: ...
    def writer(self, prepared: Any, values: np.ndarray, place: int) -> Callable[[int, int], bool]: ...
    def single(self, graph: Graph) -> tuple[np.ndarray, Callable[[bytes], int], bytes]: ...


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


@dataclass(frozen=True, eq=False)
class Block:
    """Samples first, first + 1, …: row k of ``values`` is the entry at ``Kernel.places[k]``, one column per sample.

    The array is written again by the next block; copy what must outlive it.
    """

    first: int
    values: Float[np.ndarray, "nonzeros samples"]


class Kernel:
    """Inputs of shape (samples, size), or (size,) where shared → an array of shape (samples, *shape)."""

    def __init__(self, graph: Graph, runner: Runner, *, cpu: str, lanes: int, origin: str, seconds: float) -> None:
        self.graph = graph
        self._runner = runner
        self._made = (cpu, lanes, origin, seconds)
        self._seconds = (graph.function.n_instructions() + graph.size) * _SECONDS  # for one sample, about
        self._local = threading.local()

    def __call__(
        self, *arrays: Any, out: np.ndarray | None = None, threads: int | None = None
    ) -> Float[np.ndarray, "samples *shape"]:
        """The dense array of every sample, zeros included; in ``out`` if given.

        ``threads`` is chosen by the amount of work unless given. After an error ``out`` holds nothing of use.
        """
        taken, samples = door.batch(self.graph, arrays)
        shape = (samples, *self.graph.shape)
        result = fresh(shape) if out is None else door.result(self.graph, shape, out, taken)
        if result.size == 0:
            return result
        if not self._in_threads(taken, samples, result, self._threads(samples, threads)):
            door.refuse(self.graph, taken)
        return result

    def one(self, *vectors: Any) -> Float[np.ndarray, "*shape"]:
        """The array of one sample from vectors of shape (size,)."""
        # Whoever comes in while a call is under way, such as a signal handler, gets one of its own.
        try:
            call = self._local.calls.pop()
        except (AttributeError, IndexError):
            call = self._single()
        try:
            result: np.ndarray = call(vectors)
        finally:
            try:
                self._local.calls.append(call)
            except AttributeError:
                self._local.calls = [call]
        return result

    def blocks(self, *arrays: Any, size: int = 1024) -> Iterator[Block]:
        """Blocks of at most ``size`` samples that hold only the structural non-zeros; each replaces the one before.

        They are shorter where a block of that size would not stay in the processor's cache.
        """
        taken, samples = door.batch(self.graph, arrays)
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
        counts, instructions = operations(self.graph), self.graph.function.n_instructions()
        return About(self._runner.backend, cpu, lanes, counts, instructions, self.graph.digest, origin, seconds)

    def __repr__(self) -> str:
        inputs = ", ".join(entry.name for entry in self.graph.inputs)
        return f"Kernel({self.graph.name!r}: ({inputs}) → {self.shape}, {self._runner.backend})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Kernel is machine code of this process; send kernel.graph and compile it there")

    def _single(self) -> Callable[[tuple[Any, ...]], np.ndarray]:
        """The call behind ``one``, for one thread; every tenth of a microsecond counts here."""
        graph, double = self.graph, _DOUBLE
        out, run, words = self._runner.single(graph)
        sizes = [entry.size for entry in graph.inputs]
        expected, copy, begin = len(sizes), out.copy, (words,)
        join: Callable[[Sequence[Any]], bytes] = b"".join

        def call(vectors: tuple[Any, ...]) -> np.ndarray:
            try:
                k = 0
                for x in vectors:  # by hand, since zip(…, strict=True) takes longer than all the rest of it
                    if x.dtype is not double or len(x) != sizes[k] or x.ndim != 1:
                        return careful(vectors)
                    k += 1
                data = join(begin + vectors)
            except (AttributeError, BufferError, IndexError, TypeError, ValueError):
                return careful(vectors)  # a list, a scalar, too many, not contiguous …
            if k != expected or run(data):
                return careful(vectors)
            return copy()

        def careful(vectors: tuple[Any, ...]) -> np.ndarray:
            taken = door.vectors(graph, vectors)
            if run(join([words, *taken])):
                door.refuse(graph, taken)
            return copy()

        return call

    @cached_property
    def _lender(self) -> Lender:
        return Lender(len(self.graph.places), self._runner.columns)

    def _blocks(self, taken: list[np.ndarray], samples: int, size: int) -> Iterator[Block]:
        values, place = self._lender.lend()
        write = self._runner.writer(self._runner.prepared(taken), values, place)
        size = min(size, self._runner.columns)
        for first in range(0, samples, size):
            last = min(first + size, samples)
            if not write(first, last):
                door.refuse(self.graph, taken)
            yield Block(first, values[:, : last - first])

    def _threads(self, samples: int, wanted: int | None) -> int:
        if wanted is not None:
            if wanted < 1:
                raise InputError(f"kernel {self.graph.name!r}: {wanted} threads; give at least 1")
            return min(wanted, samples)
        worth = int(samples * self._seconds / _WORTH_A_THREAD)
        return 1 if worth < 2 or self._runner.backend == "interpreter" else min(worth, _processors())

    def _in_threads(self, taken: list[np.ndarray], samples: int, result: np.ndarray, threads: int) -> bool:
        prepared = self._runner.prepared(taken)
        if threads == 1:
            return self._runner.dense(prepared, 0, samples, result)
        ends = [samples * k // threads for k in range(threads + 1)]
        # A pool of its own costs far less than the work, and survives a fork of the process.
        with ThreadPoolExecutor(threads) as pool:
            parts = pool.map(lambda first, last: self._runner.dense(prepared, first, last, result), ends, ends[1:])
            return all(list(parts))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
