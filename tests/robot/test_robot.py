"""Robot: parameters, loads, gravity, lengths, angles."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.support.random_robots import random_q, robots
from tests.support.revolute_chains import revolute_chain
from ytheta.conventions import LINK_PARAMETERS
from ytheta.errors import InputError, RobotError, UnknownNameError, UnsetAngleError
from ytheta.files.angles import Angle
from ytheta.files.lengths import symbol
from ytheta.robot.floating.base import add_wrench_sensor, float_base
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Drive, Joint, JointKind, Link, Marker
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot


def test_robots_are_frozen_values() -> None:
    one, same = revolute_chain(("a", "base", "b")), revolute_chain(("a", "base", "b"))
    assert one == same
    assert hash(one) == hash(same)
    with pytest.raises(AttributeError):
        one.name = "other"  # type: ignore[misc]


def test_a_load_is_one_more_link() -> None:
    robot = revolute_chain(("q1", "base", "arm"))
    tip = Frame.shift(0.5)
    loaded = robot.with_load(Inertia.point_mass(2.0, (0.1, 0.0, 0.0)), frame=tip)
    assert len(loaded.parameter_names) == len(robot.parameter_names) + 10
    assert loaded.parameter_names[10:20] == tuple(f"load.{p}" for p in LINK_PARAMETERS)
    assert loaded.theta[10] == 2.0
    assert loaded.merged.links[-1].name == "load"
    pose = link_poses(loaded, np.array([math.pi / 2]))["load"]
    np.testing.assert_allclose(pose[:3, 3], [0.0, 0.5, 0.0], atol=1e-15)
    with pytest.raises(InputError, match="has no link 'hand'"):
        robot.with_load(Inertia(), on="hand")


def test_gravity_turns_with_the_mounting() -> None:
    robot = revolute_chain(("q1", "base", "arm"), mounting=Frame.from_rpy(math.pi / 2, 0.0, 0.0))
    assert robot.gravity_in_base == (0.0, -9.81, 0.0)
    assert revolute_chain(("q1", "base", "arm")).gravity_in_base == (0.0, 0.0, -9.81)


@given(robots(twists=True))
def test_parameters_are_named_and_finite(robot: Robot) -> None:
    assert len(set(robot.parameter_names)) == len(robot.parameter_names)
    if not robot.unset_symbols:
        assert robot.theta.shape == (len(robot.parameter_names),)
        assert np.isfinite(robot.theta).all()


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


def test_an_identified_model_may_have_a_negative_mass() -> None:
    """Readers refuse negative masses, but an identified model may have them. They are not physically consistent."""
    robot = revolute_chain(("q1", "base", "arm")).with_inertias({"arm": Inertia((-1.0, *[0.0] * 9))})
    assert not robot.consistency["arm"]
    assert robot.consistency["arm"].reason == "negative mass -1 kg"


def test_a_robot_shows_itself_briefly() -> None:
    robot = revolute_chain(("q1", "base", "arm"))
    assert repr(robot) == "Robot('revolute_chain', 1 joint, 1 actuated)"
    for part in (robot.links[1], robot.joints[0], *load("walker").joints, *load("panda").links):
        assert len(repr(part)) < 80
    assert repr(robot.joints[0]) == "Joint('q1', revolute, 'base' → 'arm')"
    assert repr(load("walker")) == "Robot('walker', 7 joints, 3 actuated, 2 loops)"
    long = replace(robot, name="a\n" * 500)
    assert len(repr(long)) < 120
    assert "\n" not in repr(long)


def test_a_robot_prints_its_tree_and_tables() -> None:
    text = str(load("walker"))
    assert "├── q1 R z ─ link1 60 kg" in text
    assert "loop q8 (revolute) between link5 and link1: actuated q5; passive q1, q4" in text
    assert "106 standard parameters" in text
    assert "multiplications" not in text
    data = load("walker").to_dict()
    assert (data["joints"], data["actuated"]) == (7, ["q5", "q7", "q3"])
    unset = revolute_chain(("q1", "base", "arm"), lengths=(("a", None),))
    assert str(replace(unset, mounting=Frame.shift(symbol("a")))).count("lengths without a value: a") == 1


def test_robots_are_pickled_as_values() -> None:
    robot = load("walker")
    _ = str(robot), robot.theta
    copy = pickle.loads(pickle.dumps(robot))
    assert copy == robot
    assert hash(copy) == hash(robot)
    assert copy.findings == robot.findings
    assert replace(robot, name="other") != robot


def test_the_arrays_of_a_robot_are_read_only() -> None:
    robot = load("walker")
    for array in (robot.theta, robot.home_coordinates, *robot.coupling_map, *robot.motor_map):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_joints_of_floating_bases_and_sensors_have_no_drive_to_change() -> None:
    arm = load("ur10").with_load(Inertia(), name="tool")
    robot = add_wrench_sensor(float_base(arm), "tool_grasp")
    changed = robot.with_drives(lambda _, drive: replace(drive, root=0.1))
    kinds = {joint.kind for joint in changed.joints if joint.drive.root is None}
    assert kinds == {JointKind.FREE, JointKind.SENSOR}
    assert [drive.root for _, drive in changed.drives] == [0.1] * 6
    for kind in (JointKind.FREE, JointKind.SENSOR):  # the twin: a drive on such a joint is refused
        driven = tuple(replace(j, drive=Drive(root=0.1)) if j.kind is kind else j for j in robot.joints)
        with pytest.raises(RobotError, match="has no drive"):
            replace(robot, joints=driven)
