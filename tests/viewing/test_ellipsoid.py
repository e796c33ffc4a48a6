"""Inertia ellipsoids: against the inertia of a solid ellipsoid in closed form and by Monte Carlo integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ytheta.robot.inertia import Inertia
from ytheta.viewing.scene import make_ellipsoid

SEMI_AXES = np.array([0.1, 0.2, 0.4])
CENTER = np.array([0.3, -0.1, 0.2])
MASS = 3.0
TURN = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix()


def make_inertia() -> Inertia:
    """The inertia of a solid ellipsoid: m (b² + c²) / 5 about its axes."""
    squares = SEMI_AXES**2
    moments = MASS / 5.0 * (squares.sum() - squares)
    tensor = TURN @ np.diag(moments) @ TURN.T
    rows = tuple(tuple(float(each) for each in row) for row in tensor)
    return Inertia.about_center(MASS, tuple(CENTER.tolist()), rows)  # type: ignore[arg-type]


def test_an_ellipsoid_is_its_own_inertia_ellipsoid() -> None:
    ellipsoid = make_ellipsoid(make_inertia())
    assert ellipsoid is not None
    np.testing.assert_allclose(ellipsoid.semi_axes, SEMI_AXES, rtol=1e-9)
    np.testing.assert_allclose(ellipsoid.center, CENTER, rtol=1e-12)
    assert ellipsoid.consistent
    assert np.linalg.det(ellipsoid.axes) == pytest.approx(1.0)
    np.testing.assert_allclose(ellipsoid.matrix, TURN @ np.diag(SEMI_AXES**2) @ TURN.T, atol=1e-12)


def test_random_points_inside_have_this_inertia() -> None:
    ellipsoid = make_ellipsoid(make_inertia())
    assert ellipsoid is not None
    rng = np.random.default_rng(1)
    ball = rng.normal(size=(200_000, 3))
    ball *= (rng.uniform(size=200_000) ** (1.0 / 3.0) / np.linalg.norm(ball, axis=1))[:, None]
    points = ellipsoid.center + (ball * ellipsoid.semi_axes) @ ellipsoid.axes.T
    second = MASS * points.T @ points / len(points)
    tensor = np.trace(second) * np.eye(3) - second
    np.testing.assert_allclose(tensor, make_inertia().tensor, atol=5e-3)
    larger = MASS * (1.1 * points).T @ (1.1 * points) / len(points)  # the twin
    assert abs(np.trace(larger) * np.eye(3) - larger - np.array(make_inertia().tensor)).max() > 0.05


def test_bodies_without_volume_and_impossible_bodies() -> None:
    assert make_ellipsoid(Inertia()) is None
    point = make_ellipsoid(Inertia.point_mass(2.0, (1.0, 0.0, 0.0)))
    assert point is not None
    np.testing.assert_allclose(point.semi_axes, 0.0, atol=1e-7)
    impossible = make_ellipsoid(Inertia((1.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.1, 0.0, 0.0, 0.5)))
    assert impossible is not None
    assert not impossible.consistent
    assert (impossible.semi_axes >= 0.0).all()
