"""Rows of exact numbers and what they span: which are independent, and the others in terms of them."""

from __future__ import annotations

from typing import Any, TypeAlias

Place: TypeAlias = tuple[int, tuple[int, ...]]  # of a parameter in theta; powers of the lengths that multiply it
FrozenRow: TypeAlias = tuple[tuple[Place, Any], ...]  # sparse, in a fixed order
_Sparse: TypeAlias = dict[Any, Any]


class RowSpan:
    """A growing basis, made of rows that were added, and an echelon form that remembers how it was made of them."""

    def __init__(self) -> None:
        self.rows: list[FrozenRow] = []
        self._pivots: dict[Place, tuple[_Sparse, _Sparse]] = {}  # echelon row; the same as a combination of the basis
        self._solved: dict[FrozenRow, _Sparse] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def index(self, row: FrozenRow) -> int:
        """Which of the basis a row is."""
        return self.rows.index(row)

    def add(self, row: FrozenRow) -> bool:
        """Take a row into the basis if it is independent of it; whether it was."""
        rest, combination = self._rest(row)
        if not rest:
            self._solved[row] = combination
            return False
        combination = {k: -x for k, x in combination.items()}
        combination[len(self.rows)] = 1
        self._solved[row] = {len(self.rows): 1}
        self.rows.append(row)
        pivot = next(iter(rest))
        scale = 1 / rest[pivot]
        self._pivots[pivot] = (
            {place: x * scale for place, x in rest.items()},
            {k: x * scale for k, x in combination.items()},
        )
        return True

    def solve(self, row: FrozenRow) -> _Sparse:
        """A row of the span as a combination of the basis."""
        if row not in self._solved:
            rest, combination = self._rest(row)
            if rest:
                raise ArithmeticError("the row is not in the span")
            self._solved[row] = combination
        return self._solved[row]

    def _rest(self, row: FrozenRow) -> tuple[_Sparse, _Sparse]:
        """What the basis cannot make of a row, and the combination of the basis that makes the other part."""
        rest: _Sparse = dict(row)
        combination: _Sparse = {}
        for pivot, (echelon, made_of) in self._pivots.items():
            factor = rest.get(pivot)
            if factor is not None:
                _subtract(rest, factor, echelon)
                _subtract(combination, -factor, made_of)
        return rest, combination


def _subtract(target: _Sparse, factor: Any, other: _Sparse) -> None:
    for key, x in other.items():
        value = target.get(key, 0) - factor * x
        if value:
            target[key] = value
        else:
            target.pop(key, None)
