"""The regrouped Lagrangian of arms with Denavit-Hartenberg rows that are turned about joint axes.

A turn about the axis of a revolute joint is an offset of its position, so that it must change neither the number of
terms nor their order of magnitude.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import ytheta as yt
from tests.support.pinocchio_peer import peer
from ytheta.files.symbols import Scalar, symbol
from ytheta.identifiability.regrouping import Regrouping
from ytheta.native import compile_graph
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

X_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
TURNS = (math.pi / 3, -math.pi / 4, 0.7)
LARGEST = 1e6  # of coefficients, and of their inverses; rounding errors are below 1e-12
TWISTS = (math.pi / 2, 0.7, 0.0)


def standard(theta: float, a: Scalar, alpha: float, d: Scalar = 0.0) -> Frame:
    return Frame.turn(Z_AXIS, theta) @ Frame.shift(a, 0.0, d) @ Frame.turn(X_AXIS, alpha)


def modified(gamma: float, b: Scalar, alpha: float, a: Scalar, r: Scalar = 0.0) -> Frame:
    return Frame.turn(Z_AXIS, gamma) @ Frame.shift(0.0, 0.0, b) @ Frame.turn(X_AXIS, alpha) @ Frame.shift(a, 0.0, r)


def make_robot(placements: Sequence[Frame], seats: Sequence[Frame], parents: Sequence[int]) -> Robot:
    """A tree of three revolute joints; the lengths a1, d1 and a2 have no values."""
    body = Inertia.point_mass(2.0, (0.1, 0.2, -0.1)) + Inertia.point_mass(1.0, (-0.2, 0.1, 0.3))
    links = (Link("base"), *(Link(f"link{k}", body) for k in (1, 2, 3)))
    joints = tuple(
        Joint(f"joint{k}", JointKind.REVOLUTE, links[parent].name, links[k].name, placement=placement, seat=seat)
        for k, (placement, seat, parent) in enumerate(zip(placements, seats, parents, strict=True), start=1)
    )
    used = sorted(set().union(*(frame.symbols for frame in (*placements, *seats))))
    return Robot("arm", links, joints, gravity=(0.0, -9.81, 0.0), lengths=tuple((name, None) for name in used))


def make_chain(turn: float, twist: float, a: Scalar, d: Scalar, *, ratio: float = 0.4) -> Robot:
    """Both first rows are turned, the second by ``ratio`` times the turn of the first."""
    seats = (standard(turn, a, twist, d), standard(ratio * turn, symbol("a2"), math.pi / 2), IDENTITY)
    return make_robot([IDENTITY] * 3, seats, (0, 1, 2))


def make_branch(turn: float, twist: float, a: Scalar, d: Scalar) -> Robot:
    """Links 2 and 3 are both on link 1; the offset of link 2 is a along its common normal and 0.2, d along the axes."""
    placements = (IDENTITY, modified(turn, 0.2, twist, a, d), modified(-turn, 0.0, math.pi / 2, symbol("a2")))
    return make_robot(placements, [IDENTITY] * 3, (0, 1, 1))


def list_coefficients(regrouping: Regrouping) -> list[float]:
    functions = [float(x) for group in regrouping.functions for function in group for x in function.values()]
    return functions + [float(x) for group in regrouping.combinations for row in group for _, _, x in row.terms]


LENGTHS = {
    "all unset": (symbol("a1"), symbol("d1")),
    "offset unset": (0.4318, symbol("d1")),
    "both set": (0.4, 0.15),
    "sixteen digits": (0.4318273645546372, symbol("d1")),
}


@pytest.mark.parametrize("make", [make_chain, make_branch])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_turns_leave_no_rounding_errors(make: Callable[..., Robot], lengths: str) -> None:
    for twist in TWISTS:
        expected = yt.regroup_lagrangian(make(0.0, twist, *LENGTHS[lengths]))
        for turn in TURNS:
            regrouping = yt.regroup_lagrangian(make(turn, twist, *LENGTHS[lengths]))
            assert regrouping.counts == expected.counts
            sizes = np.abs(list_coefficients(regrouping))
            assert sizes.min() > 1.0 / LARGEST, (twist, turn)
            assert sizes.max() < LARGEST, (twist, turn)


def test_turns_that_add_up_to_a_quarter_turn() -> None:
    """The sum of 60 and 30 degrees is rounded; no combination is scaled by what should vanish."""
    regrouping = yt.regroup_lagrangian(make_chain(math.pi / 3, 0.0, symbol("a1"), symbol("d1"), ratio=0.5))
    assert max(abs(x) for group in regrouping.combinations for row in group for _, _, x in row.terms) < LARGEST
    assert all(max(abs(float(x)) for x in f.values()) > 1.0 / LARGEST for group in regrouping.functions for f in group)


@pytest.mark.parametrize("make", [make_chain, make_branch])
def test_torques_with_turns(make: Callable[..., Robot]) -> None:
    """One U and X for the geometry give the torques of Pinocchio. Twin: another value of a length."""
    robot = make(0.7, 0.7, symbol("a1"), symbol("d1"))
    regrouping = yt.regroup_lagrangian(robot, friction=())
    lengths = {"a1": 0.4, "d1": 0.15, "a2": 0.3}
    known, other = robot.with_lengths(**lengths), robot.with_lengths(**lengths | {"a1": 0.41})
    states = np.random.default_rng(5).uniform(-2.0, 2.0, (3, 6, 3))
    oracle = peer(known)
    tau = np.array([oracle.torque(*state) for state in zip(*states, strict=True)])
    U = np.asarray(compile_graph(regrouping.make_graph("differential"), backend="interpreter")(*states))
    scale = np.abs(tau).max()
    assert np.abs(U @ regrouping.with_robot(known).values - tau).max() < 1e-11 * scale  # rational angles: 2e-12
    assert np.abs(U @ regrouping.with_robot(other).values - tau).max() > 1e-5 * scale


def test_texts_have_six_digits() -> None:
    """cos 60° is a fraction of 24 digits, because sin 60° must be rational as well."""
    regrouping = yt.regroup_lagrangian(make_chain(math.pi / 3, 0.0, symbol("a1"), 0.0))
    texts = (*regrouping.function_texts, *regrouping.expressions)
    assert "-8.49571·cos(q1)" in texts
    assert not [text for text in texts if re.search(r"\d{8}", text)]
