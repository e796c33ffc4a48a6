"""Obstacles: what they refuse, and which points are inside."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.excitation.clearance.obstacle import Obstacle, ObstacleKind, make_floor, make_wall
from ytheta.robot.frame import Frame


def test_depth_of_points() -> None:
    shift = Frame.shift(1.0, 0.0, 0.0)
    assert Obstacle("a", ObstacleKind.SPHERE, (0.5,), shift).measure_depth(np.zeros(3)) == pytest.approx(-0.5)
    assert Obstacle("b", ObstacleKind.BOX, (2.4, 1.0, 1.0), shift).measure_depth(np.zeros(3)) == pytest.approx(0.2)
    capsule = Obstacle("c", ObstacleKind.CAPSULE, (0.3, 2.0), shift)
    assert capsule.measure_depth(np.array([1.0, 0.0, 1.2])) == pytest.approx(0.1)
    assert make_floor(0.4).measure_depth(np.array([3.0, 2.0, 0.1])) == pytest.approx(0.3)


def test_a_wall_is_free_in_front() -> None:
    wall = make_wall((1.0, 1.0, 0.0), (-2.0, 0.0, 0.0))
    assert wall.measure_depth(np.array([0.2, 5.0, 3.0])) == pytest.approx(-0.8)
    assert wall.measure_depth(np.array([1.5, 5.0, 3.0])) == pytest.approx(0.5)
    with pytest.raises(InputError, match="the normal of 'wall' is zero"):
        make_wall((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@pytest.mark.parametrize("size", [(), (0.1, 0.2), (-0.1,), (0.0,), (math.nan,), (math.inf,)])
def test_a_wrong_size_is_refused(size: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match=r"obstacle 'ball': its size is .*; a sphere needs radius in metres"):
        Obstacle("ball", ObstacleKind.SPHERE, size)
