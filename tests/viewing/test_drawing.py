"""Drawings: ellipsoids and lines in the world at a recorded pose."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta as yt
from ytheta.robot.inertia import Inertia
from ytheta.viewing.scene import make_drawing

POSES = np.array([[np.nan] * 7, [0.1, -0.4, 0.3, -1.2, 0.2, 1.0, 0.5]])


def test_ellipsoids_stand_at_the_centres_of_mass() -> None:
    robot = yt.load("panda")
    heavier = robot.with_inertias(
        {link.name: Inertia(tuple(2.0 * x for x in link.inertia.parameters)) for link in robot.links}
    )
    drawing = make_drawing(robot, heavier, POSES)
    assert drawing is not None
    poses = yt.link_poses(robot, POSES[1])
    for before, after in zip(drawing.before, drawing.after, strict=True):
        center = poses[before.link] @ np.append(robot.merged.link(before.link).inertia.center, 1.0)
        np.testing.assert_allclose(before.center, (robot.mounting.matrix @ center)[:3], atol=1e-12)
        assert after.mass == pytest.approx(2.0 * before.mass)
        np.testing.assert_allclose(after.matrix, before.matrix, atol=1e-12)  # the same density distribution
    assert robot.merged.base.name not in {each.link for each in drawing.before}


def test_projections_follow_from_the_matrix() -> None:
    """The extent of an ellipsoid along a direction d is sqrt(d^T M d): what the script of the page draws."""
    robot = yt.load("panda")
    drawing = make_drawing(robot, robot, POSES)
    assert drawing is not None
    rng = np.random.default_rng(1)
    sphere = rng.normal(size=(20_000, 3))
    sphere /= np.linalg.norm(sphere, axis=1)[:, None]
    direction = np.array([0.6, 0.64, 0.48])
    for each in drawing.after:
        values, axes = np.linalg.eigh(each.matrix)
        surface = (sphere * np.sqrt(np.maximum(values, 0.0))) @ axes.T
        assert np.sqrt(direction @ each.matrix @ direction) == pytest.approx((surface @ direction).max(), rel=0.01)


def test_no_pose_no_drawing() -> None:
    robot = yt.load("panda")
    assert make_drawing(robot, robot, POSES[:1]) is None
