"""Operators on matrices: the column operator ν, the Kronecker product ⊗, traces of vectors and row-traces.

Identity      ν(A B C) = (Cᵀ ⊗ A) ν(B);  tr(A ν(B)) = rtr(A) ν(B);  hence tr(B J Aᵀ) = rtr(A ⊗ B) ν(J)
Reference     [fernandez2000] sec. 2, (2), (3), definitions 1 and 2, proposition 1

Entries are scalars of any kind. Integers 0, 1 and -1 are structural, as in ``vectors.dot``: products with them cost
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.shapes import Shaped

Matrix: TypeAlias = Shaped[np.ndarray, "rows columns"]


def vectorize(A: Matrix) -> Shaped[np.ndarray, "entries"]:
    """ν(A): the columns of A, stacked (2)."""
    return A.T.reshape(-1)


def unvectorize(b: Shaped[np.ndarray, "entries"], rows: int) -> Matrix:
    """ν⁻¹(b): the matrix with this number of rows (3)."""
    return b.reshape(-1, rows).T


def multiply_kronecker(A: Matrix, B: Shaped[np.ndarray, "p q"]) -> Shaped[np.ndarray, "rp cq"]:
    """A ⊗ B."""
    blocks = zeros(len(A), len(B), A.shape[1], B.shape[1])
    for i, j in np.ndindex(A.shape):
        blocks[i, :, j, :] = dot(B.reshape(-1, 1), A[i, j : j + 1]).reshape(B.shape)
    return blocks.reshape(A.shape[0] * B.shape[0], A.shape[1] * B.shape[1])


def trace_vector(b: Shaped[np.ndarray, "entries"]) -> Any:
    """tr(b) = tr(ν⁻¹(b)) of a vector with a square number of entries (definition 1)."""
    return sum(unvectorize(b, round(len(b) ** 0.5)).diagonal())


def trace_columns(A: Matrix) -> Shaped[np.ndarray, "columns"]:
    """rtr(A), the row-trace: the traces of the columns of A (definition 2)."""
    return array([trace_vector(column) for column in A.T])


def combine(matrices: Sequence[np.ndarray], factors: Sequence[Any]) -> Matrix:
    """Σ_i factor_i A_i of at least one matrix, as ν⁻¹([ν(A_1) ν(A_2) …] factors)."""
    columns = np.stack([vectorize(A) for A in matrices], axis=1)
    return unvectorize(dot(columns, array(factors)), len(matrices[0]))
