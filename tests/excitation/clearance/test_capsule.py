"""Capsules: volume, other frames, distances of points."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ytheta.excitation.clearance.link_capsules import Capsule
from ytheta.robot.frame import Frame


def test_volume_is_the_share_of_points_inside() -> None:
    capsule = Capsule((0.1, 0.0, -0.2), (0.1, 0.3, 0.2), 0.15)
    points = np.random.default_rng(1).uniform(-1.0, 1.0, size=(400_000, 3))
    share = (capsule.measure_distances(points) < 0.0).mean()
    assert capsule.volume == pytest.approx(8.0 * share, rel=0.02)  # about 3 standard deviations of the draw
    assert Capsule(capsule.start, capsule.end, 0.16).volume != pytest.approx(8.0 * share, rel=0.02)


def test_distance_of_points_beside_and_beyond_the_axis() -> None:
    capsule = Capsule((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.2)
    points = np.array([[0.5, 0.0, 0.5], [0.0, 0.0, 2.0], [0.0, 3.0, -4.0], [0.0, 0.0, 0.5]])
    assert capsule.measure_distances(points) == pytest.approx([0.3, 0.8, 4.8, -0.2])
    sphere = Capsule((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.5)
    assert sphere.is_sphere
    assert sphere.measure_distances(points[:1]) == pytest.approx([math.hypot(0.5, 0.5) - 0.5])


def test_another_frame_moves_the_ends() -> None:
    frame = Frame.shift(1.0, 2.0, 3.0) @ Frame.turn((0.0, 0.0, 1.0), math.pi / 2)
    moved = Capsule((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), 0.1).seen_from(frame)
    assert moved.start == pytest.approx((1.0, 3.0, 3.0))
    assert moved.end == pytest.approx((0.0, 2.0, 3.0))
