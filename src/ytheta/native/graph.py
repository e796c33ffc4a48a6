"""Graph: a traced computation from the input vectors of one sample to one array.

A graph is a CasADi ``Function`` of SX scalars with names and shapes, and a note about its origin (``made_from``).
``compile_graph`` turns it into a Kernel. Graphs can be sent to other processes and stored on disk, kernels cannot.
``count_operations`` counts the scalar operations of a graph for one sample.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.engine.engine import PickledByFields
from ytheta.errors import InputError

if TYPE_CHECKING:
    import casadi


@dataclass(frozen=True)
class Input:
    """One argument: a vector per sample, or one vector that all samples share."""

    name: str
    size: int
    shared: bool = False


@dataclass(frozen=True)
class SerializedFunction(PickledByFields):
    """The text of a CasADi function, and the number of its instructions, which is needed without the function."""

    text: str
    instructions: int

    @cached_property
    def restored(self) -> casadi.Function:
        import casadi

        return casadi.Function.deserialize(self.text)


@dataclass(frozen=True)
class Graph(PickledByFields):
    """The map from the inputs of one sample to an array of ``shape``.

    ``function`` maps one column vector per input to one dense column: the structural nonzeros of the array in C order.
    ``places`` are the flat indices of these nonzeros. All other entries of the array are zero for all inputs. The
    ``source`` of the function is the function itself, or its text; then the function is restored when it is first used.
    """

    name: str
    inputs: tuple[Input, ...]
    shape: tuple[int, ...]
    places: tuple[int, ...]
    source: casadi.Function | SerializedFunction = field(repr=False)
    made_from: str = ""

    @property
    def function(self) -> casadi.Function:
        return self.source.restored if isinstance(self.source, SerializedFunction) else self.source

    @cached_property
    def serialized(self) -> SerializedFunction:
        """The text of the function and the number of its instructions."""
        if isinstance(self.source, SerializedFunction):
            return self.source
        return SerializedFunction(self.source.serialize(), self.source.n_instructions())

    @property
    def instructions(self) -> int:
        """The number of CasADi's instructions, inputs, outputs and constants included."""
        source = self.source
        return source.instructions if isinstance(source, SerializedFunction) else source.n_instructions()

    @property
    def size(self) -> int:
        """The number of entries of the array, zeros included."""
        return int(np.prod(self.shape, dtype=int))

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the computation and its layout; it does not depend on names or on ``made_from``."""
        layout = repr(([(i.size, i.shared) for i in self.inputs], self.shape, self.places))
        return hashlib.sha256((layout + self.serialized.text).encode()).hexdigest()

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

    flat = np.asarray(output, dtype=object).ravel().tolist()
    places = tuple(k for k, entry in enumerate(flat) if not _is_zero(entry))
    values = casadi.vertcat(*(flat[k] for k in places)) if places else casadi.SX(0, 1)
    values = casadi.SX(values)  # if all entries are numbers, they form a DM
    function = casadi.Function("graph", [symbols for _, symbols in inputs], [values], {"cse": True})
    return Graph(name, tuple(i for i, _ in inputs), np.shape(output), places, function, made_from)


def _is_zero(entry: Any) -> bool:
    """Return whether a number is zero, or an SX scalar is zero by structure or by value."""
    return bool(entry.is_zero() if hasattr(entry, "is_zero") else entry == 0)


def check_function(graph: Graph) -> None:
    """Raise an InputError unless the function consists of scalar operations, from dense columns to one dense column."""
    function = graph.function
    if not function.is_a("SXFunction"):
        raise InputError(
            f"graph {graph.name!r} contains a CasADi {function.class_name()}; native code needs scalars: expand it "
            "first (function.expand())"
        )
    if function.has_free():
        raise InputError(f"graph {graph.name!r} uses symbols that are not among its inputs: {function.get_free()}")
    sizes = [function.numel_in(k) for k in range(function.n_in())]
    if sizes != [entry.size for entry in graph.inputs] or function.nnz_in() != sum(sizes):
        raise InputError(
            f"graph {graph.name!r} declares inputs of sizes {[entry.size for entry in graph.inputs]}, "
            f"but its function takes dense columns of sizes {sizes}"
        )
    if function.n_out() != 1 or function.nnz_out() != len(graph.places):
        raise InputError(
            f"graph {graph.name!r} has {len(graph.places)} places for {function.nnz_out()} computed values; "
            "the two numbers must agree"
        )


# Operation counts of a graph, as papers count them: scalar operations for one sample.
#
# Constants are folded and common subexpressions are shared before counting. A square counts as a multiplication, a
# doubling as an addition, an inverse as a division. Negations are counted separately, because most of them become
# part of the next addition.


_KINDS = {
    "multiplications": ("MUL", "SQ"),
    "additions": ("ADD", "SUB", "TWICE"),
    "divisions": ("DIV", "INV"),
    "negations": ("NEG",),
    "trigonometric": ("SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "ATAN2"),
}
_NOT_COUNTED = ("INPUT", "OUTPUT", "CONST")


@dataclass(frozen=True)
class Operations:
    """Numbers of scalar operations for one sample; ``other`` counts roots, comparisons, exponentials …"""

    multiplications: int
    additions: int
    divisions: int
    negations: int
    trigonometric: int
    other: int

    @property
    def total(self) -> int:
        return sum(getattr(self, entry.name) for entry in fields(self))


def list_operation_names() -> dict[int, str]:
    """Return the names of CasADi's operations by their codes."""
    import casadi

    return {getattr(casadi, key): key[3:] for key in dir(casadi) if key.startswith("OP_")}


def count_operations(graph: Graph) -> Operations:
    """Count the operations of a graph."""
    function = graph.function
    codes = Counter(function.instruction_id(k) for k in range(function.n_instructions()))
    names = list_operation_names()
    remaining = {names[code]: count for code, count in codes.items() if names[code] not in _NOT_COUNTED}
    counts = {kind: sum(remaining.pop(name, 0) for name in members) for kind, members in _KINDS.items()}
    return Operations(**counts, other=sum(remaining.values()))
