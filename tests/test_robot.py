"""Robot: order, coordinates, parameters, loads, gravity, and cycles that are not declared."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from random_robots import robots
from ytheta.conventions import LINK_PARAMETERS
from ytheta.errors import InputError
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import Coupling, Drive, Joint, JointKind, Link, Motor
from ytheta.robot.robot import Robot

R = JointKind.REVOLUTE


def chain(*joints: tuple[str, str, str], **fields: object) -> Robot:
    """A robot of revolute joints given as (name, parent, child), links in the order they are named."""
    names = dict.fromkeys(name for joint in joints for name in joint[1:])
    return Robot(
        "chain",
        links=tuple(Link(name) for name in names),
        joints=tuple(Joint(name, R, parent, child) for name, parent, child in joints),
        **fields,  # type: ignore[arg-type]
    )


def test_order_follows_the_tree() -> None:
    robot = chain(("c", "b", "c1"), ("a", "base", "b"), ("d", "base", "d1"), ("e", "c1", "e1"))
    assert [joint.name for joint in robot.joints] == ["a", "c", "e", "d"]
    assert [link.name for link in robot.links] == ["base", "b", "c1", "e1", "d1"]
    assert robot.coordinates == robot.actuated == ("a", "c", "e", "d")


def test_cycles_are_refused() -> None:
    with pytest.raises(InputError, match="every link hangs on another one: a cycle"):
        chain(("a", "one", "two"), ("b", "two", "one"))
    with pytest.raises(InputError, match="joints b, c form a cycle that is not declared as a loop"):
        chain(("a", "base", "one"), ("b", "two", "three"), ("c", "three", "two"))


def test_robots_are_frozen_values() -> None:
    one, same = chain(("a", "base", "b")), chain(("a", "base", "b"))
    assert one == same
    assert hash(one) == hash(same)
    with pytest.raises(AttributeError):
        one.name = "other"  # type: ignore[misc]


def test_couplings_are_a_matrix() -> None:
    """The wrist of the Staubli TX40: motor 6 turns joint 6 against joint 5."""
    robot = chain(
        ("q5", "base", "l5"),
        ("q6", "l5", "l6"),
        couplings=(Coupling("q6", (("q5", -1.0), ("m6", 1.0)), offset=0.5),),
        motors=(Motor("m6", drive=Drive(1e-4, 45.0)),),
    )
    factors, offset = robot.coupling_map
    assert robot.coordinates == ("q5", "m6")
    assert factors.tolist() == [[1.0, 0.0], [-1.0, 1.0]]
    assert offset.tolist() == [0.0, 0.5]
    assert robot.parameter_names[-4:] == ("m6.Ia", "m6.fv", "m6.fc", "m6.fo")
    assert robot.theta[-4] == pytest.approx(1e-4 * 45.0**2)


def test_a_mimic_of_a_mimic_is_resolved() -> None:
    robot = chain(
        ("a", "base", "l1"),
        ("b", "l1", "l2"),
        ("c", "l2", "l3"),
        couplings=(Coupling("c", (("b", 2.0),), 1.0), Coupling("b", (("a", 3.0),), 0.5)),
    )
    factors, offset = robot.coupling_map
    assert factors.ravel().tolist() == [1.0, 3.0, 6.0]
    assert offset.tolist() == [0.0, 0.5, 2.0]


def test_a_load_is_one_more_link() -> None:
    robot = chain(("q1", "base", "arm"))
    tip = Frame.shift(0.5)
    loaded = robot.with_load(Inertia.point(2.0, (0.1, 0.0, 0.0)), frame=tip)
    assert len(loaded.parameter_names) == len(robot.parameter_names) + 10
    assert loaded.parameter_names[10:20] == tuple(f"load.{p}" for p in LINK_PARAMETERS)
    assert loaded.theta[10] == 2.0
    assert loaded.merged.links[-1].name == "load"
    pose = link_poses(loaded, np.array([math.pi / 2]))["load"]
    np.testing.assert_allclose(pose[:3, 3], [0.0, 0.5, 0.0], atol=1e-15)
    with pytest.raises(InputError, match="has no link 'hand'"):
        robot.with_load(Inertia(), on="hand")


def test_gravity_turns_with_the_mounting() -> None:
    robot = chain(("q1", "base", "arm"), mounting=Frame.from_rpy(math.pi / 2, 0.0, 0.0))
    assert robot.gravity_in_base == (0.0, -9.81, 0.0)
    assert chain(("q1", "base", "arm")).gravity_in_base == (0.0, 0.0, -9.81)


@given(robots())
def test_parameters_are_named_and_finite(robot: Robot) -> None:
    assert len(set(robot.parameter_names)) == len(robot.parameter_names)
    if not (robot.symbols - {name for name, value in robot.lengths if value is not None}):
        assert robot.theta.shape == (len(robot.parameter_names),)
        assert np.isfinite(robot.theta).all()


def test_wrong_number_of_positions() -> None:
    with pytest.raises(InputError, match="has 1 movable joints, but q has 2 entries"):
        link_poses(chain(("q1", "base", "arm")), np.zeros(2))
