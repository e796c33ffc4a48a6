"""Poses spread over the limits: even, within the limits, closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.revolute_chains import revolute_chain
from ytheta.excitation.clearance.self_collision import spread_poses
from ytheta.robot.kinematics import link_poses
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.parts import Coupling, Limits
from ytheta.robot.reading.load import load


def test_poses_fill_the_limits_evenly() -> None:
    robot = load("panda")
    q = spread_poses(robot, 1000)
    assert q.shape == (1000, 7)
    limits = np.array([(joint.limits.lower, joint.limits.upper) for joint in robot.movable])
    share = (q - limits[:, 0]) / (limits[:, 1] - limits[:, 0])
    for column in share.T:
        counts, _ = np.histogram(column, bins=10, range=(0.0, 1.0))
        assert counts.sum() == 1000
        assert counts == pytest.approx(100, abs=5)


def test_poses_are_the_same_in_every_run() -> None:
    robot = load("iiwa14")
    assert (spread_poses(robot, 50) == spread_poses(robot, 50)).all()


def test_joints_without_limits_make_one_turn_and_couplings_hold() -> None:
    arm = revolute_chain(("q1", "base", "arm"), ("q2", "arm", "hand"), ("q3", "hand", "tip"))
    joints = (*arm.joints[:2], replace(arm.joints[2], limits=Limits(lower=1.0)))
    robot = replace(arm, joints=joints, couplings=(Coupling("q2", (("q1", -0.5),), 0.1),), actuated=("q3", "q1"))
    q = spread_poses(robot, 400)
    assert q[:, 1] == pytest.approx(0.1 - 0.5 * q[:, 0])
    assert np.ptp(q[:, 0]) == pytest.approx(2.0 * np.pi, rel=0.02)
    assert q[:, 0].min() < -3.0
    assert q[:, 2].min() == pytest.approx(1.0, abs=0.05)
    assert q[:, 2].max() == pytest.approx(1.0 + 2.0 * np.pi, abs=0.05)


def test_loops_are_closed() -> None:
    robot = load("five-bar")
    q = spread_poses(robot, 100)
    assert len(q) > 10
    for sample in q[:10]:
        actuated = {name: sample[[j.name for j in robot.movable].index(name)] for name in robot.actuated}
        closed = close_loops(robot, actuated)
        poses, expected = link_poses(robot, sample), link_poses(robot, closed.q)
        for link in robot.links:
            assert poses[link.name] == pytest.approx(expected[link.name], abs=1e-6)
