"""Smooth Coulomb friction, and drives that chatter without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import ytheta as yt
from tests.support.damped_robots import MASS, POSE, one_joint, track, vendor_robot
from tests.support.simulate_cases import PUMA
from ytheta.robot.parts import Drive, JointKind
from ytheta.simulation.result import SimulationFindingCode
from ytheta.simulation.substeps import (
    PRISMATIC_COULOMB_SPEED,
    REVOLUTE_COULOMB_SPEED,
    find_chattering_drives,
    find_nonsmooth_drives,
    with_smooth_friction,
)


def test_only_nonsmooth_friction_is_changed() -> None:
    robot = yt.load("five-bar")
    drives = [Drive(coulomb=0.2), Drive(viscous=0.1), Drive(coulomb=0.3, coulomb_speed=0.4), Drive(coulomb=-0.1)]
    cut = Drive(0.1, 2.0, 0.3, 0.4, 0.5)
    mixed = replace(
        robot,
        joints=tuple(replace(joint, drive=drive) for joint, drive in zip(robot.joints, drives, strict=True)),
        loops=tuple(replace(loop, joint=replace(loop.joint, drive=cut)) for loop in robot.loops),
    )
    smooth = with_smooth_friction(mixed)
    speeds = [joint.drive.coulomb_speed for joint in smooth.joints]
    assert speeds == [REVOLUTE_COULOMB_SPEED, 0.0, 0.4, REVOLUTE_COULOMB_SPEED]
    assert smooth.loops[0].joint.drive == replace(cut, coulomb_speed=REVOLUTE_COULOMB_SPEED)
    assert find_nonsmooth_drives(smooth) == ()
    np.testing.assert_array_equal(smooth.theta, mixed.theta)
    assert with_smooth_friction(smooth) is smooth
    assert with_smooth_friction(PUMA) is PUMA
    prismatic = with_smooth_friction(one_joint(JointKind.PRISMATIC, coulomb=1.0))
    assert prismatic.joints[0].drive == Drive(coulomb=1.0, coulomb_speed=PRISMATIC_COULOMB_SPEED)


def test_drives_chatter_if_a_wrong_sign_changes_their_speed() -> None:
    """A wrong sign changes the speed by h fc / M; drives chatter if that is more than 0.01 rad/s."""
    threshold = 0.01 * MASS / 1e-3
    assert find_chattering_drives(one_joint(coulomb=1.01 * threshold), POSE, 1e-3) == ("q1",)
    assert find_chattering_drives(one_joint(coulomb=0.99 * threshold), POSE, 1e-3) == ()
    assert find_chattering_drives(one_joint(coulomb=1.01 * threshold, coulomb_speed=0.05), POSE, 1e-3) == ()
    assert find_chattering_drives(one_joint(coulomb=1.01 * threshold), POSE, 0.5e-3) == ()


def test_smooth_friction_ends_the_chatter_of_light_joints() -> None:
    robot = vendor_robot("talos_left_arm.urdf")
    nonsmooth, smooth = track(robot), track(with_smooth_friction(robot))
    assert smooth.tracking_rms[0] < 2e-3
    assert nonsmooth.tracking_rms[0] > 10.0 * smooth.tracking_rms[0]
    (finding,) = nonsmooth.findings
    assert finding.code is SimulationFindingCode.CHATTERING
    assert "arm_left_7_joint" in finding.names
    assert "with_smooth_friction(robot)" in finding.remedy
    assert smooth.findings == ()
