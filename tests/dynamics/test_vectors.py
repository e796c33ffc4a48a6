"""Algebra on object arrays: equal to NumPy's, and free of operations on structural zeros and ones."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

from ytheta.dynamics import vectors
from ytheta.dynamics.mechanism import exact_array


def draw_array(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(object)


def test_products_equal_those_of_numpy() -> None:
    A, B, a, b = draw_array(3, 4), draw_array(4, 2, seed=1), draw_array(3, seed=2), draw_array(3, seed=3)
    assert np.allclose(vectors.dot(A, B).astype(float), (A @ B).astype(float))
    expected = np.cross(a.astype(float), b.astype(float))
    assert np.allclose(vectors.cross(a, b).astype(float), expected)
    assert np.allclose(vectors.dot(vectors.skew(a), b).astype(float), expected)
    assert vectors.inner(a, b) == pytest.approx(a @ b)
    assert vectors.sum_products((a[0], b[0]), (a[1], b[1])) == pytest.approx(a[0] * b[0] + a[1] * b[1])


def test_structural_zeros_stay_and_ones_cost_nothing() -> None:
    x, y = casadi.SX.sym("x"), casadi.SX.sym("y")
    product = vectors.dot(exact_array([[1.0, 0.0], [0.0, 0.0], [-1.0, 2.0]]), vectors.array([x, y]))
    assert product[0].is_leaf()
    assert type(product[1]) is int
    assert casadi.is_equal(product[2], -x + 2 * y, 3)


def test_operations_on_casadi_scalars_are_those_of_python_operators() -> None:
    """Named operations give the expressions that the operators give; expressions of another order differ."""
    x, y, z = (casadi.SX.sym(name) for name in "xyz")
    a, b = vectors.array([x, 2.5, z]), vectors.array([y, z, 1])
    expected = x * y + 2.5 * z + z * 1
    assert casadi.is_equal(vectors.inner(a, b), expected, 5)
    assert not casadi.is_equal(vectors.inner(b, a), y * z + 2.5 * x + z, 5)
    product = vectors.cross(vectors.array([x, y, z]), vectors.array([z, x, 0.5]))
    for entry, value in zip(product, (y * 0.5 - z * x, z * z - x * 0.5, x * x - y * z), strict=True):
        assert casadi.is_equal(entry, value, 5)
    total = vectors.add(vectors.array([x, 0, 0]), vectors.array([y, y, 0]), vectors.array([0.5, 0, 0]))
    assert casadi.is_equal(total[0], x + y + 0.5, 5)
    assert not casadi.is_equal(total[0], x + (y + 0.5), 5)
    assert casadi.is_equal(total[1], y, 5)
    assert type(total[2]) is int


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, 0.8)])
def test_rotation_about_an_axis(axis: tuple[float, ...]) -> None:
    """The rotation equals Rodrigues' formula; the rotation by the opposite angle does not."""
    c, s = np.cos(0.7), np.sin(0.7)
    R = vectors.axis_rotation(exact_array(axis), c, s).astype(float)
    K = np.cross(np.eye(3), np.array(axis))
    assert np.allclose(R, np.eye(3) + s * K + (1 - c) * K @ K)
    assert not np.allclose(R, np.eye(3) - s * K + (1 - c) * K @ K)


def test_centripetal_matrix_is_symmetric_in_two_velocities() -> None:
    w, u, x = (draw_array(3, seed=seed) for seed in range(3))
    product = vectors.cross(w, vectors.cross(u, x)) + vectors.cross(u, vectors.cross(w, x))
    assert np.allclose(vectors.dot(vectors.centripetal_matrix(w, u), x).astype(float), 0.5 * product.astype(float))
    assert np.allclose(
        vectors.centripetal_matrix(w, w).astype(float), np.outer(w, w).astype(float) - float(w @ w) * np.eye(3)
    )
