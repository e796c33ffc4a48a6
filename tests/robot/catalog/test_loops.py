"""The loops of catalog robots close over their stated ranges: compared with closed-form solutions of the geometry."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pytest

from tests.support.catalog_robots import DIFFERENCED, EXACT, edited, robot
from ytheta.robot.kinematics import link_poses
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.loops.equations import compute_loop_states
from ytheta.robot.robot import Robot

Pose: TypeAlias = dict[str, float]


def compute_enclosed_angle(a: float, b: float, c: float) -> float:
    """The angle between the sides a and b of a triangle with the third side c."""
    return math.acos((a * a + b * b - c * c) / (2 * a * b))


def wrap_angle(angle: float) -> float:
    return math.remainder(angle, 2 * math.pi)


def solve_walker(q5: float, q7: float) -> Pose:
    """The pose for cylinder lengths q5 and q7, by the law of cosines; points of the plane are complex numbers."""
    pivot10, pivot11, eye13, lever = complex(-0.2, 0.15), complex(0.45, -0.25), complex(0.65, -0.08), 0.35
    q1 = compute_enclosed_angle(abs(pivot11), abs(eye13), q5) + cmath.phase(pivot11) - cmath.phase(eye13)
    elbow = cmath.rect(1.2, q1)
    to_lever = cmath.phase(pivot10 - elbow) - compute_enclosed_angle(abs(pivot10 - elbow), lever, q7)
    q4 = cmath.phase(cmath.rect(1.0, q1) * eye13 - pivot11)
    q6 = cmath.phase(elbow + cmath.rect(lever, to_lever) - pivot10)
    q2 = wrap_angle(to_lever - math.pi - q1)
    return {"q1": q1, "q2": q2, "q3": -0.8, "q4": q4, "q5": q5, "q6": q6, "q7": q7}


def solve_five_bar(left: float, right: float) -> Pose:
    """The pose for two crank angles; the tip is the upper intersection of the circles about the two elbows."""
    left_elbow, right_elbow = -0.15 + cmath.rect(0.25, left), 0.15 + cmath.rect(0.25, right)
    half = (right_elbow - left_elbow) / 2
    tip = left_elbow + half + 1j * half / abs(half) * math.sqrt(0.45**2 - abs(half) ** 2)
    angles = wrap_angle(cmath.phase(tip - left_elbow) - left), wrap_angle(cmath.phase(tip - right_elbow) - right)
    return {"left": left, "left_elbow": angles[0], "right": right, "right_elbow": angles[1]}


def solve_palletiser(shoulder: float, crank: float) -> Pose:
    """The pose for the angles of shoulder and crank; opposite sides of the parallelogram stay parallel."""
    difference = shoulder - crank
    return {
        "yaw": 0.0,
        "shoulder": shoulder,
        "elbow": -difference,
        "roll": 0.0,
        "crank_pin": crank,
        "rod_pin": difference,
    }


# The function that solves a pose, the actuated coordinates that are its arguments, and the freedom of each robot.
LOOPED_ROBOTS: dict[str, tuple[Callable[[float, float], Pose], tuple[str, str], int]] = {
    "walker": (solve_walker, ("q5", "q7"), 3),
    "five-bar": (solve_five_bar, ("left", "right"), 2),
    "palletiser": (solve_palletiser, ("shoulder", "crank_pin"), 4),
}


def make_grid(name: str, steps: int) -> list[tuple[float, float]]:
    """Values of the two actuated coordinates on a grid between their limits, corners included."""
    limits = (robot(name).joint(joint).limits for joint in LOOPED_ROBOTS[name][1])
    values = (np.linspace(limit.lower, limit.upper, steps).tolist() for limit in limits)
    return list(itertools.product(*values))


def compute_gap(model: Robot, pose: Pose) -> float:
    """The largest gap of the loops at a pose."""
    model = model.numeric
    factors, offset = model.coupling_map
    q = factors @ [pose[name] for name in model.coordinates] + offset
    return max(state.gap for state in compute_loop_states(model, q))


def set_home(model: Robot, pose: Pose) -> Robot:
    return replace(model, home=tuple(pose.items()))


@pytest.mark.parametrize("name", LOOPED_ROBOTS)
def test_loops_close_over_the_stated_range(name: str) -> None:
    solve_pose, _, freedom = LOOPED_ROBOTS[name]
    model = robot(name).numeric
    for values in make_grid(name, 9):
        assert compute_gap(model, solve_pose(*values)) < EXACT
    for values in make_grid(name, 3):
        closure = close_loops(set_home(model, solve_pose(*values)))
        assert closure.closed
        assert closure.determined, closure.advice
        assert closure.freedom == freedom
        assert closure.coordinates == pytest.approx(solve_pose(*values), abs=DIFFERENCED)


@pytest.mark.parametrize("name", LOOPED_ROBOTS)
def test_corners_of_the_range_are_reached_from_home(name: str) -> None:
    solve_pose, actuated, _ = LOOPED_ROBOTS[name]
    for values in make_grid(name, 2):
        closure = close_loops(robot(name), dict(zip(actuated, values, strict=True)))
        assert closure.coordinates == pytest.approx(solve_pose(*values), abs=DIFFERENCED)


# Edits of catalog files: the robot, the old text, and the text with one length changed by 10 %.
CHANGED_LENGTHS = [
    ("walker", "standard_dh = { a = 1.2 }", "standard_dh = { a = 1.32 }"),
    ("walker", "child_frame = { xyz = [-0.55, -0.08, 0.0] }", "child_frame = { xyz = [-0.605, -0.08, 0.0] }"),
    ("five-bar", "l2 = 0.45", "l2 = 0.495"),
    ("five-bar", "l1 = 0.25", "l1 = 0.275"),
    ("palletiser", 'frame       = { xyz = ["arm", 0, 0] }', 'frame       = { xyz = ["1.1*arm", 0, 0] }'),
    ("palletiser", 'child_frame = { xyz = ["-lever", 0, 0] }', 'child_frame = { xyz = ["-1.1*lever", 0, 0] }'),
]


@pytest.mark.parametrize(("name", "old", "new"), CHANGED_LENGTHS)
def test_other_lengths_close_at_another_pose(name: str, old: str, new: str) -> None:
    solve_pose, _, _ = LOOPED_ROBOTS[name]
    other = edited(name, old, new).numeric
    middle = solve_pose(*make_grid(name, 3)[4])
    assert compute_gap(other, middle) > 0.01
    closure = close_loops(set_home(other, middle))
    assert closure.closed
    assert max(abs(closure.coordinates[joint] - value) for joint, value in middle.items()) > 0.01


def test_walker_does_not_close_beyond_its_range() -> None:
    closure = close_loops(robot("walker"), {"q7": 1.7})
    assert not closure.closed
    assert "q9" in closure.advice


def test_five_bar_with_short_rods_does_not_close() -> None:
    start = solve_five_bar(3.0, 0.14)
    assert not close_loops(set_home(robot("five-bar").with_lengths(l2=0.3), start)).closed


def test_palletiser_is_undetermined_if_its_crank_is_in_line_with_the_arm() -> None:
    closure = close_loops(set_home(robot("palletiser"), solve_palletiser(0.5, 0.5)))
    assert closure.closed
    assert not closure.determined


def test_five_bar_elbows_stay_outside() -> None:
    poses = [solve_five_bar(*values) for values in make_grid("five-bar", 9)]
    assert max(pose["left_elbow"] for pose in poses) < 0.0 < min(pose["right_elbow"] for pose in poses)


def test_palletiser_keeps_its_hand_level_for_all_lengths() -> None:
    def compute_tilt(model: Robot) -> float:
        worst = 0.0
        for values in make_grid("palletiser", 3):
            pose = solve_palletiser(*values)
            assert compute_gap(model, pose) < EXACT
            factors, offset = model.coupling_map
            flange = link_poses(model, factors @ [pose[name] for name in model.coordinates] + offset)["flange"]
            worst = max(worst, float(abs(flange[:3, 2] - [0.0, 0.0, -1.0]).max()))
        return worst

    assert compute_tilt(robot("palletiser")) < EXACT
    assert compute_tilt(robot("palletiser").with_lengths(arm=1.21, lever=0.3)) < EXACT
    assert compute_tilt(edited("palletiser", "elbow = -1 }", "elbow = -1.1 }")) > 0.01


def test_walker_has_the_structure_of_the_paper() -> None:
    arm = robot("walker")
    assert arm.gravity_in_base == pytest.approx((0.0, -9.8, 0.0), abs=EXACT)
    assert [link.name for link in arm.links] == [f"link{k}" for k in range(8)]
    assert {loop.name: (loop.joint.parent, loop.joint.child) for loop in arm.loops} == {
        "q8": ("link5", "link1"),
        "q9": ("link7", "link2"),
    }
    assert arm.actuated == ("q5", "q7", "q3")
    assert all(joint.drive.viscous > 0.0 for joint in (*arm.joints, *(loop.joint for loop in arm.loops)))
    pose = solve_walker(0.7, 1.3)
    poses = link_poses(arm, np.array([pose[joint.name] for joint in arm.movable]))
    place = {name: frame[:3, 3] for name, frame in poses.items()}
    assert place["link5"] == pytest.approx(place["connector13"], abs=EXACT)  # (8)
    assert place["link7"] == pytest.approx(place["connector12"], abs=EXACT)  # (9)
    assert math.dist(place["connector11"], place["connector13"]) == pytest.approx(0.7, abs=EXACT)
    assert math.dist(place["connector10"], place["connector12"]) == pytest.approx(1.3, abs=EXACT)
    assert abs(poses["link5"][:3, 2] - [0.0, 0.0, 1.0]).max() < EXACT
