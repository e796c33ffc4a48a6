"""Robot: parameters, loads, gravity, text, drives."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tests.support.random_robots import robots
from tests.support.revolute_chains import revolute_chain
from ytheta.conventions import LINK_PARAMETERS
from ytheta.errors import InputError, RobotError
from ytheta.files.symbols import symbol
from ytheta.robot.floating import add_wrench_sensor, float_base
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Drive, JointKind
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
