"""Jacobians of frames and torques of wrenches against Pinocchio, and against differences of poses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tests.support.formulation_cases import ALL_ROBOTS, fork, load, robot_without_joints
from tests.support.pinocchio_peer import peer
from tests.support.random_robots import random_q, robots
from tests.support.states import close
from ytheta.dynamics.jacobians import Axes, compute_frame_jacobian, compute_wrench_torque, find_frame
from ytheta.dynamics.mechanism import build_mechanism, numeric_motion
from ytheta.errors import UnknownNameError
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Joint, JointKind, Link, Marker
from ytheta.robot.robot import Robot


def list_frames(robot: Robot) -> list[str]:
    """The last links, which are tools behind fixed joints in many files, some other links, and all markers."""
    links = [link.name for link in robot.links]
    return [links[0], *links[len(links) // 2 : len(links) // 2 + 2], *links[-2:], *(m.name for m in robot.markers)]


def compute_jacobian(robot: Robot, q: np.ndarray, frame: str, axes: Axes) -> np.ndarray:
    mech = build_mechanism(robot)
    J = compute_frame_jacobian(mech, numeric_motion(q, 0 * q, 0 * q), find_frame(mech, frame), axes)
    return J.astype(float)


def compute_torque(robot: Robot, q: np.ndarray, frame: str, wrench: np.ndarray, axes: Axes) -> np.ndarray:
    mech = build_mechanism(robot)
    motion = numeric_motion(q, 0 * q, 0 * q)
    return compute_wrench_torque(mech, motion, find_frame(mech, frame), wrench, axes).astype(float)


def find_wrong_frames(robot: Robot, q: np.ndarray, frames: Iterable[str], tolerance: float = 1e-10) -> list[str]:
    """Frames whose Jacobians differ from Pinocchio's, or where wrenches have other torques than by Pinocchio's."""
    pinocchio, wrench = peer(robot), np.random.default_rng(1).uniform(-9.0, 9.0, 6)
    wrong = []
    for frame in frames:
        for axes in Axes:
            expected = pinocchio.frame_jacobian(q, frame, base_axes=axes is Axes.BASE)
            right = close(compute_jacobian(robot, q, frame, axes), expected, tolerance)
            if not right or not close(compute_torque(robot, q, frame, wrench, axes), expected.T @ wrench, tolerance):
                wrong.append(f"{frame} in {axes} axes")
    return wrong


@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_jacobians_equal_pinocchio(name: str) -> None:
    robot = load(name)
    q = random_q(robot.numeric.merged, 5)
    assert find_wrong_frames(robot, q, list_frames(robot)) == []


def test_frames_of_branches_loads_and_fixed_links() -> None:
    """A tool on two fixed joints in a row, with a marker on it; both are merged into the arm."""
    adapter, tool = Frame.shift(0.1, 0.2, 0.3) @ Frame.from_rpy(0.4, -0.2, 1.0), Frame.from_rpy(0.0, 1.2, -0.3)
    robot = fork()
    robot = replace(
        robot,
        links=(*robot.links, Link("adapter"), Link("gripper")),
        joints=(
            *robot.joints,
            Joint("bolts", JointKind.FIXED, "arm", "adapter", adapter),
            Joint("screws", JointKind.FIXED, "adapter", "gripper", tool, seat=Frame.shift(0.0, 0.3, 0.1)),
        ),
        markers=(Marker("fingertip", "gripper", Frame.shift(0.0, 0.0, 0.2) @ Frame.from_rpy(0.3, 0.0, 0.0)),),
    )
    q = random_q(robot, 1)
    frames = ("trunk", "slider", "arm", "load", "adapter", "gripper", "fingertip")
    assert find_wrong_frames(robot, q, frames) == []
    moved = replace(robot, markers=(Marker("fingertip", "gripper", Frame.shift(0.0, 0.0, 0.2)),))
    for axes in Axes:  # the twin: without the rotation of the marker, only base axes give the same Jacobian
        J, other = (compute_jacobian(arm, q, "fingertip", axes) for arm in (robot, moved))
        assert close(J, other) == (axes is Axes.BASE)


@settings(max_examples=25)
@given(robots(loops=False, symbols=False))
def test_random_trees(robot: Robot) -> None:
    assume(robot.movable)
    q = random_q(robot, 2)
    # Random placements and axes may cost one digit of sixteen.
    assert find_wrong_frames(robot, q, link_poses(robot, q), tolerance=1e-9) == []


@pytest.mark.parametrize(("name", "frame"), [("ur10", "tool0"), ("stanford", "link6"), ("lu-puma4", "load")])
def test_velocities_are_differences_of_poses(name: str, frame: str) -> None:
    robot = load(name)
    q, qd = np.random.default_rng(2).uniform(-1.0, 1.0, (2, len(robot.movable)))
    h = 1e-5
    behind, at, ahead = (link_poses(robot, q + t * qd)[frame] for t in (-h, 0.0, h))
    rate = (ahead - behind) / (2 * h)
    spin = rate[:3, :3] @ at[:3, :3].T
    in_base = np.array([*rate[:3, 3], spin[2, 1], spin[0, 2], spin[1, 0]])
    in_frame = np.concatenate([at[:3, :3].T @ in_base[:3], at[:3, :3].T @ in_base[3:]])
    tolerance = 1e-8  # of central differences
    for axes, twist, other in ((Axes.BASE, in_base, in_frame), (Axes.FRAME, in_frame, in_base)):
        velocity = compute_jacobian(robot, q, frame, axes) @ qd
        assert close(velocity, twist, tolerance)
        assert not close(velocity, other, 1e-2)
        assert not close(velocity, np.concatenate([twist[3:], twist[:3]]), 1e-2)


def test_a_frame_on_the_base_does_not_move() -> None:
    for robot, frame in ((load("ur10"), "base_link"), (load("ur10"), "base"), (robot_without_joints(), "load")):
        q = np.zeros(len(robot.movable))
        for axes in Axes:
            assert compute_jacobian(robot, q, frame, axes).shape == (6, len(q))
            assert not compute_jacobian(robot, q, frame, axes).any()
            assert not compute_torque(robot, q, frame, np.ones(6), axes).any()


def test_unknown_frames_are_named() -> None:
    mech = build_mechanism(load("ur10"))
    with pytest.raises(UnknownNameError, match="robot 'ur10' has no link or marker 'tool'; did you mean 'tool0'"):
        find_frame(mech, "tool")
    with pytest.raises(UnknownNameError, match=r"no link or marker 'x'; choose from: base, base_link, ee_link, "):
        find_frame(mech, "x")
