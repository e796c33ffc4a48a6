"""Construction of constraints: closed forms, and actuated coordinates that do not suit the loops."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pytest

import ytheta
from tests.support.loop_motion import get_constraint
from tests.support.loop_robots import NAMES
from ytheta.dynamics.constraint import _pivot_rows, build_constraint
from ytheta.dynamics.loop_solver import solve
from ytheta.errors import ClosureError
from ytheta.robot.frame import Frame
from ytheta.robot.parts import Loop


def test_parallelograms_have_a_closed_form() -> None:
    affine = get_constraint("palletiser").affine
    assert affine is not None
    names = get_constraint("palletiser").robot.coordinates
    rows = dict(zip(names, affine.E, strict=True))
    assert rows["elbow"].tolist() == [0.0, -1.0, 1.0, 0.0]
    assert rows["rod_pin"].tolist() == [0.0, 1.0, -1.0, 0.0]
    assert not affine.offset.any()
    assert solve(get_constraint("palletiser"), np.array([[0.3, 1.2, -0.4, 2.0]])).iterations == 0
    assert all(get_constraint(name).affine is None for name in NAMES if name != "palletiser")
    robot = ytheta.load("palletiser")
    cut = robot.loops[0].joint
    uneven = replace(robot, loops=(Loop(replace(cut, placement=Frame.shift(1.15))),))
    assert build_constraint(uneven).affine is None


def test_pivoted_rows_are_those_of_scipy() -> None:
    """Rows chosen for many matrices at once are the pivots of a QR factorization; those of another matrix are not."""
    from scipy.linalg import qr

    matrices = np.random.default_rng(0).normal(size=(5, 9, 4))
    matrices[:, 7] = matrices[:, 2] + matrices[:, 3]
    expected = [qr(matrix.T, mode="r", pivoting=True)[1][:4].tolist() for matrix in matrices]
    assert _pivot_rows(matrices).tolist() == expected
    assert _pivot_rows(matrices[::-1]).tolist() != expected


def test_a_wrong_choice_of_actuated_coordinates_is_refused() -> None:
    robot = ytheta.load("five-bar")
    with pytest.raises(ClosureError, match="leave 2 coordinates free, but 3 are actuated; remove 1 of"):
        build_constraint(replace(robot, actuated=("left", "right", "left_elbow")))
    with pytest.raises(ClosureError, match="choose 2 of"):
        build_constraint(replace(robot, actuated=("left",)))


def test_constraints_of_a_robot_share_numbers_but_no_symbols() -> None:
    """The poses are found once for a robot; symbols of different graphs must not be the same."""
    first, again = (build_constraint(ytheta.load("five-bar")) for _ in range(2))
    assert again.home is first.home
    assert not first.home.flags.writeable
    assert not casadi.is_equal(first.x, again.x)
    robot = ytheta.load("five-bar")
    moved = replace(robot, home=tuple((name, value + 0.1) for name, value in robot.home))
    assert abs(build_constraint(moved).home - first.home).max() > 0.05
