"""Graph: a traced computation from the input vectors of one sample to one array.

A graph is a CasADi ``Function`` of SX scalars with names and shapes, and a note about its origin (``made_from``).
``compile_graph`` turns it into a Kernel. Graphs can be sent to other processes, kernels cannot.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True)
class Input:
    """One argument: a vector per sample, or one vector that all samples share."""

    name: str
    size: int
    shared: bool = False


@dataclass(frozen=True)
class Graph:
    """The map from the inputs of one sample to an array of ``shape``.

    ``function`` maps one column vector per input to one dense column: the structural nonzeros of the array in C order.
    ``places`` are the flat indices of these nonzeros. All other entries of the array are zero for all inputs.
    """

    name: str
    inputs: tuple[Input, ...]
    shape: tuple[int, ...]
    places: tuple[int, ...]
    function: casadi.Function = field(repr=False)
    made_from: str = ""

    @property
    def size(self) -> int:
        """The number of entries of the array, zeros included."""
        return int(np.prod(self.shape, dtype=int))

    @property
    def digest(self) -> str:
        """A fingerprint of the computation and its layout; it does not depend on names or on ``made_from``."""
        layout = repr(([(i.size, i.shared) for i in self.inputs], self.shape, self.places))
        return hashlib.sha256((layout + self.function.serialize()).encode()).hexdigest()

    def apply(self, *symbols: Any) -> casadi.SX:
        """Return the array for these symbols, flat and dense, for use inside another graph."""
        import casadi

        values, result = self.function(*symbols), casadi.SX.zeros(self.size)
        for k, place in enumerate(self.places):
            result[place] = values[k]
        return result


def trace(name: str, inputs: Sequence[tuple[Input, Any]], output: np.ndarray, *, made_from: str = "") -> Graph:
    """Return the graph from symbolic inputs (vectors of SX) to an object array of SX scalars and floats."""
    import casadi

    flat = [casadi.SX(entry) for entry in np.asarray(output, dtype=object).ravel()]
    places = tuple(k for k, entry in enumerate(flat) if not entry.is_zero())
    values = casadi.vertcat(*(casadi.densify(flat[k]) for k in places)) if places else casadi.SX(0, 1)
    function = casadi.Function("graph", [symbols for _, symbols in inputs], [values], {"cse": True})
    return Graph(name, tuple(i for i, _ in inputs), np.shape(output), places, function, made_from)
