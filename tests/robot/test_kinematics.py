"""Poses of links, and changes of link frames."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import example_robots
from tests.support.revolute_chains import revolute_chain
from ytheta.errors import InputError
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.kinematics import change_link_frames, link_poses
from ytheta.robot.reading.load import load


def test_wrong_number_of_positions() -> None:
    with pytest.raises(InputError, match="has 1 movable joint, but q has 2 entries"):
        link_poses(revolute_chain(("q1", "base", "arm")), np.zeros(2))


def test_changed_link_frames_describe_the_same_robot() -> None:
    robot = load(example_robots.urdf("panda.urdf"), snap=0.0)
    frames = {"panda_link0": Frame.shift(0.1, 0.2, 0.3), "panda_link3": Frame.from_rpy(0.1, 0.2, 0.3)}
    moved = change_link_frames(robot, frames)
    q = np.linspace(-1.0, 1.0, len(robot.movable))
    before, after = link_poses(robot, q), link_poses(moved, q)
    base = moved.mounting.matrix
    for link in robot.links:
        expected = before[link.name] @ frames.get(link.name, IDENTITY).matrix
        np.testing.assert_allclose(base @ after[link.name], expected, rtol=0.0, atol=1e-12)
    with pytest.raises(Exception, match="no link 'panda_link33'"):
        change_link_frames(robot, {"panda_link33": IDENTITY})
