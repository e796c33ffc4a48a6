"""Loops close where geometry says so: against the cosine rule and against MuJoCo's constraint residual."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from ytheta.errors import ClosureError, InputError
from ytheta.robot.closure import close_loops
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Joint, JointKind, Link, Loop
from ytheta.robot.robot import Robot

R, P = JointKind.REVOLUTE, JointKind.PRISMATIC


def triangle(kind: JointKind = R, actuated: tuple[str, ...] = ("slide",)) -> Robot:
    """A beam on a pivot, held by a cylinder: a triangle whose third side is the cylinder's length."""
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
def test_closes_by_the_cosine_rule(kind: JointKind, length: float) -> None:
    closure = close_loops(triangle(kind), {"slide": length}).or_raise()
    expected = math.acos((0.5**2 + 0.8**2 - length**2) / (2 * 0.5 * 0.8))
    assert closure.coordinates["beam"] == pytest.approx(expected, abs=1e-9)
    assert closure.freedom == 1
    if kind is R:
        turned = closure.coordinates["pivot"] - closure.coordinates["beam"]
        assert closure.loops[0].position == pytest.approx(turned, abs=1e-9)


def test_the_other_assembly_is_not_taken() -> None:
    mirrored = replace(triangle(), home=(("beam", -1.0), ("pivot", -1.3), ("slide", 0.6)))
    assert close_loops(mirrored).coordinates["beam"] == pytest.approx(-close_loops(triangle()).coordinates["beam"])


@pytest.mark.parametrize("length", [0.1, 1.5])
def test_what_cannot_close_says_so(length: float) -> None:
    closure = close_loops(triangle(), {"slide": length})
    assert not closure.closed
    with pytest.raises(ClosureError, match=r"loop 'pin' .* cannot close at this pose: its joint stays 0\.2 .* apart"):
        closure.or_raise()


def test_a_choice_that_does_not_determine_the_rest() -> None:
    five_bar = Robot(
        "five-bar",
        links=tuple(Link(name) for name in ("base", "a", "b", "c", "d")),
        joints=(
            Joint("q1", R, "base", "a"),
            Joint("q2", R, "a", "b", placement=Frame.shift(1.0)),
            Joint("q3", R, "base", "c", placement=Frame.shift(1.0)),
            Joint("q4", R, "c", "d", placement=Frame.shift(1.0)),
        ),
        loops=(Loop(Joint("pin", R, "b", "d", placement=Frame.shift(1.0), seat=Frame.shift(-1.0))),),
        actuated=("q1",),
        home=(("q1", 2.0), ("q2", -1.0), ("q3", 1.0), ("q4", 1.0)),
    )
    with pytest.raises(ClosureError, match=r"leave 2 coordinates free, but the actuated ones \(q1\) do not"):
        close_loops(five_bar).or_raise()
    assert close_loops(replace(five_bar, actuated=("q1", "q3"))).or_raise().freedom == 2
    with pytest.raises(InputError, match="'q2' is not an actuated coordinate"):
        close_loops(five_bar, {"q2": 0.0})


def test_too_few_actuated_coordinates_are_told() -> None:
    open_choice = replace(triangle(), actuated=())
    closure = close_loops(open_choice)
    assert closure.closed
    assert not closure.determined
    assert "leave 1 coordinates free, but the actuated ones (none)" in closure.advice


@pytest.mark.parametrize("kind", [P, JointKind.FIXED])
def test_prismatic_and_fixed_cuts(kind: JointKind) -> None:
    """An inverted cut: the slide itself is where the loop was opened; a weld leaves the triangle without motion."""
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
        # Barrel and rod are one link of length 0: beam and barrel pivots would have to be 0.8 = 0.5 apart.
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
