"""The reference backend: CasADi's own evaluation, with the same interface as machine code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.native.kernel import BlockConsumer, KernelOutcome

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

_MAX_SAMPLES_PER_CALL = 4096  # limits memory, because CasADi copies every number several times


class Interpreter:
    """The evaluation of a graph by CasADi."""

    backend = "interpreter"
    columns = block_samples = 1024

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._places = np.array(graph.places, dtype=int)

    def write_one(self, vectors: tuple[Any, ...], out: np.ndarray) -> int:
        """Write the array of one sample to ``out``; return a ``KernelOutcome``."""
        if not self._are_plain(vectors, ()):
            return KernelOutcome.NOT_PLAIN
        batch = tuple(
            x if entry.shared else x[np.newaxis] for entry, x in zip(self._graph.inputs, vectors, strict=True)
        )
        return self.write_dense(batch, 0, 1, out[np.newaxis])

    def write_dense(self, arrays: tuple[Any, ...], first: int, last: int, out: Any) -> int:
        """Write the samples ``first`` to ``last - 1`` to their places in ``out``; return a ``KernelOutcome``.

        ``out`` is the array of the results of all samples.
        """
        samples = self._count_samples(arrays)
        fits = _is_plain(out, (samples, *self._graph.shape)) and out.flags.writeable
        if not (self._are_plain(arrays, (samples,)) and fits) or any(np.may_share_memory(out, x) for x in arrays):
            return KernelOutcome.NOT_PLAIN
        flat = out.reshape(samples, self._graph.size)
        for begin in range(first, last, _MAX_SAMPLES_PER_CALL):
            end = min(begin + _MAX_SAMPLES_PER_CALL, last)
            values = self._evaluate(arrays, begin, end)
            if values is None:
                return KernelOutcome.NOT_FINITE
            flat[begin:end] = 0.0
            flat[begin:end, self._places] = values.T
        return KernelOutcome.DONE

    def write_block(self, arrays: tuple[Any, ...], first: int, last: int, values: np.ndarray) -> int:
        """Write the nonzeros of the samples ``first`` to ``last - 1`` to the first columns of ``values``.

        Return 0, the first of these columns, or a ``KernelOutcome``, which is negative. If ``first`` equals ``last``,
        the arguments are only checked.
        """
        if not self._are_plain(arrays, (self._count_samples(arrays),)):
            return KernelOutcome.NOT_PLAIN
        if first < last:
            computed = self._evaluate(arrays, first, last)
            if computed is None:
                return KernelOutcome.NOT_FINITE
            values[:, : last - first] = computed
        return 0

    def feed(self, arrays: tuple[Any, ...], consumer: BlockConsumer) -> int:
        """Pass the blocks of all samples to the consumer, in order; return a ``KernelOutcome``."""
        if not self._are_plain(arrays, (consumer.samples,)):
            return KernelOutcome.NOT_PLAIN
        values = np.empty((len(self._places), self.columns))
        for first in range(0, consumer.samples, self.block_samples):
            last = min(first + self.block_samples, consumer.samples)
            if outcome := self.write_block(arrays, first, last, values):
                return outcome
            consumer.call(first, values[:, : last - first])
        return KernelOutcome.DONE

    def _count_samples(self, arrays: tuple[Any, ...]) -> int:
        """Return the number of samples, or 1 if it is not known."""
        batched = (x for entry, x in zip(self._graph.inputs, arrays, strict=False) if not entry.shared)
        return next((len(x) for x in batched if isinstance(x, np.ndarray) and x.ndim), 1)

    def _are_plain(self, arrays: tuple[Any, ...], samples: tuple[int, ...]) -> bool:
        """Whether all arrays are plain; ``samples`` is the first axis of inputs that are not shared."""
        shapes = [(entry.size,) if entry.shared else (*samples, entry.size) for entry in self._graph.inputs]
        return len(arrays) == len(shapes) and all(map(_is_plain, arrays, shapes))

    def _evaluate(self, arrays: tuple[np.ndarray, ...], first: int, last: int) -> np.ndarray | None:
        """Return the structural nonzeros of the samples ``first`` to ``last - 1``, one column per sample.

        Return None if an input is not finite.
        """
        import casadi

        matrices: list[Any] = []
        for entry, array in zip(self._graph.inputs, arrays, strict=True):
            columns = array[:, np.newaxis] if entry.shared else array[first:last].T
            if not np.isfinite(columns).all():
                return None
            # CasADi repeats a single column for all samples; an input without elements has one empty column.
            matrices.append(casadi.DM(columns) if entry.size else casadi.DM(0, 1))
        computed: np.ndarray = self._graph.function.call(matrices)[0].full()
        return np.broadcast_to(computed, (len(self._places), last - first))


def _is_plain(array: Any, shape: tuple[int, ...]) -> bool:
    """Whether an array is plain and has this shape (see ``KernelOutcome``)."""
    if type(array) is not np.ndarray or array.dtype != np.float64 or array.shape != shape:
        return False
    return array.flags.c_contiguous and array.flags.aligned
