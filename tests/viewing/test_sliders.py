"""Ranges of sliders: limits, the motion that is shown, metres and radians."""

from __future__ import annotations

import math

import numpy as np

import ytheta as yt
from ytheta.viewing.viewer import FREE_STROKE, find_slider_ranges


def test_limits_are_extended_by_the_motion() -> None:
    robot = yt.load("stanford")
    shown = np.zeros((2, 6))
    shown[1, 0] = 50.0
    ranges = list(find_slider_ranges(robot, shown))
    assert [each.index for each in ranges] == list(range(6))
    assert ranges[0].upper == 50.0
    assert [each.label.endswith(" / m") for each in ranges] == [
        name in robot.prismatic_joints for name in robot.actuated
    ]
    limits = robot.actuated_limits[1]
    assert ranges[1].upper == (limits.upper if math.isfinite(limits.upper) else math.pi)


def test_a_floating_base_moves_in_metres_and_radians_and_sensors_do_not_move() -> None:
    robot = yt.float_base(yt.load("lu-two-link").with_load(yt.Inertia(), name="tool"))
    robot = yt.add_wrench_sensor(robot, "tool_grasp")
    shown = np.zeros((1, len(robot.actuated)))
    ranges = list(find_slider_ranges(robot, shown))
    names = [each.label.partition(" / ")[0] for each in ranges]
    assert names == [name for name in robot.actuated if not name.startswith("tool_grasp_")]
    assert [each.label.partition(" / ")[2] for each in ranges[:6]] == ["m"] * 3 + ["rad"] * 3
    assert ranges[0].upper == FREE_STROKE
