"""Kernel: a compiled graph, to be called with many samples or with one.

Every sample runs through the same instructions. So the results do not depend on how samples are divided into batches,
blocks and threads, or on whether ``one`` computes them: they are bit-identical.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, runtime_checkable

import numpy as np

from ytheta.engine.local import count_processors
from ytheta.errors import InputError
from ytheta.native import arguments
from ytheta.native.buffers import BufferPool, allocate_result
from ytheta.native.operations import Operations, count_operations
from ytheta.shapes import Float, Int

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

_SECONDS_PER_OPERATION = 6e-11  # approximate, for one sample
_MIN_SECONDS_PER_THREAD = 1e-3  # of work; for less work, starting a thread does not pay off


@runtime_checkable
class Runner(Protocol):
    """The interface of a backend; ``Machine`` documents the methods.

    ``columns`` is the maximal number of samples in a block.
    """

    backend: str
    columns: int

    def fits(self, samples: int, out: Any, arrays: tuple[Any, ...]) -> bool: ...
    def write_dense(self, arrays: tuple[np.ndarray, ...], first: int, last: int, out: np.ndarray) -> bool: ...
    def make_block_writer(
        self, arrays: tuple[np.ndarray, ...], values: np.ndarray, address: int
    ) -> Callable[[int, int], bool]: ...
    def make_sample_function(self, graph: Graph) -> Callable[[tuple[Any, ...]], np.ndarray | None]: ...


@dataclass(frozen=True)
class About:
    """How a kernel was made.

    ``origin`` is "compiled", "disk", "memory" or "interpreted"; ``seconds`` is the time that making the kernel took.
    """

    backend: str
    cpu: str
    lanes: int
    operations: Operations
    instructions: int
    digest: str
    origin: str
    seconds: float


class Block(NamedTuple):  # created in half the time that a frozen dataclass needs
    """The nonzeros of successive samples: ``values[k, j]`` is the entry at ``Kernel.places[k]`` of sample first + j.

    The next block overwrites the array; copy values that are needed longer.
    """

    first: int
    values: Float[np.ndarray, "nonzeros samples"]

    def __eq__(self, other: object) -> bool:
        return self is other  # a comparison of arrays would not give a single truth value

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


class Kernel:
    """A function from inputs of shape (samples, size) to an array of shape (samples, *shape).

    Shared inputs have shape (size,).
    """

    def __init__(self, graph: Graph, runner: Runner, *, cpu: str, lanes: int, origin: str, seconds: float) -> None:
        self.graph = graph
        self._runner = runner
        self._made = (cpu, lanes, origin, seconds)
        self._seconds_per_sample = (graph.instructions + graph.size) * _SECONDS_PER_OPERATION
        self._evaluate_one = runner.make_sample_function(graph)
        self._first_batched = next((k for k, entry in enumerate(graph.inputs) if not entry.shared), None)

    def __call__(
        self, *arrays: Any, out: np.ndarray | None = None, threads: int | None = None
    ) -> Float[np.ndarray, "samples *shape"]:
        """Return the dense array of every sample, zeros included; the result is written to ``out``, if given.

        By default the number of threads depends on the amount of work. After an error the content of ``out`` is
        undefined.
        """
        inputs, samples, checked = self._check(arrays, out)
        shape = (samples, *self.graph.shape)
        if out is None:
            result = allocate_result(shape)
        else:
            result = out if checked else arguments.check_output(self.graph, shape, out, inputs)
        if result.size == 0:
            return result
        if not self._run(inputs, samples, result, self._choose_threads(samples, threads)):
            arguments.raise_not_finite(self.graph, inputs)
        return result

    def one(self, *vectors: Any) -> Float[np.ndarray, "*shape"]:
        """Return the array of one sample from vectors of shape (size,)."""
        result = self._evaluate_one(vectors)
        if result is None:
            inputs = tuple(arguments.check_vectors(self.graph, vectors))
            result = self._evaluate_one(inputs)
            if result is None:
                arguments.raise_not_finite(self.graph, inputs)
        return result

    def blocks(self, *arrays: Any, size: int = 1024) -> Iterator[Block]:
        """Iterate over blocks of at most ``size`` samples, with the structural nonzeros only.

        Each block overwrites the one before. Blocks are shorter than ``size`` if a block of this size would not stay
        in the processor's cache.
        """
        inputs, samples, _ = self._check(arrays)
        if size < 1:
            raise InputError(f"kernel {self.graph.name!r}: blocks of {size} samples; give at least 1")
        return self._iterate_blocks(inputs, samples, size)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.graph.shape

    @cached_property
    def places(self) -> Int[np.ndarray, "nonzeros"]:
        """The flat indices of the structural nonzeros, in C order."""
        return np.array(self.graph.places, dtype=np.int64)

    @cached_property
    def indices(self) -> tuple[Int[np.ndarray, "nonzeros"], ...]:
        """The indices of the structural nonzeros as one array per axis, such as rows and columns of a matrix."""
        return tuple(np.unravel_index(self.places, self.shape)) if self.shape else ()

    @cached_property
    def about(self) -> About:
        """Backend, processor, operation counts and fingerprint."""
        cpu, lanes, origin, seconds = self._made
        counts, instructions = count_operations(self.graph), self.graph.instructions
        return About(self._runner.backend, cpu, lanes, counts, instructions, self.graph.digest, origin, seconds)

    def __repr__(self) -> str:
        inputs = ", ".join(entry.name for entry in self.graph.inputs)
        return f"Kernel({self.graph.name!r}: ({inputs}) → {self.shape}, {self._runner.backend})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Kernel is machine code of this process; send kernel.graph and compile it there")

    def _check(self, arrays: tuple[Any, ...], out: Any = None) -> tuple[tuple[np.ndarray, ...], int, bool]:
        """Return the inputs, the number of samples, and whether ``out`` is known to fit."""
        try:
            samples = 1 if self._first_batched is None else len(arrays[self._first_batched])
        except (IndexError, TypeError):  # too few arrays, or a number instead of an array
            samples = 0
        if self._runner.fits(samples, out, arrays):
            return arrays, samples, True
        inputs, samples = arguments.check_batch(self.graph, arrays)
        return tuple(inputs), samples, False

    @cached_property
    def _block_buffers(self) -> BufferPool:
        return BufferPool(len(self.graph.places), self._runner.columns)

    def _iterate_blocks(self, inputs: tuple[np.ndarray, ...], samples: int, size: int) -> Iterator[Block]:
        values, address = self._block_buffers.acquire()
        write = self._runner.make_block_writer(inputs, values, address)
        size = min(size, self._runner.columns)
        for first in range(0, samples, size):
            last = min(first + size, samples)
            if not write(first, last):
                arguments.raise_not_finite(self.graph, inputs)
            yield Block(first, values[:, : last - first])

    def _choose_threads(self, samples: int, threads: int | None) -> int:
        if threads is not None:
            if threads < 1:
                raise InputError(f"kernel {self.graph.name!r}: {threads} threads; give at least 1")
            return min(threads, samples)
        worthwhile = int(samples * self._seconds_per_sample / _MIN_SECONDS_PER_THREAD)
        return 1 if worthwhile < 2 or self._runner.backend == "interpreter" else min(worthwhile, count_processors())

    def _run(self, inputs: tuple[np.ndarray, ...], samples: int, result: np.ndarray, threads: int) -> bool:
        if threads == 1:
            return self._runner.write_dense(inputs, 0, samples, result)
        ends = [samples * k // threads for k in range(threads + 1)]
        # A new pool costs far less time than the work, and unlike a permanent pool it is safe if the process forks.
        with ThreadPoolExecutor(threads) as pool:
            parts = pool.map(lambda first, last: self._runner.write_dense(inputs, first, last, result), ends, ends[1:])
            return all(list(parts))
