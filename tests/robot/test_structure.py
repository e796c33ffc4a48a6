"""The order of the tree, and errors about cycles and size."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.support.random_robots import random_q, robots
from tests.support.revolute_chains import revolute_chain
from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError, RobotError, UnknownNameError, UnsetAngleError
from ytheta.files.symbols import Angle, symbol
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import CollisionShape, Coupling, Drive, Joint, JointKind, Link, Loop, Marker, Motor, ShapeKind
from ytheta.robot.robot import Robot
from ytheta.robot.structure import Geometry, WrenchCoordinates


def test_links_and_joints_are_in_tree_order() -> None:
    robot = revolute_chain(("c", "b", "c1"), ("a", "base", "b"), ("d", "base", "d1"), ("e", "c1", "e1"))
    assert [joint.name for joint in robot.joints] == ["a", "c", "e", "d"]
    assert [link.name for link in robot.links] == ["base", "b", "c1", "e1", "d1"]
    assert robot.coordinates == robot.actuated == ("a", "c", "e", "d")


def test_undeclared_cycles_are_errors() -> None:
    with pytest.raises(InputError, match="every link is the child of a joint, so there is no base: a cycle"):
        revolute_chain(("a", "one", "two"), ("b", "two", "one"))
    with pytest.raises(InputError, match="joints b, c form a cycle that is not declared as a loop"):
        revolute_chain(("a", "base", "one"), ("b", "two", "three"), ("c", "three", "two"))


# Coordinates, couplings and motors: order, maps and errors.


def test_couplings_are_a_matrix() -> None:
    """The wrist of the Staubli TX40: motor 6 turns joint 6 relative to joint 5."""
    robot = revolute_chain(
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
    robot = revolute_chain(
        ("a", "base", "l1"),
        ("b", "l1", "l2"),
        ("c", "l2", "l3"),
        couplings=(Coupling("c", (("b", 2.0),), 1.0), Coupling("b", (("a", 3.0),), 0.5)),
    )
    factors, offset = robot.coupling_map
    assert factors.ravel().tolist() == [1.0, 3.0, 6.0]
    assert offset.tolist() == [0.0, 0.5, 2.0]


def test_coordinates_have_the_order_of_actuated_without_loops() -> None:
    wrist = revolute_chain(
        ("q4", "base", "l4"),
        ("q5", "l4", "l5"),
        ("q6", "l5", "l6"),
        couplings=(Coupling("q6", (("q5", -1.0), ("m6", 2.0)), offset=0.5),),
        motors=(Motor("m6"),),
        home=(("q5", 0.3),),
    )
    assert wrist.coordinates == ("q4", "q5", "m6")
    other = replace(wrist, actuated=("m6", "q5", "q4"))
    assert other.coordinates == other.actuated == ("m6", "q5", "q4")
    np.testing.assert_array_equal(other.coupling_map[0], wrist.coupling_map[0][:, [2, 1, 0]])
    np.testing.assert_array_equal(other.coupling_map[1], wrist.coupling_map[1])
    np.testing.assert_array_equal(other.home_coordinates, [0.0, 0.3, 0.0])
    assert other.coordinates_of([other.joint("q6")]) == ("m6", "q5")
    assert other.parameter_names == wrist.parameter_names
    assert other.passive == ()
    assert other.merged.coordinates == other.numeric.coordinates == other.coordinates
    cut = Loop(Joint("cut", JointKind.REVOLUTE, "l6", "base"))
    assert replace(other, loops=(cut,), actuated=("m6", "q5")).coordinates == ("q4", "q5", "m6")


def test_long_chains_of_couplings_and_joints() -> None:
    """A chain of couplings beyond the recursion limit of Python, and more joints than are supported."""
    count = 1500
    joints = [(f"q{k}", f"l{k}", f"l{k + 1}") for k in range(count)]
    couplings = tuple(Coupling(f"q{k + 1}", ((f"q{k}", 1.0),), 1.0) for k in reversed(range(count - 1)))
    robot = revolute_chain(*joints, couplings=couplings)
    factors, offset = robot.coupling_map
    np.testing.assert_array_equal(factors, np.ones((count, 1)))
    np.testing.assert_array_equal(offset, np.arange(count))
    with pytest.raises(RobotError, match=r"couplings are circular: q1499 → q1498 → .* … → q1499; remove one"):
        revolute_chain(*joints, couplings=(*couplings, Coupling("q0", ((f"q{count - 1}", 1.0),))))
    steep = tuple(replace(coupling, terms=((coupling.terms[0][0], 1e200),)) for coupling in couplings)
    with pytest.raises(RobotError, match="the coupling of joint 'q1' contains 1e\\+200, which is too large"):
        revolute_chain(*joints, couplings=steep)
    with pytest.raises(RobotError, match="the robot has 2001 joints and motors, but at most 2000"):
        revolute_chain(*((f"q{k}", f"l{k}", f"l{k + 1}") for k in range(2001)))


def test_the_error_names_only_the_couplings_of_the_circle() -> None:
    couplings = (Coupling("a", (("b", 1.0),)), Coupling("b", (("c", 1.0),)), Coupling("c", (("b", 1.0),)))
    with pytest.raises(RobotError, match="couplings are circular: b → c → b;"):
        revolute_chain(("a", "base", "l1"), ("b", "l1", "l2"), ("c", "l2", "l3"), couplings=couplings)


# Wrench coordinates: names of the coordinates of floating bases and sensors, and their order.


FREE = Joint("float", JointKind.FREE, "world", "base")
HINGE = Joint("q1", JointKind.REVOLUTE, "base", "arm")
SENSOR = Joint("ft", JointKind.SENSOR, "arm", "hand")


def test_a_floating_base_comes_first_and_sensors_last() -> None:
    wrench = WrenchCoordinates.of((FREE, HINGE, SENSOR))
    sensor = ("ft_fx", "ft_fy", "ft_fz", "ft_nx", "ft_ny", "ft_nz")
    assert wrench == WrenchCoordinates(BASE_COORDINATES, sensor)
    assert wrench.add_to(["ft_nx", "q1", BASE_COORDINATES[2]]) == (*BASE_COORDINATES, "q1", *sensor)
    assert wrench.translational == (*BASE_COORDINATES[:3], "ft_fx", "ft_fy", "ft_fz")


def test_a_fixed_robot_without_sensors_has_none() -> None:
    wrench = WrenchCoordinates.of((HINGE,))
    assert wrench == WrenchCoordinates((), ())
    assert wrench.add_to(["q1"]) == ("q1",)
    assert wrench.translational == ()


# Merging fixed links changes neither poses nor inertia.


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


# Geometry: every fixed frame of a robot is listed and changed.


def shift(name: str) -> Frame:
    return Frame.shift(symbol(name))


GEOMETRY = Geometry(
    joints=(Joint("q1", JointKind.REVOLUTE, "base", "arm", shift("a"), seat=shift("b")),),
    loops=(Loop(Joint("cut", JointKind.POINT, "base", "arm", shift("c"), seat=shift("d"))),),
    markers=(Marker("tip", "arm", shift("e")),),
    collision=(CollisionShape("arm", ShapeKind.SPHERE, (0.1,), shift("f")),),
    mounting=shift("g"),
)


def test_every_frame_is_found() -> None:
    assert [sorted(frame.symbols) for frame in GEOMETRY.frames] == [[name] for name in "abcdefg"]
    assert GEOMETRY.symbolic_lengths == set("abcdefg")
    assert GEOMETRY.symbolic_angles == frozenset()


def test_every_frame_is_changed() -> None:
    values = {name: 0.1 * k for k, name in enumerate("abcdefg", start=1)}
    changed = GEOMETRY.change_frames(lambda frame: frame.numeric(values))
    assert list(changed.frames) == [Frame.shift(value) for value in values.values()]
    assert changed.symbolic_lengths == frozenset()


# Symbolic lengths and angles: values, errors without values, poses with numbers in their place.


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
