"""Kernel: a compiled graph, to be called with many samples or with one.

Every sample runs through the same instructions. So the results do not depend on how samples are divided into batches,
blocks and threads, or on whether ``one`` computes them: they are bit-identical.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, runtime_checkable

import numpy as np

from ytheta.arguments import check_count
from ytheta.display import Displayed
from ytheta.engine.local import choose_workers, count_processors, map_with_threads
from ytheta.errors import InputError
from ytheta.native.graph import Operations, count_operations
from ytheta.shapes import Float, Int, NonzerosBySample

if TYPE_CHECKING:
    from ytheta.native.graph import Graph, Input

_SECONDS_PER_OPERATION = 6e-11  # approximate, for one sample
_MIN_SECONDS_PER_THREAD = 1e-3  # of work; for less work, starting a thread does not pay off


@runtime_checkable
class Runner(Protocol):
    """The interface of a backend; ``Machine`` documents the methods.

    A block has at most ``block_samples`` samples; the array that it is written to has ``columns`` columns.
    """

    backend: str
    columns: int
    block_samples: int

    def write_one(self, vectors: tuple[Any, ...], out: np.ndarray) -> int: ...
    def write_dense(self, arrays: tuple[Any, ...], first: int, last: int, out: Any) -> int: ...
    def write_block(self, arrays: tuple[Any, ...], first: int, last: int, values: np.ndarray) -> int: ...
    def feed(self, arrays: tuple[Any, ...], consumer: BlockConsumer) -> int: ...


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


class Kernel(Displayed):
    """A function from inputs of shape (samples, size) to an array of shape (samples, *shape).

    Shared inputs have shape (size,). ``kernel(…)`` evaluates many samples, ``kernel.one(…)`` one, and
    ``kernel.blocks(…)`` many without structural zeros; ``kernel.feed(…)`` passes such blocks to other machine code.
    Kernels can be called from several threads at once.

    Attributes
    ----------
    graph
        The traced computation: name, inputs, CasADi function.
    shape
        The shape of the result for one sample.
    places, indices
        Where the structural nonzeros are: flat indices, or one array per axis. All other entries are always zero.
    about
        Backend, processor, operation counts, origin of the code and digest.
    """

    def __init__(self, graph: Graph, runner: Runner, *, cpu: str, lanes: int, origin: str, seconds: float) -> None:
        self.graph = graph
        self._runner = runner
        self._made = (cpu, lanes, origin, seconds)
        self._seconds_per_sample = (graph.instructions + graph.size) * _SECONDS_PER_OPERATION
        self._write_one = runner.write_one
        self._shape = graph.shape
        self._first_batched = next((k for k, entry in enumerate(graph.inputs) if not entry.shared), None)

    def __call__(
        self, *arrays: Any, out: np.ndarray | None = None, threads: int | None = None
    ) -> Float[np.ndarray, " samples *shape"]:
        """Return the dense array of every sample, zeros included; the result is written to ``out``, if given.

        By default the number of threads depends on the amount of work. After an error the content of ``out`` is
        undefined.
        """
        samples = self._count_samples(arrays)
        result = allocate_result((samples, *self.graph.shape)) if out is None else out
        outcome = self._write(arrays, samples, result, threads)
        if outcome:
            inputs, samples = check_batch(self.graph, arrays)
            shape = (samples, *self.graph.shape)
            result = allocate_result(shape) if out is None else check_output(self.graph, shape, out, inputs)
            if samples and (outcome := self._write(inputs, samples, result.view(np.ndarray), threads)):
                self._raise_failure(outcome, inputs)
        return result

    def one(self, *vectors: Any) -> Float[np.ndarray, "*shape"]:
        """Return the array of one sample from vectors of shape (size,)."""
        result = np.empty(self._shape)
        if self._write_one(vectors, result):
            inputs = check_vectors(self.graph, vectors)
            if outcome := self._write_one(inputs, result):
                self._raise_failure(outcome, inputs)
        return result

    def blocks(self, *arrays: Any, size: int = 1024) -> Iterator[Block]:
        """Iterate over blocks of at most ``size`` samples, with the structural nonzeros only.

        Each block overwrites the one before. Blocks are shorter than ``size`` if a block of this size would not stay
        in the processor's cache.
        """
        size = check_count("size", size, "a whole number of at least 1")
        samples, values = self._count_samples(arrays), np.empty((len(self.graph.places), self._runner.columns))
        if self._runner.write_block(arrays, 0, 0, values) < 0:
            arrays, samples = check_batch(self.graph, arrays)
        return self._iterate_blocks(arrays, samples, size, values)

    def feed(self, consumer: BlockConsumer, *arrays: Any) -> None:
        """Pass the blocks of all samples to a function of machine code, in one call without Python's global lock."""
        if len(self.graph.places) < consumer.rows:
            raise InputError(
                f"kernel {self.graph.name!r} has {len(self.graph.places)} nonzeros, but their consumer needs "
                f"{consumer.rows}"
            )
        if outcome := self._runner.feed(arrays, consumer):
            inputs, samples = check_batch(self.graph, arrays)
            if self._first_batched is not None and samples != consumer.samples:
                raise InputError(
                    f"kernel {self.graph.name!r}: the inputs have {samples} samples, but their consumer expects "
                    f"{consumer.samples}"
                )
            if outcome == KernelOutcome.NOT_FINITE or (outcome := self._runner.feed(inputs, consumer)):
                self._raise_failure(outcome, inputs)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result for one sample."""
        return self.graph.shape

    @cached_property
    def places(self) -> Int[np.ndarray, " nonzeros"]:
        """The flat indices of the structural nonzeros, in C order."""
        return np.array(self.graph.places, dtype=np.int64)

    @cached_property
    def indices(self) -> tuple[Int[np.ndarray, " nonzeros"], ...]:
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

    def _count_samples(self, arrays: tuple[Any, ...]) -> int:
        """Return the number of samples, or 0 if an array is missing or has no length."""
        try:
            return 1 if self._first_batched is None else len(arrays[self._first_batched])
        except (IndexError, TypeError):
            return 0

    def _raise_failure(self, outcome: int, inputs: tuple[np.ndarray, ...]) -> NoReturn:
        """Raise an InputError for an outcome that is not DONE; the inputs have been checked."""
        if outcome == KernelOutcome.NOT_FINITE:
            raise_not_finite(self.graph, inputs)
        raise InputError(
            f"kernel {self.graph.name!r}: the shape or type of an array was changed while the kernel used it"
        )

    def _iterate_blocks(self, inputs: tuple[Any, ...], samples: int, size: int, values: np.ndarray) -> Iterator[Block]:
        size = min(size, self._runner.block_samples)
        for first in range(0, samples, size):
            last = min(first + size, samples)
            column = self._runner.write_block(inputs, first, last, values)
            if column < 0:
                self._raise_failure(column, inputs)
            yield Block(first, values[:, column : column + last - first])

    def _choose_threads(self, samples: int, threads: int | None) -> int:
        if threads is not None:
            return max(min(choose_workers(threads), samples), 1)
        worthwhile = int(samples * self._seconds_per_sample / _MIN_SECONDS_PER_THREAD)
        return 1 if worthwhile < 2 or self._runner.backend == "interpreter" else min(worthwhile, count_processors())

    def _write(self, arrays: tuple[Any, ...], samples: int, result: Any, threads: int | None) -> int:
        count = self._choose_threads(samples, threads)
        if count == 1:
            return self._runner.write_dense(arrays, 0, samples, result)
        ends = [samples * k // count for k in range(count + 1)]
        parts = pairwise(ends)
        return min(map_with_threads(lambda part: self._runner.write_dense(arrays, *part, result), parts, count))


# Block consumer: a function of machine code that takes the blocks of a kernel, one after the other.
#
# The function is ``function(context, first, count, values, stride)``: value k of sample ``first + j`` is at
# ``values[k * stride + j]`` for j < ``count``. It may overwrite these values. It is called without Python's global
# lock, so it must not use Python. The next block overwrites the values.


_INTEGER, _POINTER = ctypes.c_int64, ctypes.c_void_p
_FUNCTION = ctypes.CFUNCTYPE(None, _POINTER, _INTEGER, _INTEGER, _POINTER, _INTEGER)


@dataclass(frozen=True, eq=False)
class BlockConsumer:
    """The function and its context, both as addresses.

    The context is made for blocks of at least ``rows`` values per sample and for ``samples`` samples in total.
    ``memory`` is anything that must exist as long as the function may be called, above all the context.
    """

    function: int
    context: int
    rows: int
    samples: int
    memory: object

    def call(self, first: int, values: NonzerosBySample) -> None:
        """Call the function with one block, whose rows are arrays of adjacent doubles."""
        address, stride = values.ctypes.data, values.strides[0] // values.itemsize
        _FUNCTION(self.function)(self.context, first, values.shape[1], address, stride)


class KernelOutcome(IntEnum):
    """How the evaluation of a kernel ended. DONE is 0, so a call has succeeded if its outcome is false.

    All others are negative.

    Attributes
    ----------
    DONE
        The results are written.
    NOT_FINITE
        A number of an input is infinite or NaN; the results are undefined.
    NOT_PLAIN
        An array is not plain: not of the class numpy.ndarray itself, not of aligned doubles in C order, of the wrong
        shape, not writable, or sharing memory with an input. Nothing was written.
    """

    DONE = 0
    NOT_FINITE = -1
    NOT_PLAIN = -2


# Checks of the arrays that a kernel is called with.
#
# Each check returns the arrays as contiguous doubles or raises an InputError that names the input and the remedy.


def check_batch(graph: Graph, arrays: Sequence[Any]) -> tuple[tuple[np.ndarray, ...], int]:
    """Return the inputs as contiguous arrays of doubles, and the number of samples (1 if all inputs are shared)."""
    check_input_count(graph, arrays)
    inputs, checked = graph.inputs, []
    samples, first = None, ""
    for k, argument in enumerate(arrays):
        entry = inputs[k]
        array = _to_doubles(graph, entry, argument)
        checked.append(array)
        shape = array.shape
        if entry.shared:
            if shape != (entry.size,):
                _raise_wrong_shape(graph, entry, array, f"({entry.size},), one vector for all samples")
            continue
        if len(shape) != 2 or shape[1] != entry.size:
            hint = "; for a single sample use kernel.one" if shape == (entry.size,) else ""
            _raise_wrong_shape(graph, entry, array, f"(samples, {entry.size}){hint}")
        if samples is None:
            samples, first = shape[0], entry.name
        elif shape[0] != samples:
            raise InputError(
                f"kernel {graph.name!r}: input {entry.name!r} has {len(array)} samples, but {first!r} has {samples}; "
                "give all inputs the same number of samples"
            )
    return tuple(checked), 1 if samples is None else samples


def check_vectors(graph: Graph, arrays: Sequence[Any]) -> tuple[np.ndarray, ...]:
    """Return the inputs of one sample as vectors of doubles."""
    check_input_count(graph, arrays)
    checked = []
    for entry, argument in zip(graph.inputs, arrays, strict=True):
        vector = _to_doubles(graph, entry, argument)
        if vector.shape != (entry.size,):
            hint = "; for many samples call the kernel itself" if vector.ndim == 2 else ""
            _raise_wrong_shape(graph, entry, vector, f"({entry.size},){hint}")
        checked.append(vector)
    return tuple(checked)


def check_input_count(graph: Graph, arrays: Sequence[Any]) -> None:
    """Raise an InputError unless there are as many arrays as the graph has inputs."""
    if len(arrays) != len(graph.inputs):
        names = ", ".join(entry.name for entry in graph.inputs)
        raise InputError(f"kernel {graph.name!r} takes {len(graph.inputs)} arrays ({names}), not {len(arrays)}")


def check_output(graph: Graph, shape: tuple[int, ...], out: Any, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return ``out`` if results of this shape can be written to it; otherwise raise an InputError."""
    problem = ""
    if not isinstance(out, np.ndarray):
        problem = f"is a {type(out).__name__}"
    elif out.dtype != np.float64:
        problem = f"has numbers of type {out.dtype}"
    elif out.shape != shape:
        problem = f"has shape {out.shape}"
    elif not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        problem = "is not contiguous, aligned and writable"
    elif any(np.may_share_memory(out, array) for array in arrays):
        problem = "shares memory with an input"
    if problem:
        raise InputError(f"kernel {graph.name!r}: out {problem}; use np.empty({shape})")
    checked: np.ndarray = out
    return checked


def raise_not_finite(graph: Graph, arrays: Sequence[np.ndarray]) -> NoReturn:
    """Raise an InputError that names the first number that is not finite."""
    for entry, array in zip(graph.inputs, arrays, strict=True):
        not_finite = np.argwhere(~np.isfinite(array))
        if len(not_finite):
            index = tuple(int(i) for i in not_finite[0])
            where = f"sample {index[0]}, element {index[1]}" if len(index) == 2 else f"element {index[0]}"
            raise InputError(
                f"kernel {graph.name!r}: input {entry.name!r} is {array[index]} at {where} "
                f"({len(not_finite)} such values in total); repair or remove them"
            )
    raise InputError(f"kernel {graph.name!r}: an input was not finite, but was changed while the kernel ran")


def _to_doubles(graph: Graph, entry: Input, argument: Any) -> np.ndarray:
    if isinstance(argument, np.ma.MaskedArray) and np.ma.is_masked(argument):
        raise InputError(f"kernel {graph.name!r}: entries of input {entry.name!r} are masked; leave those samples out")
    try:
        array = np.asarray(argument)
    except ValueError as error:
        raise InputError(f"kernel {graph.name!r}: input {entry.name!r} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub" and array.size:
        raise InputError(
            f"kernel {graph.name!r}: input {entry.name!r} has entries of type {array.dtype}; real numbers are needed"
        )
    return np.require(array, np.float64, ["C", "A"])


def _raise_wrong_shape(graph: Graph, entry: Input, array: np.ndarray, needed: str) -> NoReturn:
    raise InputError(f"kernel {graph.name!r}: input {entry.name!r} has shape {array.shape}, but needs {needed}")


# Memory for kernels: arrays that begin at a cache line.


_MIN_ALIGNED_SIZE = 2**15  # doubles; for smaller arrays, alignment costs more time than it saves
_CACHE_LINE = 8  # doubles


def allocate_aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Return a new uninitialized array that begins at a cache line, which is also a multiple of the vector length."""
    count = math.prod(shape)
    raw = np.empty(count + _CACHE_LINE)
    first = -(_find_address(raw) // 8) % _CACHE_LINE
    return raw[first : first + count].reshape(shape)


def allocate_result(shape: tuple[int, ...]) -> np.ndarray:
    """Return a new uninitialized array; a large one begins at a cache line, which makes stores faster."""
    return np.empty(shape) if math.prod(shape) < _MIN_ALIGNED_SIZE else allocate_aligned(shape)


_map_bytes: Callable[[Any], Any] = (ctypes.c_char * 0).from_buffer


def _find_address(array: np.ndarray) -> int:
    """Return the address of a writable array by the buffer protocol, which is several times faster than ``ctypes``."""
    return ctypes.addressof(_map_bytes(array))
