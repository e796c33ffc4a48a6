"""Operation counts of a graph, as papers count them: scalar operations for one sample.

Constants are folded and common subexpressions are shared before counting. A square counts as a multiplication, a
doubling as an addition, an inverse as a division. Negations are counted separately, because most of them become
part of the next addition.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

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
