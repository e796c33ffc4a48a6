"""Symbolic lengths and angles: values, errors without values, poses with numbers in their place."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.support.random_robots import random_q, robots
from ytheta.errors import InputError, RobotError, UnknownNameError, UnsetAngleError
from ytheta.files.symbols import Angle, symbol
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Joint, JointKind, Link, Marker
from ytheta.robot.robot import Robot


def test_lengths_of_any_name_take_finite_values_only() -> None:
    joint = Joint("q", JointKind.REVOLUTE, "base", "arm", Frame.shift(symbol("self") * 1e49))
    robot = Robot("r", (Link("base"), Link("arm")), (joint,), lengths=(("self", None), ("spare", None)))
    assert robot.unset_lengths == ("self",)
    assert robot.with_lengths(self=2.0).unset_lengths == ()
    with pytest.raises(InputError, match="the length 'self' is inf"):
        robot.with_lengths(self=math.inf)
    with pytest.raises(InputError, match=r"the length 'self' is 1e\+300, which is too large"):
        _ = robot.with_lengths(self=1e300).numeric


@given(robots(twists=True))
def test_symbols_can_be_replaced_in_any_order(robot: Robot) -> None:
    """Poses, mass and gravity are the same, whether angles or lengths become numbers first, and after merging."""
    lengths, angles = ({name: 0.3 + 0.2 * len(name) for name, _ in each} for each in (robot.lengths, robot.angles))
    robot = robot.with_lengths(**lengths).with_angles(**angles)
    q = random_q(robot, 5)
    poses = link_poses(robot, q)
    for other in (robot.numeric_in_angles, robot.numeric, robot.merged, robot.merged.numeric, robot.numeric.merged):
        for name, pose in link_poses(other, q).items():
            np.testing.assert_allclose(pose, poses[name], rtol=0, atol=1e-11)
    np.testing.assert_allclose(robot.theta, robot.numeric.theta, rtol=1e-10, atol=1e-10)


def make_twisted_arm(**change: Any) -> Robot:
    """An arm of one joint whose axis is tilted by the angle alpha."""
    joint = Joint("q1", JointKind.REVOLUTE, "base", "arm", Frame.turn((1.0, 0.0, 0.0), Angle("alpha")))
    links = (Link("base"), Link("arm", Inertia.point_mass(2.0, (0.5, 0.0, 0.0))))
    return Robot("twisted", links, (joint,), **({"angles": (("alpha", None),)} | change))


def test_an_angle_without_a_value_is_named() -> None:
    robot = make_twisted_arm()
    assert robot.symbolic_angles == {"alpha"}
    assert robot.unset_angles == robot.unset_symbols == ("alpha",)
    assert robot.symbolic_lengths == frozenset()
    with pytest.raises(
        UnsetAngleError, match=r"'twisted': the angle 'alpha' has no value, but a number is needed; set"
    ):
        _ = robot.numeric
    with pytest.raises(UnsetAngleError, match="derive_regressor still work, and predict with an identified model"):
        link_poses(robot, np.zeros(1))
    tilted = robot.with_angles(alpha=0.3)
    assert tilted.unset_symbols == ()
    assert tilted.numeric.joints[0].placement == Frame.turn((1.0, 0.0, 0.0), 0.3)
    assert tilted.numeric.angles == ()
    assert str(robot).count("angles without a value: alpha") == 1
    assert "without a value" not in str(tilted)
    assert tilted.to_dict()["angles"] == {"alpha": 0.3}
    assert robot.to_dict()["unset_angles"] == ["alpha"]


def test_angles_are_checked() -> None:
    with pytest.raises(UnknownNameError, match="robot 'twisted' has no angle 'alpah'; did you mean 'alpha'"):
        make_twisted_arm().with_angles(alpah=0.1)
    with pytest.raises(RobotError, match="the angle 'alpha' is inf; give a finite number in radians"):
        make_twisted_arm().with_angles(alpha=math.inf)
    with pytest.raises(RobotError, match="the angle 'alpha' is used but not declared; add it to 'angles'"):
        make_twisted_arm(angles=())
    with pytest.raises(RobotError, match="'alpha' is the name of a length and of an angle; rename one of them"):
        make_twisted_arm(lengths=(("alpha", 1.0),))
    with pytest.raises(RobotError, match="'pi' cannot name an angle"):
        make_twisted_arm(angles=(("alpha", None), ("pi", 1.0)))
    tilt = Frame.turn((0.0, 1.0, 0.0), Angle("alpha"))
    with pytest.raises(RobotError, match="the mounting uses the symbolic angle 'alpha', but only joints and markers"):
        make_twisted_arm(mounting=tilt)
    with pytest.raises(RobotError, match="the frame of marker 'tip' contains numbers that are not finite"):
        make_twisted_arm(markers=(Marker("tip", "arm", tilt @ Frame.shift(math.inf)),))


def test_a_fixed_link_with_mass_needs_the_angle() -> None:
    robot = make_twisted_arm().with_load(Inertia.point_mass(1.0, (0.0, 0.2, 0.0)), name="tool")
    turned = replace(robot.joints[1], placement=Frame.turn((0.0, 0.0, 1.0), Angle("alpha")))
    fixed = replace(
        robot, joints=(robot.joints[0], turned), links=(*robot.links[:2], replace(robot.links[2], load=False))
    )
    with pytest.raises(UnsetAngleError, match=r"angle 'alpha' has no value; give it one with robot\.with_angles"):
        _ = fixed.merged
    assert "parameters" in (row := fixed.to_dict()["link_table"][0])
    assert row["parameters"] is None
    merged = fixed.with_angles(alpha=math.pi / 2).merged
    np.testing.assert_allclose(merged.links[1].inertia.vector[:4], [3.0, 0.8, 0.0, 0.0], rtol=0, atol=1e-15)


def test_symbols_of_a_robot_with_unknown_inertias_cannot_be_set() -> None:
    robot = replace(make_twisted_arm(), inertias_unknown=True, links=(Link("base"), Link("arm")))
    with pytest.raises(RobotError, match="'alpha' cannot be set: robot 'twisted' was identified with unknown geometry"):
        robot.with_angles(alpha=0.1)
    with pytest.raises(UnsetAngleError, match="robot 'twisted' was identified with unknown geometry"):
        _ = robot.numeric
    assert robot.with_angles() == robot
