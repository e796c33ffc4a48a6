"""The span of rows of exact numbers: a basis of independent rows, and all other rows as combinations of the basis."""

from __future__ import annotations

from typing import Any, TypeAlias

Place: TypeAlias = tuple[int, tuple[int, ...]]  # index of a parameter in theta, exponents of unknown constants
FrozenRow: TypeAlias = tuple[tuple[Place, Any], ...]  # sparse, in a fixed order
_Sparse: TypeAlias = dict[Any, Any]


class RowSpan:
    """A basis to which rows can be added, and its echelon form; each echelon row is stored with its combination."""

    def __init__(self) -> None:
        self.rows: list[FrozenRow] = []
        self._pivots: dict[Place, tuple[_Sparse, _Sparse]] = {}  # echelon row, and its combination of basis rows
        self._solutions: dict[FrozenRow, _Sparse] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def index(self, row: FrozenRow) -> int:
        """Return the index of a row in the basis."""
        return self.rows.index(row)

    def add(self, row: FrozenRow) -> bool:
        """Add a row to the basis if the row is independent of the basis; return whether it was added."""
        rest, combination = self._split(row)
        if not rest:
            self._solutions[row] = combination
            return False
        combination = {k: -x for k, x in combination.items()}
        combination[len(self.rows)] = 1
        self._solutions[row] = {len(self.rows): 1}
        self.rows.append(row)
        pivot = next(iter(rest))
        scale = 1 / rest[pivot]
        self._pivots[pivot] = (
            {place: x * scale for place, x in rest.items()},
            {k: x * scale for k, x in combination.items()},
        )
        return True

    def solve(self, row: FrozenRow) -> _Sparse:
        """Return the factors of the basis rows, by index, whose combination is a row of the span."""
        if row not in self._solutions:
            rest, combination = self._split(row)
            if rest:
                raise ArithmeticError("the row is not in the span")
            self._solutions[row] = combination
        return self._solutions[row]

    def _split(self, row: FrozenRow) -> tuple[_Sparse, _Sparse]:
        """Split a row into a rest outside the span and a combination of basis rows."""
        rest: _Sparse = dict(row)
        combination: _Sparse = {}
        for pivot, (echelon, echelon_combination) in self._pivots.items():
            factor = rest.get(pivot)
            if factor is not None:
                _subtract(rest, factor, echelon)
                _subtract(combination, -factor, echelon_combination)
        return rest, combination


def _subtract(target: _Sparse, factor: Any, other: _Sparse) -> None:
    for key, x in other.items():
        value = target.get(key, 0) - factor * x
        if value:
            target[key] = value
        else:
            target.pop(key, None)
