"""Loops, reversed joints, floating and fixed parts of SDF models. Loops are compared with an equal MJCF file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.mjcf_models import read_text as read_mjcf
from tests.support.sdf_loops import LOOPS
from tests.support.sdf_models import MODELS, ON_WORLD, make_document, make_joint, make_link
from tests.support.states import close, state
from ytheta.files.xml_document import parse_xml
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import JointKind
from ytheta.robot.reading.sdf.assembly import Edge, find_spanning_tree
from ytheta.robot.reading.sdf.reader import read_sdf
from ytheta.robot.robot import Robot

INERTIAL = '<inertial pos="0.05 -0.02 0.11" mass="0.5" euler="0.3 -0.4 0.5" diaginertia="0.02 0.03 0.025"/>'  # of MJCF
FOUR_BAR = f"""<mujoco><compiler angle="radian" eulerseq="XYZ"/><worldbody>
<body name="a">{INERTIAL}<joint name="ja" axis="0 1 0"/>
  <body name="b" pos="0 0 0.2">{INERTIAL}<joint name="jb" axis="0 1 0"/></body></body>
<body name="c" pos="0.3 0 0">{INERTIAL}<joint name="jc" axis="0 1 0"/></body></worldbody>
<equality><connect body1="b" body2="c" anchor="0.3 0 0.1"/></equality>
<actuator><motor joint="ja"/></actuator></mujoco>"""


def read(text: str, *, snap: float = 0.0, fix_base: bool = False) -> Robot:
    path = Path("model.sdf")
    return read_sdf(parse_xml(text.encode(), path), path, snap, fix_base=fix_base)


def make_diagonal(text: str) -> str:
    """SDF turns by roll, pitch and yaw about fixed axes, MJCF here likewise; products of inertia are left out."""
    for key, value in (("ixy", "0.001"), ("ixz", "-0.002"), ("iyz", "0.0015")):
        text = text.replace(f"<{key}>{value}</{key}>", f"<{key}>0</{key}>")
    return text


@pytest.mark.parametrize("name", ["revolute", "ball", "universal"])
def test_a_loop_has_the_torque_of_an_equal_mjcf(name: str) -> None:
    sdf, mjcf = read(make_diagonal(LOOPS[name])), read_mjcf(FOUR_BAR)
    assert sdf.actuated == mjcf.actuated == ("ja",)
    q, qd, qdd = (0.3 * values[:, None] for values in state(1))
    if name == "universal":  # another degree of freedom of the closure, which does not move
        assert len(sdf.loops) == 1
    assert close(yt.inverse_dynamics(sdf)(q, qd, qdd), yt.inverse_dynamics(mjcf)(q, qd, qdd), 1e-7)


def test_another_loop_has_another_torque() -> None:
    sdf, mjcf = read(make_diagonal(LOOPS["ball"])), read_mjcf(FOUR_BAR.replace("0.3 0 0.1", "0.3 0 0.12"))
    q, qd, qdd = (0.3 * values[:, None] for values in state(1))
    assert not close(yt.inverse_dynamics(sdf)(q, qd, qdd), yt.inverse_dynamics(mjcf)(q, qd, qdd), 1e-4)


def test_the_cut_joint_of_a_loop() -> None:
    assert [loop.joint.kind for loop in read(LOOPS["revolute"]).loops] == [JointKind.REVOLUTE]
    assert [loop.joint.kind for loop in read(LOOPS["ball"]).loops] == [JointKind.POINT]


def test_loops_close_within_the_digits_of_the_file() -> None:
    assert read(LOOPS["revolute"]).closure_tolerance == 1e-3  # numbers such as 0.2, but at most a millimetre
    exact = LOOPS["revolute"].replace("0 0 0.2 0 0 0", "0.000000000001 0 0.20000000001 0 0 0")
    assert read(exact).closure_tolerance < 1e-9 * 10


def test_joints_that_are_not_needed_are_left_out_with_a_note() -> None:
    text = make_document(
        make_link("base")
        + make_link("a")
        + ON_WORLD
        + make_joint("f", "base", "a", kind="fixed", axis="")
        + make_joint("g", "world", "a", kind="fixed", axis="")
    )
    robot = read(text)
    assert not robot.loops
    assert robot.findings[0].text.startswith("joints between links that cannot move relative to each other")


def test_a_reversed_joint_moves_its_links_as_in_the_file() -> None:
    """The position of a joint is the motion of its child relative to its parent, also if the child is the base."""
    robot = read(MODELS["reversed"])
    forward = read(MODELS["reversed"].replace(ON_WORLD, ON_WORLD.replace("base", "b")))
    q = np.array([0.4, 0.3])
    names = [joint.name for joint in robot.movable]
    order = [names.index(joint.name) for joint in forward.movable]
    assert order != [0, 1]
    back, front = link_poses(robot, q), link_poses(forward, q[order])
    for link in ("base", "a", "b"):
        relative = np.linalg.inv(back["a"]) @ back[link]
        assert np.allclose(relative, np.linalg.inv(front["a"]) @ front[link], atol=1e-13)


def test_free_links_beside_the_robot_stay_where_they_are() -> None:
    text = make_document(make_link("cube", "1 0 0 0 0 0") + make_link("x") + make_link("y") + make_joint("j", "x", "y"))
    robot = read(text)
    assert [joint.child for joint in robot.joints if joint.kind is JointKind.FREE] == ["x"]
    assert any(f.text.startswith("free links beside the robot are left at their positions") for f in robot.findings)
    single = read(make_document(make_link("cube") + make_link("ball")))
    assert [joint.child for joint in single.joints if joint.kind is JointKind.FREE] == ["cube"]


def test_fix_base_fixes_all_parts() -> None:
    text = make_document(make_link("cube", "1 0 0 0 0 0") + make_link("x") + make_link("y") + make_joint("j", "x", "y"))
    robot = read(text, fix_base=True)
    assert not robot.floating
    assert robot.coordinates == ("j",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LOOPS["revolute"], "joints with an effort limit count as driven"),
        (LOOPS["revolute"].replace("<effort>5</effort>", ""), "effort limits do not suggest them either"),
    ],
)
def test_how_the_actuated_coordinates_were_chosen_is_told_once(text: str, reason: str) -> None:
    robot = read(text)
    (finding,) = [finding for finding in robot.findings if finding.code == "actuated"]
    assert (finding.names, robot.actuated) == (("ja",), ("ja",))
    assert finding.text == (
        f"SDF does not name actuators, and {reason}; the loops leave these coordinates actuated: ja; if others have "
        "motors, name them under 'actuated' in a TOML file that extends this one"
    )


def test_nothing_is_told_about_actuators_of_a_tree() -> None:
    assert not [finding for finding in read(MODELS["poses"]).findings if finding.code == "actuated"]


# Trees of graphs of links and joints.


def test_a_tree_keeps_its_joints() -> None:
    edges = [Edge("w", "world", "a"), Edge("j", "a", "b")]
    tree = find_spanning_tree(["b", "a"], edges)
    assert tree.joints == (("w", False), ("j", False))
    assert (tree.cut, tree.roots) == ((), ())


def test_the_second_joint_above_a_link_closes_a_loop() -> None:
    edges = [Edge("1", "a", "b"), Edge("2", "a", "c"), Edge("3", "b", "d"), Edge("4", "c", "d")]
    tree = find_spanning_tree(["a", "b", "c", "d"], edges)
    assert tree.cut == ("4",)
    assert tree.roots == ("a",)
    assert not any(is_reversed for _, is_reversed in tree.joints)


def test_a_ball_joint_is_cut_rather_than_another_one() -> None:
    edges = [Edge("1", "a", "b"), Edge("2", "a", "c"), Edge("3", "b", "d", cut_first=True), Edge("4", "c", "d")]
    assert find_spanning_tree(["a", "b", "c", "d"], edges).cut == ("3",)


def test_a_joint_that_points_to_the_root_is_reversed() -> None:
    edges = [Edge("w", "world", "a"), Edge("1", "b", "a"), Edge("2", "c", "b")]
    tree = find_spanning_tree(["a", "b", "c"], edges)
    assert tree.joints == (("w", False), ("1", True), ("2", True))
    assert tree.cut == ()


def test_a_cycle_of_joints_has_a_root_and_a_cut() -> None:
    edges = [Edge("1", "a", "b"), Edge("2", "b", "c"), Edge("3", "c", "a")]
    tree = find_spanning_tree(["a", "b", "c"], edges)
    assert len(tree.joints) == 2
    assert len(tree.cut) == len(tree.roots) == 1


def test_unconnected_parts_have_a_root_each() -> None:
    tree = find_spanning_tree(["a", "b", "c"], [Edge("1", "b", "a")])
    assert tree.roots == ("b", "c")
