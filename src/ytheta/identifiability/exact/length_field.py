"""Linear algebra with symbolic lengths: linear forms in the parameters whose coefficients are polynomials in lengths.

Forms are elements of one sparse polynomial ring in the lengths and the parameters. Terms that should cancel, but remain
because of rounded rotations, are dropped.
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
from ytheta.identifiability.base_parameters import ROUNDING_TOLERANCE
from ytheta.shapes import Float, Shaped


@dataclass(frozen=True, eq=False)
class LengthField:
    """The scalars of a robot with symbolic lengths: the lengths by name, and the parameters as linear forms."""

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
    def theta(self) -> Shaped[np.ndarray, " link_params"]:
        return array(self.ring.gens[len(self.names) :])

    def to_row(self, form: Any) -> Shaped[np.ndarray, " link_params"]:
        """Return the coefficients of a linear form, as numbers and SymPy expressions."""
        count = len(self.names)
        terms_of: dict[int, list[tuple[tuple[int, ...], Any]]] = {}
        for powers, factor in form.terms():
            terms_of.setdefault(powers.index(1, count) - count, []).append((powers[:count], factor))
        row = zeros(self.params)
        for parameter, terms in terms_of.items():
            row[parameter] = _to_expression(terms, self.ring.symbols)
        return row


def evaluate_rows(
    rows: Shaped[np.ndarray, "base params"], values: Mapping[str, float]
) -> Float[np.ndarray, "base params"]:
    """Return the rows for these values of the lengths."""
    lengths = {sympy.Symbol(name): value for name, value in values.items()}
    return np.array([float(sympy.sympify(entry).xreplace(lengths)) for entry in rows.ravel()]).reshape(rows.shape)


def solve_for_independent(
    rows: Shaped[np.ndarray, "base params"], independent: Sequence[int], names: Iterable[str]
) -> Shaped[np.ndarray, "base params"]:
    """Return K with an identity matrix in the independent columns, by elimination from the base to the tips.

    Every pivot is a number, so all entries of K are polynomials in the lengths. Such pivots exist if the links are
    eliminated one after the other, each in the order inertias, first moments, mass. Then the coefficients of the
    inertias in the link's rows for U are numbers, namely entries of a rotation. So are the coefficients of the first
    moments in its rows for k, and that of the mass in its row for m.
    """
    ring = PolyRing([sympy.Symbol(name) for name in names], sympy.RR, lex)
    remaining = [{k: ring.from_expr(sympy.sympify(e)) for k, e in enumerate(row) if e != 0} for row in rows]
    pivots: dict[int, dict[int, Any]] = {}
    for column in sorted(independent, key=lambda k: (k // PER_LINK, -k)):
        sizes = [_measure_pivot(row.get(column)) for row in remaining]
        pivot = remaining.pop(int(np.argmax(sizes)))
        factor = pivot[column].LC
        pivot = {k: entry.quo_ground(factor) for k, entry in pivot.items()}
        remaining = [_eliminate(row, column, pivot) for row in remaining]
        pivots = {k: _eliminate(row, column, pivot) for k, row in pivots.items()} | {column: pivot}
    K = zeros(*rows.shape)
    for i, column in enumerate(independent):
        for k, entry in pivots[column].items():
            if k not in pivots:
                K[i, k] = _to_expression(entry.terms(), ring.symbols)
        K[i, column] = 1
    return K


def _measure_pivot(entry: Any) -> float:
    """Return the absolute value of a number; 0 if the entry is missing or a polynomial and so cannot be a pivot."""
    return abs(float(entry.LC)) if entry is not None and entry.is_ground else 0.0


def _eliminate(row: dict[int, Any], column: int, pivot: dict[int, Any]) -> dict[int, Any]:
    """Subtract the multiple of the pivot row that makes one column zero."""
    factor = row.get(column)
    if factor is None:
        return row
    result = dict(row)
    for k, entry in pivot.items():
        result[k] = result[k] - factor * entry if k in result else -factor * entry
    del result[column]
    return result


def _to_expression(terms: Sequence[tuple[tuple[int, ...], Any]], symbols: Sequence[Any]) -> Any:
    """Return a polynomial in the lengths as an expression without rounding errors; a float if it contains no length."""
    factors = [(powers, float(factor)) for powers, factor in terms]
    smallest = ROUNDING_TOLERANCE * max([1.0, *(abs(factor) for _, factor in factors)])
    total: Any = 0
    for powers, factor in factors:
        if abs(factor) > smallest:
            number = int(factor) if factor.is_integer() else factor
            total = total + number * sympy.prod(symbol**power for symbol, power in zip(symbols, powers, strict=False))
    return float(total) if getattr(total, "is_number", False) else total
