"""The closure equations: their derivatives, and the poses that solve them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.loop_robots import NAMES, make_looped_robot
from ytheta.robot.frame import Frame
from ytheta.robot.loops.closure import close_loops
from ytheta.robot.loops.equations import (
    are_on_same_side,
    close_near,
    compute_closure_jacobian,
    compute_closure_residuals,
    compute_rank,
    compute_tangents,
    find_loop_coordinates,
)
from ytheta.robot.parts import Joint, JointKind, Link, Loop
from ytheta.robot.robot import Robot


@pytest.mark.parametrize("name", NAMES)
def test_the_jacobian_by_differences(name: str) -> None:
    robot = make_looped_robot(name).numeric
    x = np.random.default_rng(0).uniform(-1.0, 1.0, len(robot.coordinates))
    steps = 1e-6 * np.eye(len(x))
    differences = (compute_closure_residuals(robot, x + steps) - compute_closure_residuals(robot, x - steps)) / 2e-6
    jacobian = compute_closure_jacobian(robot, x)
    np.testing.assert_allclose(jacobian, differences.T, atol=1e-8)  # the error of central differences
    assert np.abs(compute_closure_jacobian(move_cut_joints(robot), x) - differences.T).max() > 1e-3  # the twin


def move_cut_joints(robot: Robot) -> Robot:
    """The same robot with the parent's side of every cut joint displaced."""
    offset = Frame.from_rpy(0.1, 0.0, 0.1) @ Frame.shift(0.1)
    moved = (replace(loop.joint, placement=loop.joint.placement @ offset) for loop in robot.loops)
    return replace(robot, loops=tuple(Loop(joint) for joint in moved))


@pytest.mark.parametrize("name", NAMES)
def test_the_tangents_by_closed_poses(name: str) -> None:
    robot = make_looped_robot(name).numeric
    home = np.array(list(close_loops(robot).or_raise().coordinates.values()))
    in_loops = find_loop_coordinates(robot)
    driving = [k for k, coordinate in enumerate(robot.coordinates) if coordinate in robot.actuated]
    driving = [k for k in driving if robot.coordinates[k] in in_loops]
    free = [k for k, coordinate in enumerate(robot.coordinates) if coordinate not in robot.actuated]
    step = 1e-6
    moved = np.repeat(home[None], 2 * len(driving), axis=0)
    for column, k in enumerate(driving):
        moved[2 * column : 2 * column + 2, k] += step, -step
    x, closed = close_near(robot, moved, free)
    assert closed.all()
    differences = (x[::2, free] - x[1::2, free]) / (2.0 * step)
    tangents = compute_tangents(robot, home[None], driving, free)[0]
    np.testing.assert_allclose(tangents, differences.T, rtol=1e-7, atol=1e-7)  # closed far below 1e-13, over 1e-6
    assert np.abs(-tangents - differences.T).max() > 1e-3  # the twin


def make_slider_cranks(count: int) -> Robot:
    """Cranks of length 1 whose ends are at the positions of sliders along x: slide = cos(crank); they share nothing."""
    kinds = {"slide": JointKind.PRISMATIC, "crank": JointKind.REVOLUTE}
    bodies = [f"{kind}{k}" for k in range(count) for kind in (*kinds, "pin")]
    joints = []
    for k in range(count):
        joints += [
            Joint(f"slide{k}", kinds["slide"], "base", f"slide{k}", axis=(1.0, 0.0, 0.0)),
            Joint(f"crank{k}", kinds["crank"], "base", f"crank{k}"),
            Joint(f"pin{k}", kinds["slide"], f"slide{k}", f"pin{k}", axis=(0.0, 1.0, 0.0)),
        ]
    return Robot(
        "slider-cranks",
        links=tuple(Link(name) for name in ("base", *bodies)),
        joints=tuple(joints),
        loops=tuple(
            Loop(Joint(f"cut{k}", JointKind.REVOLUTE, f"crank{k}", f"pin{k}", placement=Frame.shift(1.0)))
            for k in range(count)
        ),
        actuated=tuple(f"slide{k}" for k in range(count)),
        home=tuple((f"slide{k}", 0.5) for k in range(count)),
    )


def test_a_singular_pose_between_two_poses_is_noticed_in_each_loop() -> None:
    robot = make_slider_cranks(2)
    free = [k for k, name in enumerate(robot.coordinates) if name not in robot.actuated]

    def pose(*cranks: float) -> np.ndarray:
        values = {f"crank{k}": angle for k, angle in enumerate(cranks)}
        values |= {f"slide{k}": np.cos(angle) for k, angle in enumerate(cranks)}
        values |= {f"pin{k}": np.sin(angle) for k, angle in enumerate(cranks)}
        return np.array([values[name] for name in robot.coordinates])

    before = np.array([pose(0.1, 0.1), pose(0.1, 0.1), pose(0.1, 0.1), pose(0.0, 0.1)])
    after = np.array([pose(0.05, 0.2), pose(-0.1, 0.1), pose(-0.1, -0.1), pose(-0.1, 0.1)])
    np.testing.assert_allclose(compute_closure_residuals(robot, np.vstack([before, after])), 0.0, atol=1e-12)
    # In the third case both loops fold over: a common determinant would be positive. The last start is singular.
    assert are_on_same_side(robot, before, after, free).tolist() == [True, False, False, True]


def test_the_rank_does_not_count_singular_values_of_nearly_singular_poses() -> None:
    assert compute_rank(np.zeros((0, 3))) == 0
    assert compute_rank(np.diag([3.0, 1e-3, 0.0])) == 2
    assert compute_rank(np.diag([3.0, 1e-6, 0.0])) == 1
    assert compute_rank(1e-6 * np.eye(2)) == 0
