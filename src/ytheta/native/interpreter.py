"""The reference: CasADi's own evaluation behind the same interface as machine code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

_AT_ONCE = 4096  # samples; CasADi copies every number several times


class Interpreter:
    """Evaluates a graph with CasADi."""

    backend = "interpreter"
    columns = 1024

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._places = np.array(graph.places, dtype=int)

    def look(self, _samples: int, _out: Any, _arrays: tuple[Any, ...]) -> bool:
        """Whether the arrays need no further check; here they are checked always."""
        return False

    def dense(self, arrays: Sequence[np.ndarray], first: int, last: int, out: np.ndarray) -> bool:
        """Write samples first … last - 1 of ``out``; false if an input is not finite."""
        flat = out.reshape(out.shape[0], -1)
        for begin in range(first, last, _AT_ONCE):
            end = min(begin + _AT_ONCE, last)
            values = self._values(arrays, begin, end)
            if values is None:
                return False
            flat[begin:end] = 0.0
            flat[begin:end, self._places] = values.T
        return True

    def writer(self, arrays: Sequence[np.ndarray], values: np.ndarray, _place: int) -> Callable[[int, int], bool]:
        """What writes the values of samples first … last - 1 to ``values``; false if an input is not finite."""

        def write(first: int, last: int) -> bool:
            computed = self._values(arrays, first, last)
            if computed is None:
                return False
            values[:, : last - first] = computed
            return True

        return write

    def single(self, graph: Graph) -> Callable[[tuple[Any, ...]], np.ndarray | None]:
        """From the vectors of one sample to its result; nothing if they are not plain, not finite or not as many."""

        def call(vectors: tuple[Any, ...]) -> np.ndarray | None:
            plain = [type(x) is np.ndarray and x.dtype == np.float64 and x.shape for x in vectors]
            if plain != [(entry.size,) for entry in graph.inputs]:
                return None
            out = np.empty((1, *graph.shape))
            rows = [x if entry.shared else x[np.newaxis] for entry, x in zip(graph.inputs, vectors, strict=True)]
            return out.reshape(graph.shape) if self.dense(rows, 0, 1, out) else None

        return call

    def _values(self, arrays: Sequence[np.ndarray], first: int, last: int) -> np.ndarray | None:
        import casadi

        given: list[Any] = []
        for entry, array in zip(self._graph.inputs, arrays, strict=True):
            columns = array[:, np.newaxis] if entry.shared else array[first:last].T
            if not np.isfinite(columns).all():
                return None
            # One column stands for all samples; an input without elements has one column of none.
            given.append(casadi.DM(columns) if entry.size else casadi.DM(0, 1))
        computed: np.ndarray = self._graph.function.call(given)[0].full()
        return np.broadcast_to(computed, (len(self._places), last - first))
