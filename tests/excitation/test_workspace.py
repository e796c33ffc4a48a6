"""Workspaces: positions of frames against the faces of a box."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from tests.support.clearances import measure_gradient_error, measure_slope_ratio
from ytheta.errors import InputError, UnknownNameError
from ytheta.excitation.clearance.self_collision import spread_poses
from ytheta.excitation.surroundings import make_workspace
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses
from ytheta.robot.reading.load import load

MOUNTING = Frame.shift(0.2, -0.1, 0.8) @ Frame.from_rpy(0.1, 0.2, 0.3)


def test_margins_are_those_of_the_poses() -> None:
    robot = replace(load("panda"), mounting=MOUNTING)
    constraint = make_workspace(robot, ["panda_link8", "panda_link4"], lower=(-0.5, -inf, 0.1), upper=(inf, 0.6, 1.4))
    assert constraint.names[:2] == ("panda_link8 above x = -0.5 m", "panda_link8 below y = 0.6 m")
    q = spread_poses(robot, 50)
    margins = constraint.compute_margins(q)
    for sample, row in zip(q, margins, strict=True):
        poses = link_poses(robot, sample)
        points = [(MOUNTING.matrix @ poses[name])[:3, 3] for name in ("panda_link8", "panda_link4")]
        expected = [value for x, y, z in points for value in (x + 0.5, 0.6 - y, z - 0.1, 1.4 - z)]
        assert row == pytest.approx(expected, abs=1e-12)
        assert row + 1e-6 != pytest.approx(expected, abs=1e-12)


def test_gradients_and_slopes() -> None:
    robot = replace(load("iiwa14"), mounting=MOUNTING)
    constraint = make_workspace(robot, ["flange", "link3"], lower=(-1.0, -1.0, 0.0), upper=(1.0, 1.0, 2.0))
    q = spread_poses(robot, 200)
    assert measure_gradient_error(constraint, q).max() < 1e-8
    assert measure_gradient_error(constraint, q, shift=1e-3).max() > 1e-5
    assert measure_slope_ratio(constraint, q) <= 1.0
    assert measure_slope_ratio(replace(constraint, lipschitz=0.2 * constraint.lipschitz), q) > 1.0


def test_a_pose_outside_is_named() -> None:
    constraint = make_workspace(load("panda"), ["panda_link8"], lower=(-inf, -inf, 0.9))
    with pytest.raises(InputError, match=r"the start pose .* panda_link8 above z = 0.9 m by \d+ mm"):
        constraint.check_pose(np.array([0.0, 0.5, 0.0, -2.5, 0.0, 2.0, 0.0]))


def test_wrong_workspaces_are_refused() -> None:
    robot = load("panda")
    floor = (-inf, -inf, 0.1)
    with pytest.raises(UnknownNameError, match="has no link or marker 'panda_link88'; did you mean 'panda_link8'"):
        make_workspace(robot, ["panda_link88"], lower=floor)
    with pytest.raises(InputError, match="frame 'panda_link0' belongs to the base"):
        make_workspace(robot, ["panda_link0"], lower=floor)
    with pytest.raises(InputError, match="the workspace has no bound"):
        make_workspace(robot, ["panda_link8"])
    with pytest.raises(InputError, match="the workspace has no bound"):
        make_workspace(robot, [], lower=floor)
    with pytest.raises(InputError, match=r"the box .* is empty"):
        make_workspace(robot, ["panda_link8"], lower=(0.0, 0.0, 1.0), upper=(1.0, 1.0, 0.5))
    with pytest.raises(InputError, match=r"lower is .*; give three numbers"):
        make_workspace(robot, ["panda_link8"], lower=(0.0, nan, 1.0))
    with pytest.raises(InputError, match="not a single string"):
        make_workspace(robot, "panda_link8", lower=floor)
