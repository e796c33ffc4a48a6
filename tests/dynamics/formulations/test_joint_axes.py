"""Joint axes that are almost parallel, and angles that are almost multiples of 30 degrees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.lin_chains import agree, build_chain, expected_torque, minimal_torque
from tests.support.pinocchio_peer import peer
from ytheta.dynamics.formulations.equivalent_bodies import find_equivalent_bodies
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot


def make_bent_chain(angle: float) -> Robot:
    """A chain with two axes that are parallel up to an angle."""
    robot = build_chain("RRRR", parallel=(3,))
    joint = robot.joints[2]
    tilt = Frame.turn((0.6, 0.8, 0.0), angle)
    return replace(robot, joints=(*robot.joints[:2], replace(joint, placement=joint.placement @ tilt), robot.joints[3]))


@pytest.mark.parametrize("angle", [1e-14, 1e-11, 1e-9, 1e-7, 1e-4, 9e-3, 1.1e-2])
def test_nearly_parallel_axes(angle: float) -> None:
    assert agree(minimal_torque(make_bent_chain(angle)), expected_torque(make_bent_chain(angle)))
    if angle >= 1e-7:
        straight = expected_torque(make_bent_chain(0.0))
        assert not agree(minimal_torque(make_bent_chain(angle)), straight)  # the angle changes the torque


@pytest.mark.parametrize("error", [0.0, 1e-15, 3e-13, 1e-12, 1e-11, 1e-9])
@pytest.mark.parametrize("twelfths", [1, 3, 4, 6])
def test_angles_close_to_a_multiple_of_30_degrees(twelfths: int, error: float) -> None:
    """Rotations about parallel axes, and tilts, with angles as in files with twelve digits that are not snapped."""
    angle = twelfths * np.pi / 6 + error
    for frame in (Frame.from_rpy(0.0, 0.0, angle), Frame.from_rpy(error, 0.0, 0.7), Frame.from_rpy(angle, error, 0.4)):
        robot = make_chain_of_equal_frames(Frame.shift(0.3, 0.1, 0.2) @ frame)
        assert agree(minimal_torque(robot), expected_torque(robot))
        for axis in find_equivalent_bodies(robot).axes:  # the angles of the recursion are those of the robot
            R = (
                Frame.turn((0.0, 0.0, 1.0), axis.gamma)
                @ Frame.turn((1.0, 0.0, 0.0), axis.alpha)
                @ Frame.turn((0.0, 0.0, 1.0), axis.offset)
            )
            if axis.parent is not None:
                np.testing.assert_allclose(R.matrix[:3, :3], axis.H[:3, :3], atol=1e-13)


def make_chain_of_equal_frames(frame: Frame) -> Robot:
    """Four joints, the third prismatic, each with the same placement in its parent and the same seat."""
    kinds = (JointKind.REVOLUTE, JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.REVOLUTE)
    seat = Frame.shift(0.05, -0.02, 0.1) @ Frame.from_rpy(0.0, 0.0, 0.9)
    body = Inertia.about_center(2.0, (0.1, 0.2, -0.1), ((0.3, 0.01, 0.02), (0.01, 0.2, 0.03), (0.02, 0.03, 0.25)))
    joints = tuple(
        Joint(f"j{k}", kind, f"l{k}", f"l{k + 1}", placement=frame, axis=(0.0, 0.0, 1.0), seat=seat)
        for k, kind in enumerate(kinds)
    )
    links = (Link("l0"), *(Link(f"l{k + 1}", body) for k in range(4)))
    return Robot("equal frames", links, joints, gravity=(3.0, 1.0, -9.0))


def test_loads_carry_loads_and_joints() -> None:
    """A load on a load, and a joint on a load: torques by Pinocchio, which knows no loads."""
    body = Inertia.about_center(1.5, (0.02, -0.03, 0.1), ((0.02, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.015)))
    arm = yt.load("ur10").with_load(body, name="gripper")
    finger = Joint("grip", JointKind.REVOLUTE, "gripper", "finger", Frame.shift(0.1, 0.2, 0.3), (0.0, 1.0, 0.0))
    robot = replace(arm, links=(*arm.links, Link("finger", body)), joints=(*arm.joints, finger), actuated=())
    loaded = robot.with_load(body, name="part", on="gripper").with_load(body, name="screw", on="part")
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 7))
    expected = peer(loaded).torque(q, qd, qdd)
    np.testing.assert_allclose(yt.inverse_dynamics(loaded).one(q, qd, qdd), expected, atol=1e-10)
    for names in (("screw",), ("part", "screw")):  # the twins: loads that are lost
        lost = loaded.with_inertias(dict.fromkeys(names, Inertia()))
        assert abs(peer(lost).torque(q, qd, qdd) - expected).max() > 1.0
