"""Linear algebra over symbolic lengths: linear forms in the parameters, their coefficients polynomials in the lengths.

Forms are elements of one sparse polynomial ring in the lengths and the parameters. What should cancel, but is left over
by rounded rotations, is cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyRing

from ytheta.dynamics.mechanism import PER_LINK
from ytheta.dynamics.vectors import array, zeros
from ytheta.identifiability.echelon import ROUNDING
from ytheta.shapes import Float, Shaped


@dataclass(frozen=True, eq=False)
class LengthField:
    """The scalars of a robot with symbolic lengths: lengths by name, and parameters as linear forms of themselves."""

    names: tuple[str, ...]
    params: int

    @cached_property
    def ring(self) -> Any:
        lengths = [sympy.Symbol(name) for name in self.names]
        return PolyRing([*lengths, *(sympy.Dummy() for _ in range(self.params))], sympy.RR, lex)

    @property
    def lengths(self) -> dict[str, Any]:
        return dict(zip(self.names, self.ring.gens, strict=False))

    @property
    def theta(self) -> Shaped[np.ndarray, "link_params"]:
        return array(self.ring.gens[len(self.names) :])

    def row(self, form: Any) -> Shaped[np.ndarray, "link_params"]:
        """The coefficients of a linear form, as numbers and SymPy expressions."""
        own = len(self.names)
        parts: dict[int, list[tuple[tuple[int, ...], Any]]] = {}
        for powers, factor in form.terms():
            parts.setdefault(powers.index(1, own) - own, []).append((powers[:own], factor))
        row = zeros(self.params)
        for place, terms in parts.items():
            row[place] = _expression(terms, self.ring.symbols)
        return row


def evaluated(rows: Shaped[np.ndarray, "base params"], values: Mapping[str, float]) -> Float[np.ndarray, "base params"]:
    """Rows in numbers."""
    at = {sympy.Symbol(name): value for name, value in values.items()}
    return np.array([float(sympy.sympify(entry).xreplace(at)) for entry in rows.ravel()]).reshape(rows.shape)


def solved(
    rows: Shaped[np.ndarray, "base params"], independent: Sequence[int], names: Iterable[str]
) -> Shaped[np.ndarray, "base params"]:
    """K with K[:, independent] = 1, by elimination, for rows and columns of links from the base to the tips.

    Every pivot is a number, so all of K is polynomial. A link's own inertias stand in its own rows for U and there, by
    rotation, with numbers; its first moments in those for k likewise, and in those for U; its mass in that for m, and
    in all others. In this order they find their own rows, since those of the links before are used up.
    """
    ring = PolyRing([sympy.Symbol(name) for name in names], sympy.RR, lex)
    left = [{k: ring.from_expr(sympy.sympify(e)) for k, e in enumerate(row) if e != 0} for row in rows]
    done: dict[int, dict[int, Any]] = {}
    for column in sorted(independent, key=lambda k: (k // PER_LINK, -k)):
        sizes = [_size(row.get(column)) for row in left]
        pivot = left.pop(int(np.argmax(sizes)))
        head = pivot[column].LC
        pivot = {k: entry.quo_ground(head) for k, entry in pivot.items()}
        left = [_without(row, column, pivot) for row in left]
        done = {other: _without(row, column, pivot) for other, row in done.items()} | {column: pivot}
    K = zeros(*rows.shape)
    for i, column in enumerate(independent):
        for k, entry in done[column].items():
            if k not in done:
                K[i, k] = _expression(entry.terms(), ring.symbols)
        K[i, column] = 1
    return K


def _size(entry: Any) -> float:
    """How good a pivot is: nothing but a number will do."""
    return abs(float(entry.LC)) if entry is not None and entry.is_ground else 0.0


def _without(row: dict[int, Any], column: int, pivot: dict[int, Any]) -> dict[int, Any]:
    """A row less the multiple of another that clears one column."""
    factor = row.get(column)
    if factor is None:
        return row
    found = dict(row)
    for k, entry in pivot.items():
        found[k] = found[k] - factor * entry if k in found else -factor * entry
    del found[column]
    return found


def _expression(terms: Sequence[tuple[tuple[int, ...], Any]], symbols: Sequence[Any]) -> Any:
    """A polynomial in the first symbols, its rounding cut off: a number where no length is left in it."""
    factors = [(powers, float(factor)) for powers, factor in terms]
    smallest = ROUNDING * max([1.0, *(abs(factor) for _, factor in factors)])
    total: Any = 0
    for powers, factor in factors:
        if abs(factor) > smallest:
            number = int(factor) if factor.is_integer() else factor
            total = total + number * sympy.prod(symbol**power for symbol, power in zip(symbols, powers, strict=False))
    return float(total) if getattr(total, "is_number", False) else total
