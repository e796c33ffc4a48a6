"""Joints that follow a fixed joint stay where it leaves them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ytheta.errors import InputError
from ytheta.files.xml_document import parse_xml
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import JointKind
from ytheta.robot.reading.urdf import read_urdf
from ytheta.robot.robot import Robot

GRIPPER = """<robot name="r"><link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="lift" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="drive" type="{drive}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="finger" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.1 0 0"/><axis xyz="0 0 1"/>
<mimic joint="drive" multiplier="2" offset="0.3"/></joint>
<joint name="tip" type="prismatic"><parent link="c"/><child link="d"/><axis xyz="1 0 0"/>
<mimic joint="finger" multiplier="-0.5" offset="0.1"/></joint></robot>"""


def read(text: str) -> Robot:
    return read_urdf(parse_xml(text.encode(), Path("r.urdf")), Path("r.urdf"), 0.0)


def test_followers_of_a_fixed_joint_are_fixed() -> None:
    fixed, moving = read(GRIPPER.format(drive="fixed")), read(GRIPPER.format(drive="revolute"))
    assert [joint.name for joint in fixed.movable] == ["lift"]
    assert fixed.couplings == ()
    assert fixed.joint("finger").kind is JointKind.FIXED
    (note,) = fixed.findings
    assert note.text == "joints that follow a fixed joint are fixed as well: finger at 0.3, tip at -0.05"
    poses = link_poses(fixed, np.array([0.4]))
    expected = link_poses(moving, np.array([0.4, 0.0, 0.3, -0.05]))
    assert all(np.allclose(poses[name], expected[name], atol=1e-12) for name in expected)
    elsewhere = link_poses(moving, np.array([0.4, 0.0, 0.3, 0.1]))
    assert not np.allclose(poses["d"], elsewhere["d"], atol=1e-12)


def test_followers_of_moving_joints_stay_coupled() -> None:
    robot = read(GRIPPER.format(drive="revolute"))
    assert (len(robot.couplings), robot.findings) == (2, ())


def test_a_leader_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(InputError, match="the coupling of joint 'finger' uses 'dirve'"):
        read(GRIPPER.format(drive="fixed").replace('mimic joint="drive"', 'mimic joint="dirve"'))
