"""Spatial algebra in Walker's notation, against 6 x 6 matrices."""

from __future__ import annotations

import numpy as np

from tests.support.states import close
from tests.support.walker_tree import cross_matrix, walker_inertia
from ytheta.dynamics.formulations import spatial_tree
from ytheta.dynamics.mechanism import exact_array


def draw_transform(seed: int = 0) -> spatial_tree.SpatialTransform:
    R, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return spatial_tree.SpatialTransform(
        exact_array((R * np.sign(np.linalg.det(R))).tolist()), exact_array([0.3, -0.7, 1.1])
    )


def test_the_spatial_transpose_is_the_inverse() -> None:
    X = draw_transform()
    product = spatial_tree.spatial_transpose(X.matrix) @ X.matrix
    assert close(product, np.eye(6))
    assert not close(X.matrix.T @ X.matrix, np.eye(6))
    columns = np.random.default_rng(1).normal(size=(6, 4)).astype(object)
    assert close(X.up(columns), X.matrix @ columns)
    assert close(X.down(columns[:, 0]), spatial_tree.spatial_transpose(X.matrix) @ columns[:, 0])


def test_power_is_the_same_in_every_frame() -> None:
    X = draw_transform()
    v, f = np.random.default_rng(2).normal(size=(2, 6)).astype(object)
    power = spatial_tree.spatial_transpose(v[:, None]) @ f
    transformed = spatial_tree.spatial_transpose(X.up(v[:, None])) @ X.up(f[:, None])[:, 0]
    assert close(transformed, power)


def test_columns_equal_the_matrices_of_the_paper() -> None:
    rng = np.random.default_rng(3)
    v, u, theta = rng.normal(size=6), rng.normal(size=6), rng.normal(size=10)
    inertia = walker_inertia(theta)
    assert close(spatial_tree.momentum_columns(v.astype(object)) @ theta, inertia @ v)
    symmetric = (cross_matrix(v) @ inertia @ u + cross_matrix(u) @ inertia @ v) / 2
    assert close(spatial_tree.gyroscopic_columns(v.astype(object), u.astype(object)) @ theta, symmetric)
    same = v.astype(object)
    assert close(spatial_tree.gyroscopic_columns(same, same) @ theta, cross_matrix(v) @ inertia @ v)
