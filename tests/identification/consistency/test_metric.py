"""Coordinates of a metric: exact distances for badly conditioned and singular metrics."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.identification.consistency.program import Whitening


def draw_root(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """R with these singular values."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    return np.diag(values) @ Q


@pytest.mark.parametrize("scales", [np.ones(12), np.logspace(-3, 3, 12), np.full(12, 1e-12)])
def test_the_metric_is_the_identity(scales: np.ndarray) -> None:
    R = draw_root(np.logspace(0, 3, 12)) * scales  # the units of the variables differ
    whitening = Whitening.of(R.T @ R, np.ones(12))
    assert whitening.rank == 12
    assert not whitening.d0.any()
    product = R @ whitening.B
    np.testing.assert_allclose(product.T @ product, np.eye(12), atol=1e-8)


def test_directions_without_cost_start_at_the_reference() -> None:
    values = np.logspace(0, 3, 12)
    values[:4] = 0.0
    R, start = draw_root(values), np.arange(12.0)
    whitening = Whitening.of(R.T @ R, start)
    assert whitening.rank == 8
    B_m, B_0 = whitening.B[:, :8], whitening.B[:, 8:]
    np.testing.assert_allclose((R @ B_m).T @ (R @ B_m), np.eye(8), atol=1e-8)
    np.testing.assert_allclose(R @ B_0, 0.0, atol=1e-6 * abs(B_0).max())
    np.testing.assert_allclose(R @ whitening.d0, 0.0, atol=1e-9)
    null_space = np.linalg.svd(R)[2][8:]
    np.testing.assert_allclose(null_space @ whitening.d0, null_space @ start, rtol=1e-9)
    # A step of one along them costs less than a step of one along any other direction.
    assert np.linalg.norm(B_0, axis=0).min() > 10.0 / values[4]


def test_variables_without_any_cost() -> None:
    G = np.zeros((5, 5))
    G[:2, :2] = [[2.0, 1.0], [1.0, 3.0]]
    G[2, 2] = 1e-18  # a rounding error
    whitening = Whitening.of(G, np.arange(5.0))
    assert whitening.rank == 2
    np.testing.assert_allclose(whitening.d0, [0.0, 0.0, 2.0, 3.0, 4.0], atol=1e-12)
    nothing = Whitening.of(np.zeros((3, 3)), np.ones(3))
    assert nothing.rank == 0
    np.testing.assert_allclose(nothing.d0, 1.0)
    assert np.linalg.matrix_rank(nothing.B) == 3


def test_no_metric() -> None:
    with pytest.raises(InputError, match=r"has the eigenvalue -1; give a sum"):
        Whitening.of(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2))
