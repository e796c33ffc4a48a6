"""Solution of small linear systems in a graph, where pivots cannot be chosen by their values.

The matrix is permuted to block triangular form by its structure alone. In most mechanisms a block is one loop, with two
rows if the loop is planar. A block of up to three rows is solved by Cramer's rule, which divides by the determinant
only. A larger block is solved by orthogonalization: modified Gram-Schmidt without square roots, which also transforms
the right-hand sides. Orthogonalization divides by squared lengths, which vanish only if the block is singular. Both
methods solve every regular system. If the matrix is singular, the result is not finite.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.dynamics.vectors import dot, zeros
from ytheta.shapes import Shaped

if TYPE_CHECKING:
    import casadi

MAX_CRAMER_ROWS = 3  # for four rows, Cramer's rule takes three times as many operations as orthogonalization


def solve(
    matrix: Shaped[np.ndarray, "rows rows"], right: Shaped[np.ndarray, "rows columns"]
) -> Shaped[np.ndarray, "rows columns"]:
    """matrix^-1 right, for object arrays of scalars in which structural zeros are the integer 0.

    Raise ValueError if the matrix is singular for all values of its structurally non-zero entries.
    """
    result = zeros(*right.shape)
    solved: list[int] = []
    for rows, columns in find_blocks(matrix):
        known = dot(matrix[np.ix_(rows, solved)], result[solved]) if solved else zeros(len(rows), right.shape[1])
        block = matrix[np.ix_(rows, columns)]
        solve_block = _solve_by_cramer if len(rows) <= MAX_CRAMER_ROWS else _solve_by_orthogonalization
        result[columns] = solve_block(block, right[rows] - known)
        solved += columns
    return result


def find_blocks(matrix: Shaped[np.ndarray, "rows rows"]) -> list[tuple[list[int], list[int]]]:
    """Rows and columns of the diagonal blocks, in the order in which they can be solved."""
    import casadi

    if not len(matrix):
        return []
    nonzero = np.array([[type(entry) is not int or entry != 0 for entry in row] for row in matrix])
    pattern = casadi.sparsify(casadi.DM(nonzero.astype(float))).sparsity()
    if casadi.sprank(casadi.DM(pattern, 1.0)) < len(matrix):
        raise ValueError("the equations do not determine these unknowns: their structure is singular")
    _, row, column, row_ends, column_ends, _, _ = pattern.btf()
    return [
        (list(row[row_ends[k] : row_ends[k + 1]]), list(column[column_ends[k] : column_ends[k + 1]]))
        for k in range(len(row_ends) - 1)
    ]


def extract_entries(matrix: casadi.SX) -> np.ndarray:
    """Entries of a CasADi matrix as an object array; structural zeros and the constants 0, 1, -1 become integers."""
    result = zeros(*matrix.shape)
    rows, columns = matrix.sparsity().get_triplet()
    for row, column in zip(rows, columns, strict=True):
        value = matrix[row, column]
        constant = value.is_constant() and float(value) in (0.0, 1.0, -1.0)
        result[row, column] = int(float(value)) if constant else value
    return result


def _compute_determinant(block: np.ndarray) -> Any:
    """The determinant, by the Leibniz formula."""
    total: Any = 0
    for permutation in permutations(range(len(block))):
        term: Any = _compute_permutation_sign(permutation)
        for row, column in enumerate(permutation):
            term = dot(np.array([[term]], dtype=object), block[row : row + 1, column : column + 1])[0, 0]
        total = total + term
    return total


def _compute_permutation_sign(permutation: tuple[int, ...]) -> int:
    inversions = sum(a > b for k, a in enumerate(permutation) for b in permutation[k + 1 :])
    return -1 if inversions % 2 else 1


def _solve_by_cramer(block: np.ndarray, right: np.ndarray) -> np.ndarray:
    n = len(block)
    adjugate = zeros(n, n)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(block, j, axis=0), i, axis=1)
            cofactor = _compute_determinant(minor) if n > 1 else 1
            adjugate[i, j] = -cofactor if (i + j) % 2 else cofactor
    result, determinant = dot(adjugate, right), _compute_determinant(block)
    for place in np.ndindex(result.shape):
        numerator: Any = result[place]
        result[place] = numerator / determinant if type(numerator) is not int or numerator else 0
    return result


def _solve_by_orthogonalization(block: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with block = V R, where the columns of V are orthogonal and R is unit upper triangular.

    ``right`` is appended to the block as further columns.
    """
    n = len(block)
    V = np.concatenate([block, right], axis=1)
    R = zeros(n, V.shape[1])
    for k in range(n):
        squared_length = dot(V[:, k][None], V[:, k])
        R[k, k] = 1
        for j in range(k + 1, V.shape[1]):
            R[k, j] = (dot(V[:, k][None], V[:, j]) / squared_length)[0]
            V[:, j] = V[:, j] - dot(V[:, k][:, None], R[k, j : j + 1])
    result = R[:, n:].copy()
    for k in reversed(range(n - 1)):
        result[k] = result[k] - dot(R[k : k + 1, k + 1 : n], result[k + 1 :])[0]
    return result
