"""Sampled poses: closed loops, the same in every run, and spread over the workspace."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.loop_robots import CATALOG
from ytheta.identifiability.sampling import MIN_POSES, fill_cube, sample_poses
from ytheta.robot.loops.equations import compute_closure_jacobians, compute_closure_residuals


@pytest.mark.parametrize("name", CATALOG)
def test_loops_are_closed_and_stay_closed_along_the_tangent(name: str) -> None:
    robot = ytheta.load(name).numeric.merged
    sample = sample_poses(robot, length=1.0)
    assert len(sample.x) >= MIN_POSES
    assert sample.E is not None
    assert np.abs(compute_closure_residuals(robot, sample.x)).max() < robot.closure_tolerance
    J = compute_closure_jacobians(robot, sample.x)
    change = np.abs(J @ sample.E).max(axis=(1, 2))
    assert (change < 1e-6 * (1.0 + np.abs(sample.E).max(axis=(1, 2)))).all()
    assert np.abs(J @ np.ones((sample.x.shape[1], 1))).max() > 1e-2


def test_a_robot_without_loops_has_no_tangent() -> None:
    sample = sample_poses(ytheta.load("panda"), length=1.0)
    assert sample.E is None
    assert np.ptp(sample.x, axis=0).min() > np.pi
    chosen = np.arange(len(sample.x)) < 5
    assert np.array_equal(sample.select(chosen).x, sample.x[:5])


def test_points_fill_the_cube() -> None:
    points = fill_cube(4000, 3)
    assert np.array_equal(points, fill_cube(4000, 3))
    counts = np.histogramdd(points, bins=4, range=[(0.0, 1.0)] * 3)[0]
    assert counts.min() > 0.7 * 4000 / 64
    assert counts.max() < 1.3 * 4000 / 64
