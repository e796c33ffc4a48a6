"""Merging fixed links changes neither poses nor inertia."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.support.random_robots import random_q, robots
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Joint, JointKind, Link, Loop, Marker
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


def test_loops_and_markers_on_merged_links_stay_where_they_are() -> None:
    """A cut joint connects two links that are fixed to others; both of its frames keep their poses."""
    seat = Frame.shift(0.3, 0.1, -0.2) @ Frame.from_rpy(0.2, -0.5, 0.4)
    joints = (
        Joint("q1", JointKind.REVOLUTE, "base", "l1", Frame.shift(x=0.5)),
        Joint("q2", JointKind.REVOLUTE, "base", "l2", Frame.from_rpy(0.1, 0.2, 0.3)),
        Joint("f1", JointKind.FIXED, "l1", "flange", Frame.shift(y=0.7) @ Frame.from_rpy(1.0, 0.0, 0.3)),
        Joint("f2", JointKind.FIXED, "l2", "hook", Frame.shift(z=0.4) @ Frame.from_rpy(0.0, 0.6, 0.0)),
    )
    cut = Joint("cut", JointKind.REVOLUTE, "flange", "hook", Frame.from_rpy(0.3, 0.1, 0.0), seat=seat)
    links = tuple(Link(name) for name in ("base", "l1", "l2", "flange", "hook"))
    robot = Robot("pair", links, joints, loops=(Loop(cut),), markers=(Marker("tool", "hook", seat),))
    q = np.array([0.4, -0.9])

    def cut_frames(of: Robot) -> list[np.ndarray]:
        """The frames of the cut joint on its parent and on its child, and the marker, seen from the base."""
        poses, joint = link_poses(of, q), of.loops[0].joint
        on_parent = poses[joint.parent] @ joint.placement.matrix
        return [on_parent, poses[joint.child] @ joint.seat.inverse().matrix, poses["tool"]]

    merged = robot.merged
    assert [link.name for link in merged.links] == ["base", "l1", "l2"]
    assert (merged.loops[0].joint.parent, merged.loops[0].joint.child) == ("l1", "l2")
    for before, after in zip(cut_frames(robot), cut_frames(merged), strict=True):
        np.testing.assert_allclose(after, before, rtol=0.0, atol=1e-15)
