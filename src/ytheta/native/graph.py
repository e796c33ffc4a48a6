"""Graph: a traced computation, from vectors per sample to one array per sample.

It is a CasADi ``Function`` of SX scalars with names and shapes, and it knows what it was made from. ``native`` turns it
into a Kernel; workers on other machines receive graphs, never kernels.
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
    """One argument: a vector that is new in every sample, or one that is shared by all of them."""

    name: str
    size: int
    shared: bool = False


@dataclass(frozen=True)
class Graph:
    """Inputs → an array of ``shape``, for one sample.

    ``function`` maps one column vector per input to a single sparse column: the structural non-zeros of the array in C
    order, whose flat places are ``places``. What is not listed there is zero whatever the inputs are.
    """

    name: str
    inputs: tuple[Input, ...]
    shape: tuple[int, ...]
    places: tuple[int, ...]
    function: casadi.Function = field(repr=False)
    made_from: str = ""

    @property
    def size(self) -> int:
        """Entries of the array, zeros included."""
        return int(np.prod(self.shape, dtype=int))

    @property
    def digest(self) -> str:
        """A fingerprint of the computation and its layout; names and origin do not change it."""
        layout = repr(([(i.size, i.shared) for i in self.inputs], self.shape, self.places))
        return hashlib.sha256((layout + self.function.serialize()).encode()).hexdigest()

    def apply(self, *symbols: Any) -> casadi.SX:
        """The array for these symbols, flat and dense: a graph as a part of another."""
        import casadi

        values, result = self.function(*symbols), casadi.SX.zeros(self.size)
        for k, place in enumerate(self.places):
            result[place] = values[k]
        return result


def trace(name: str, inputs: Sequence[tuple[Input, Any]], output: np.ndarray, *, made_from: str = "") -> Graph:
    """The graph from symbolic inputs (vectors of SX) to an object array of SX scalars and floats."""
    import casadi

    flat = [casadi.SX(entry) for entry in np.asarray(output, dtype=object).ravel()]
    places = tuple(k for k, entry in enumerate(flat) if not entry.is_zero())
    values = casadi.vertcat(*(casadi.densify(flat[k]) for k in places)) if places else casadi.SX(0, 1)
    function = casadi.Function("graph", [symbols for _, symbols in inputs], [values], {"cse": True})
    return Graph(name, tuple(i for i, _ in inputs), np.shape(output), places, function, made_from)
