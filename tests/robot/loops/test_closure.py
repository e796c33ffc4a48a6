"""Closure of single poses: compared with the law of cosines, and the advice about poses that cannot be reached."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ytheta.conventions import CLOSURE_TOLERANCE
from ytheta.errors import ClosureError, InputError
from ytheta.robot.frame import Frame
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.parts import Joint, JointKind, Link, Loop
from ytheta.robot.robot import Robot

R, P = JointKind.REVOLUTE, JointKind.PRISMATIC


def make_triangle(kind: JointKind = R, actuated: tuple[str, ...] = ("slide",)) -> Robot:
    """A beam on a pivot, supported by a cylinder: a triangle whose third side is the length of the cylinder."""
    along_x = Frame.from_rpy(0.0, math.pi / 2, 0.0)
    return Robot(
        "triangle",
        links=tuple(Link(name) for name in ("base", "beam", "barrel", "rod")),
        joints=(
            Joint("beam", R, "base", "beam"),
            Joint("pivot", R, "base", "barrel", placement=Frame.shift(0.5)),
            Joint("slide", P, "barrel", "rod", placement=along_x, seat=along_x.inverse()),
        ),
        loops=(Loop(Joint("pin", kind, "beam", "rod", placement=Frame.shift(0.8))),),
        actuated=actuated,
        home=(("beam", 1.0), ("pivot", 1.3), ("slide", 0.6)),
    )


@pytest.mark.parametrize("kind", [R, JointKind.POINT])
@pytest.mark.parametrize("length", [0.45, 0.6, 0.9, 1.2])
def test_a_triangle_closes_by_the_law_of_cosines(kind: JointKind, length: float) -> None:
    closure = close_loops(make_triangle(kind), {"slide": length}).or_raise()
    expected = math.acos((0.5**2 + 0.8**2 - length**2) / (2 * 0.5 * 0.8))
    assert closure.coordinates["beam"] == pytest.approx(expected, abs=1e-9)
    assert closure.freedom == 1
    if kind is R:
        angle = closure.coordinates["pivot"] - closure.coordinates["beam"]
        assert closure.loops[0].position == pytest.approx(angle, abs=1e-9)


def test_the_assembly_of_home_is_kept() -> None:
    mirrored = replace(make_triangle(), home=(("beam", -1.0), ("pivot", -1.3), ("slide", 0.6)))
    assert close_loops(mirrored).coordinates["beam"] == pytest.approx(-close_loops(make_triangle()).coordinates["beam"])


@pytest.mark.parametrize("length", [0.1, 1.5])
def test_a_pose_that_cannot_close_is_reported(length: float) -> None:
    closure = close_loops(make_triangle(), {"slide": length})
    assert not closure.closed
    with pytest.raises(
        ClosureError, match=r"loop 'pin' .* cannot close at this pose: the sides of its cut joint stay 0\.2 .* apart"
    ):
        closure.or_raise()


def make_five_bar(*actuated: str) -> Robot:
    return Robot(
        "five-bar",
        links=tuple(Link(name) for name in ("base", "a", "b", "c", "d")),
        joints=(
            Joint("q1", R, "base", "a"),
            Joint("q2", R, "a", "b", placement=Frame.shift(1.0)),
            Joint("q3", R, "base", "c", placement=Frame.shift(1.0)),
            Joint("q4", R, "c", "d", placement=Frame.shift(1.0)),
        ),
        loops=(Loop(Joint("pin", R, "b", "d", placement=Frame.shift(1.0), seat=Frame.shift(-1.0))),),
        actuated=actuated,
        home=(("q1", 2.0), ("q2", -1.0), ("q3", 1.0), ("q4", 1.0)),
    )


def test_too_few_actuated_coordinates_do_not_determine_the_rest() -> None:
    with pytest.raises(ClosureError, match=r"leave 2 coordinates free, but the actuated ones \(q1\) do not"):
        close_loops(make_five_bar("q1")).or_raise()
    assert close_loops(make_five_bar("q1", "q3")).or_raise().freedom == 2
    with pytest.raises(InputError, match="'q2' is not an actuated coordinate"):
        close_loops(make_five_bar("q1"), {"q2": 0.0})


@pytest.mark.parametrize("closed_at_home", [True, False], ids=["closed at home", "open at home"])
def test_too_many_actuated_coordinates_are_reported(closed_at_home: bool) -> None:
    closed = tuple(close_loops(make_five_bar("q1", "q3")).or_raise().coordinates.items())
    for actuated in (("q1", "q2", "q3"), ("q1", "q2", "q3", "q4")):
        robot = replace(make_five_bar(*actuated), home=closed if closed_at_home else make_five_bar().home)
        reason = f"leave 2 coordinates free, but {len(actuated)} are actuated; remove {len(actuated) - 2} of q1, q2, q3"
        with pytest.raises(ClosureError, match=reason):
            close_loops(robot).or_raise()


def make_four_bar(a: float, b: float, c: float, d: float) -> Robot:
    """A four-bar linkage in the assembly with the lever up; the lengths of crank, rod, lever and base in metres."""
    return Robot(
        "four-bar",
        links=tuple(Link(name) for name in ("base", "crank", "rod", "lever")),
        joints=(
            Joint("crank", R, "base", "crank"),
            Joint("rod", R, "crank", "rod", placement=Frame.shift(a)),
            Joint("lever", R, "base", "lever", placement=Frame.shift(d)),
        ),
        loops=(Loop(Joint("pin", R, "rod", "lever", placement=Frame.shift(b), seat=Frame.shift(-c))),),
        actuated=("crank",),
        home=(("crank", 0.5), ("rod", 0.5), ("lever", 2.0)),
    )


def test_a_pose_beyond_a_range_that_cannot_close_is_not_reached() -> None:
    """The crank cannot turn past the angle at which rod and lever are in line; after one turn the loop could close."""
    robot = make_four_bar(1.0, 0.6, 0.6, 1.0)
    edge = 2 * math.asin(0.6)
    assert close_loops(robot, {"crank": edge - 0.01}).closed
    closure = close_loops(robot, {"crank": 2 * math.pi + 0.5})
    assert not closure.closed
    assert not closure.reached
    assert edge - 1e-3 < closure.coordinates["crank"] <= edge
    assert max(loop.gap for loop in closure.loops) <= CLOSURE_TOLERANCE
    with pytest.raises(ClosureError, match=r"only in another assembly: .* cannot be moved beyond crank = 1\.28"):
        closure.or_raise()
    with pytest.raises(ClosureError, match=r"only in another assembly: .* cannot be moved beyond slide = 0\.3(00\d)?;"):
        close_loops(make_triangle(), {"slide": -0.6}).or_raise()


def test_a_crank_can_make_full_turns() -> None:
    robot = make_four_bar(0.3, 1.0, 0.8, 1.0)
    once, again = (close_loops(robot, {"crank": 0.5 + turns * 2 * math.pi}).or_raise() for turns in (0, 2))
    for name in ("rod", "lever"):
        difference = math.remainder(again.coordinates[name] - once.coordinates[name], 2 * math.pi)
        assert difference == pytest.approx(0.0, abs=1e-8)


def compute_lever(a: float, b: float, c: float, d: float, crank: float, *, up: bool) -> float:
    """The angle of the lever by the law of cosines, for rod and lever on one side of the line through their ends."""
    x, y = a * math.cos(crank) - d, a * math.sin(crank)
    inner = math.acos((c**2 + math.hypot(x, y) ** 2 - b**2) / (2.0 * c * math.hypot(x, y)))
    return math.atan2(y, x) + (-inner if up else inner)


@pytest.mark.parametrize("excess", [5e-4, 5e-3, 5e-2])
def test_an_assembly_is_kept_where_the_other_is_near(excess: float) -> None:
    """With the crank at pi, rod and lever are nearly stretched. A long stride would not notice that they fold over."""
    lengths = (0.1, 0.25 + excess, 0.25, 0.4)
    robot = make_four_bar(*lengths)
    up = math.remainder(close_loops(robot).coordinates["lever"] - compute_lever(*lengths, 0.5, up=True), 2 * math.pi)
    assert up == pytest.approx(0.0, abs=1e-9)
    for crank in (2.5, 3.1, math.pi, 3.2, 3.9, 5.5, 9.0, -3.0, -4.0):
        lever = close_loops(robot, {"crank": crank}).or_raise().coordinates["lever"]
        errors = [
            abs(math.remainder(lever - compute_lever(*lengths, crank, up=up), 2 * math.pi)) for up in (True, False)
        ]
        assert errors[0] < 1e-8
        assert errors[1] > 1e-3  # the twin: the other assembly


def test_a_parallelogram_stops_at_its_flat_pose() -> None:
    """Beyond it, it could be a parallelogram or an antiparallelogram."""
    robot = replace(make_four_bar(0.3, 0.4, 0.3, 0.4), home=(("crank", 1.0), ("rod", -1.0), ("lever", 1.0)))
    assert close_loops(robot, {"crank": 3.1}).or_raise().coordinates["lever"] == pytest.approx(3.1, abs=1e-8)
    with pytest.raises(ClosureError, match=r"only in another assembly: .* cannot be moved beyond crank = 3\.14"):
        close_loops(robot, {"crank": 3.5}).or_raise()


def test_poses_that_are_too_far_are_refused() -> None:
    with pytest.raises(ClosureError, match=r"cannot be moved beyond slide = 1\.3;"):
        close_loops(make_triangle(), {"slide": 1e5}).or_raise()
    for far in (math.nan, math.inf, 1e308):
        with pytest.raises(InputError, match=r"the position of 'slide' is .*; give a number in rad or m between"):
            close_loops(make_triangle(), {"slide": far})
    with pytest.raises(InputError, match=r"the loops of robot 'four-bar' have a gap of .* at"):
        close_loops(make_four_bar(1e49, 1.0, 1.0, -1e49))


def test_a_coordinate_outside_the_loops_moves_at_once() -> None:
    robot = make_triangle()
    with_drum = replace(
        robot,
        links=(*robot.links, Link("drum")),
        joints=(*robot.joints, Joint("drum", R, "base", "drum")),
        actuated=("slide", "drum"),
    )
    assert close_loops(with_drum, {"drum": 900.0}).or_raise().coordinates["drum"] == 900.0


def test_a_missing_actuated_coordinate_is_reported() -> None:
    closure = close_loops(replace(make_triangle(), actuated=()))
    assert closure.closed
    assert not closure.determined
    assert "leave 1 coordinate free, but the actuated ones (none)" in closure.advice


@pytest.mark.parametrize("kind", [P, JointKind.FIXED])
def test_prismatic_and_fixed_cut_joints(kind: JointKind) -> None:
    """The loop is cut at its prismatic joint, or at a fixed joint with which it cannot close."""
    along_x = Frame.from_rpy(0.0, math.pi / 2, 0.0)
    robot = Robot(
        "inverted",
        links=tuple(Link(name) for name in ("base", "beam", "barrel", "rod")),
        joints=(
            Joint("beam", R, "base", "beam"),
            Joint("pivot", R, "base", "barrel", placement=Frame.shift(0.5)),
            Joint("pin", R, "beam", "rod", placement=Frame.shift(0.8)),
        ),
        loops=(Loop(Joint("slide", kind, "barrel", "rod", placement=along_x, seat=along_x.inverse())),),
        actuated=("beam",) if kind is P else (),
        home=(("beam", 1.0), ("pivot", 2.0), ("pin", 1.0)),
    )
    if kind is JointKind.FIXED:
        # Barrel and rod are one link of length 0, so the pivots would have to be both 0.8 and 0.5 apart.
        assert not close_loops(robot).closed
        return
    closure = close_loops(robot, {"beam": 1.2}).or_raise()
    expected = math.sqrt(0.5**2 + 0.8**2 - 2 * 0.5 * 0.8 * math.cos(1.2))
    assert closure.loops[0].position == pytest.approx(expected, abs=1e-9)


def test_a_robot_without_loops_is_closed() -> None:
    robot = Robot("arm", links=(Link("base"), Link("a")), joints=(Joint("q", R, "base", "a"),))
    closure = close_loops(robot, {"q": 0.3}).or_raise()
    np.testing.assert_array_equal(closure.q, [0.3])
    assert closure.freedom == 1
