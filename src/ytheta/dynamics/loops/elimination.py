"""Solving a small linear system in a graph, where no pivot can be chosen by looking at numbers.

The matrix is brought to block triangular form by its structure alone: in mechanisms one block is mostly one loop, two
rows for a planar one. A block of up to three rows is solved by Cramer's rule, which divides by the determinant and by
nothing else. A larger one is solved by orthogonalisation (modified Gram-Schmidt carried on to the right-hand sides,
without square roots), which divides by squared lengths that vanish only where the block is singular. Neither fails
while the matrix is regular; at a singular one the result is not finite.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.dynamics.vectors import dot, zeros
from ytheta.shapes import Shaped

if TYPE_CHECKING:
    import casadi

CRAMER = 3  # largest block solved by Cramer's rule; a fourth row would triple the work of orthogonalisation


def solve(
    matrix: Shaped[np.ndarray, "rows rows"], right: Shaped[np.ndarray, "rows columns"]
) -> Shaped[np.ndarray, "rows columns"]:
    """matrix^-1 right; the integer 0 is structure. Raises ValueError where the structure alone is singular."""
    result = zeros(*right.shape)
    done: list[int] = []
    for rows, columns in blocks(matrix):
        known = dot(matrix[np.ix_(rows, done)], result[done]) if done else zeros(len(rows), right.shape[1])
        rest = right[rows] - known
        block = matrix[np.ix_(rows, columns)]
        result[columns] = _cramer(block, rest) if len(rows) <= CRAMER else _orthogonal(block, rest)
        done += columns
    return result


def blocks(matrix: Shaped[np.ndarray, "rows rows"]) -> list[tuple[list[int], list[int]]]:
    """Rows and columns of the diagonal blocks, in the order in which they can be solved."""
    import casadi

    if not len(matrix):
        return []
    filled = np.array([[type(entry) is not int or entry != 0 for entry in row] for row in matrix])
    pattern = casadi.sparsify(casadi.DM(filled.astype(float))).sparsity()
    if casadi.sprank(casadi.DM(pattern, 1.0)) < len(matrix):
        raise ValueError("the equations cannot be solved for these unknowns: their structure is singular")
    _, row, column, row_ends, column_ends, _, _ = pattern.btf()
    return [
        (list(row[row_ends[k] : row_ends[k + 1]]), list(column[column_ends[k] : column_ends[k + 1]]))
        for k in range(len(row_ends) - 1)
    ]


def entries(matrix: casadi.SX) -> np.ndarray:
    """A CasADi matrix as an object array: structural zeros and the constants 0, 1, -1 become integers."""
    result = zeros(*matrix.shape)
    rows, columns = matrix.sparsity().get_triplet()
    for row, column in zip(rows, columns, strict=True):
        value = matrix[row, column]
        constant = value.is_constant() and float(value) in (0.0, 1.0, -1.0)
        result[row, column] = int(float(value)) if constant else value
    return result


def _determinant(block: np.ndarray) -> Any:
    """By the formula of Leibniz."""
    total: Any = 0
    for order in permutations(range(len(block))):
        term: Any = _sign(order)
        for row, column in enumerate(order):
            term = dot(np.array([[term]], dtype=object), block[row : row + 1, column : column + 1])[0, 0]
        total = total + term
    return total


def _sign(order: tuple[int, ...]) -> int:
    swaps = sum(a > b for k, a in enumerate(order) for b in order[k + 1 :])
    return -1 if swaps % 2 else 1


def _cramer(block: np.ndarray, right: np.ndarray) -> np.ndarray:
    n = len(block)
    inverse = zeros(n, n)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(block, j, axis=0), i, axis=1)
            cofactor = _determinant(minor) if n > 1 else 1
            inverse[i, j] = -cofactor if (i + j) % 2 else cofactor
    scaled, determinant = dot(inverse, right), _determinant(block)
    for place in np.ndindex(scaled.shape):
        numerator: Any = scaled[place]
        scaled[place] = numerator / determinant if type(numerator) is not int or numerator else 0
    return scaled


def _orthogonal(block: np.ndarray, right: np.ndarray) -> np.ndarray:
    """block = V R with orthogonal columns V and unit upper triangular R; the right-hand sides are further columns."""
    n = len(block)
    V = np.concatenate([block, right], axis=1)
    R = zeros(n, V.shape[1])
    for k in range(n):
        unit = dot(V[:, k][None], V[:, k])
        R[k, k] = 1
        for j in range(k + 1, V.shape[1]):
            R[k, j] = (dot(V[:, k][None], V[:, j]) / unit)[0]
            V[:, j] = V[:, j] - dot(V[:, k][:, None], R[k, j : j + 1])
    result = R[:, n:].copy()
    for k in reversed(range(n - 1)):
        result[k] = result[k] - dot(R[k : k + 1, k + 1 : n], result[k + 1 :])[0]
    return result
