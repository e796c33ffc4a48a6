"""Smallest capsules: everything is inside, and known optima are found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from ytheta.excitation.clearance.link_capsules import Balls, Capsule, fit_capsule
from ytheta.robot.frame import Frame


def place(points: np.ndarray, seed: int) -> np.ndarray:
    """The points in another position and orientation, so that no axis is an axis of the coordinates."""
    rng = np.random.default_rng(seed)
    rotation = np.array(Frame.from_quaternion(*rng.normal(size=4)).rotation)
    return points @ rotation.T + rng.normal(size=3)


def assert_encloses(capsule: Capsule, balls: Balls) -> None:
    assert (capsule.measure_distances(balls.points) + balls.radii).max() <= 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_the_capsule_of_points_on_a_capsule_is_this_capsule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(600, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = 0.07 * directions
    points[:, 2] += np.where(points[:, 2] > 0.0, 0.15, -0.15)
    balls = Balls(place(points, seed), np.zeros(600))
    capsule = fit_capsule(balls)
    assert_encloses(capsule, balls)
    assert capsule.volume == pytest.approx(math.pi * 0.07**2 * (0.3 + 4 / 3 * 0.07), rel=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_balls_along_a_line_have_the_capsule_around_them(seed: int) -> None:
    points = place(np.outer(np.linspace(0.0, 0.4, 5), [0.0, 0.0, 1.0]), seed)
    balls = Balls(points, np.full(5, 0.05))
    capsule = fit_capsule(balls)
    assert_encloses(capsule, balls)
    assert capsule.radius == pytest.approx(0.05, rel=0.01)
    assert capsule.length == pytest.approx(0.4, rel=0.02)


def best_cylinder_volume(radius: float, length: float) -> float:
    """The smallest coaxial capsule around a cylinder, by a search over its radius."""

    def volume(r: float) -> float:
        return math.pi * r**2 * (max(length - 2.0 * math.sqrt(r**2 - radius**2), 0.0) + 4 / 3 * r)

    upper = math.hypot(radius, length / 2.0)
    return float(minimize_scalar(volume, bounds=(radius, upper), method="bounded").fun)


@pytest.mark.parametrize(("radius", "length"), [(0.05, 0.4), (0.1, 0.2), (0.1, 0.05)])
def test_volume_around_a_cylinder_is_nearly_the_smallest(radius: float, length: float) -> None:
    angles = np.linspace(0.0, 2.0 * math.pi, 40, endpoint=False)
    rim = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(40)], axis=1)
    ends = np.array([0.0, 0.0, length / 2.0])
    balls = Balls(place(np.concatenate([rim - ends, rim + ends]), 7), np.zeros(80))
    capsule = fit_capsule(balls)
    assert_encloses(capsule, balls)
    assert capsule.volume <= 1.03 * best_cylinder_volume(radius, length)


def test_points_in_a_plane_and_a_single_point() -> None:
    flat = Balls(
        np.concatenate([np.random.default_rng(3).normal(size=(60, 2)), np.ones((60, 1))], axis=1), np.zeros(60)
    )
    assert_encloses(fit_capsule(flat), flat)
    single = Balls(np.ones((1, 3)), np.array([0.3]))
    capsule = fit_capsule(single)
    assert_encloses(capsule, single)
    assert capsule.radius == pytest.approx(0.3, rel=1e-6)


def test_a_smaller_capsule_does_not_enclose() -> None:
    balls = Balls(np.random.default_rng(4).normal(size=(100, 3)), np.zeros(100))
    capsule = fit_capsule(balls)
    with pytest.raises(AssertionError):
        assert_encloses(Capsule(capsule.start, capsule.end, 0.999 * capsule.radius), balls)
