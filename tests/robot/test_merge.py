"""Merging fixed links changes neither poses nor inertia."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.support.random_robots import random_q, robots
from ytheta.robot.kinematics import link_poses
from ytheta.robot.robot import Robot


@given(robots(loops=False, symbols=False))
def test_merged_robots_have_the_same_poses_and_mass(robot: Robot) -> None:
    q = random_q(robot, 3)
    before, after = link_poses(robot, q), link_poses(robot.merged, q)
    for name, pose in before.items():
        np.testing.assert_allclose(after[name], pose, rtol=0, atol=1e-11)
    assert sum(link.inertia.mass for link in robot.merged.links) == pytest.approx(
        sum(link.inertia.mass for link in robot.links)
    )

    def moment(of: Robot, poses: dict[str, np.ndarray]) -> np.ndarray:
        """First and second moments of the whole robot in the base frame."""
        return sum((poses[x.name] @ x.inertia.pseudo @ poses[x.name].T for x in of.links), np.zeros((4, 4)))

    np.testing.assert_allclose(moment(robot.merged, after), moment(robot, before), rtol=1e-10, atol=1e-9)
