"""The reference backend: CasADi's own evaluation, with the same interface as machine code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

_MAX_SAMPLES_PER_CALL = 4096  # limits memory, because CasADi copies every number several times


class Interpreter:
    """The evaluation of a graph by CasADi."""

    backend = "interpreter"
    columns = 1024

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._places = np.array(graph.places, dtype=int)

    def fits(self, _samples: int, _out: Any, _arrays: tuple[Any, ...]) -> bool:
        """Whether the arrays need no further check; always False here, so that they are checked in Python."""
        return False

    def write_dense(self, arrays: Sequence[np.ndarray], first: int, last: int, out: np.ndarray) -> bool:
        """Write the samples ``first`` to ``last - 1`` to ``out``; return False if an input is not finite."""
        flat = out.reshape(out.shape[0], -1)
        for begin in range(first, last, _MAX_SAMPLES_PER_CALL):
            end = min(begin + _MAX_SAMPLES_PER_CALL, last)
            values = self._evaluate(arrays, begin, end)
            if values is None:
                return False
            flat[begin:end] = 0.0
            flat[begin:end, self._places] = values.T
        return True

    def make_block_writer(
        self, arrays: Sequence[np.ndarray], values: np.ndarray, _address: int
    ) -> Callable[[int, int], bool]:
        """Return a function ``write(first, last)``, which writes the samples ``first`` to ``last - 1`` to ``values``.

        The function returns False if an input is not finite.
        """

        def write(first: int, last: int) -> bool:
            computed = self._evaluate(arrays, first, last)
            if computed is None:
                return False
            values[:, : last - first] = computed
            return True

        return write

    def make_sample_function(self, graph: Graph) -> Callable[[tuple[Any, ...]], np.ndarray | None]:
        """Return a function from the vectors of one sample to its array.

        It returns None if a vector is not plain or not finite, or if the number of vectors is wrong.
        """

        def call(vectors: tuple[Any, ...]) -> np.ndarray | None:
            plain = [type(x) is np.ndarray and x.dtype == np.float64 and x.shape for x in vectors]
            if plain != [(entry.size,) for entry in graph.inputs]:
                return None
            out = np.empty((1, *graph.shape))
            rows = [x if entry.shared else x[np.newaxis] for entry, x in zip(graph.inputs, vectors, strict=True)]
            return out.reshape(graph.shape) if self.write_dense(rows, 0, 1, out) else None

        return call

    def _evaluate(self, arrays: Sequence[np.ndarray], first: int, last: int) -> np.ndarray | None:
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
