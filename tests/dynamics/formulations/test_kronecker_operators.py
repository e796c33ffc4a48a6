"""The operators of section 2: against NumPy and the identities of the paper."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.dynamics.formulations.kronecker import (
    combine,
    multiply_kronecker,
    trace_columns,
    trace_vector,
    unvectorize,
    vectorize,
)
from ytheta.dynamics.mechanism import exact_array


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def test_vectorization() -> None:
    A = draw(3, 5)
    assert vectorize(A)[1 + 2 * 3] == A[1, 2]  # b_k = a_ij with k = i + (j - 1) m
    assert (unvectorize(vectorize(A), 3) == A).all()


def test_kronecker_product() -> None:
    A, B, C = draw(3, 4), draw(4, 2, seed=1), draw(2, 5, seed=2)
    assert (multiply_kronecker(A, B).astype(float) == np.kron(A, B)).all()
    product = multiply_kronecker(C.T, A).astype(float)
    assert product @ vectorize(B) == pytest.approx(vectorize(A @ B @ C))
    assert product @ vectorize(-B) != pytest.approx(vectorize(A @ B @ C))


def test_traces() -> None:
    A = draw(4, 4)
    assert trace_vector(vectorize(A)) == pytest.approx(np.trace(A))
    wide, B = draw(9, 8), draw(2, 4, seed=1)  # proposition 1
    expected = trace_vector(wide @ vectorize(B))
    assert trace_columns(wide).astype(float) @ vectorize(B) == pytest.approx(expected)
    shifted = np.roll(wide, 1, axis=0)
    assert trace_columns(shifted).astype(float) @ vectorize(B) != pytest.approx(expected)


def test_row_trace_of_a_kronecker_product() -> None:
    """rtr(A ⊗ B) ν(J) = tr(B J Aᵀ): with it, (5) becomes (13) and (7) becomes (16)."""
    A, B, J = draw(4, 4), draw(4, 4, seed=1), draw(4, 4, seed=2)
    row = trace_columns(multiply_kronecker(A, B)).astype(float)
    assert row @ vectorize(J) == pytest.approx(np.trace(B @ J @ A.T))
    assert row @ vectorize(J) != pytest.approx(np.trace(A @ J @ B.T))
    assert row == pytest.approx(vectorize(B.T @ A))


def test_combinations_of_matrices() -> None:
    A, B, C = draw(4, 3), draw(4, 3, seed=1), draw(4, 3, seed=2)
    assert combine((A, B, C), (2.0, 1, -0.5)).astype(float) == pytest.approx(2.0 * A + B - 0.5 * C)
    assert combine((A, B, C), (2.0, 1, 0.5)).astype(float) != pytest.approx(2.0 * A + B - 0.5 * C)


def test_structural_zeros_stay_zeros() -> None:
    A, B = exact_array(np.diag([1.0, 0.0])), exact_array(np.array([[0.3, 0.0], [0.0, 0.0]]))
    product = multiply_kronecker(A, B)
    assert product[0, 0] == 0.3
    assert [type(x) for x in product[1:].ravel()] == [int] * 12
    assert [type(x) is int for x in trace_columns(product)] == [False, True, True, True]
    assert type(combine((B, B), (0.5, 0.25))[1, 1]) is int
