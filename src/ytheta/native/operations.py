"""What a graph costs, counted as the papers count: scalar operations for one sample, after folding and sharing.

A square counts as a multiplication, a doubling as an addition, an inverse as a division. A change of sign is counted
for itself: it mostly disappears in the addition that follows.
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
_FREE = ("INPUT", "OUTPUT", "CONST")


@dataclass(frozen=True)
class Operations:
    """Scalar operations for one sample; ``other`` are roots, comparisons, exponentials …"""

    multiplications: int
    additions: int
    divisions: int
    negations: int
    trigonometric: int
    other: int

    @property
    def total(self) -> int:
        return sum(getattr(self, entry.name) for entry in fields(self))


def operation_names() -> dict[int, str]:
    """CasADi's numbers of operations and their names."""
    import casadi

    return {getattr(casadi, key): key[3:] for key in dir(casadi) if key.startswith("OP_")}


def count_operations(graph: Graph) -> Operations:
    """The operations of a graph."""
    function = graph.function
    numbers = Counter(function.instruction_id(k) for k in range(function.n_instructions()))
    names = operation_names()
    left = {names[number]: count for number, count in numbers.items() if names[number] not in _FREE}
    kinds = {kind: sum(left.pop(name, 0) for name in members) for kind, members in _KINDS.items()}
    return Operations(**kinds, other=sum(left.values()))
