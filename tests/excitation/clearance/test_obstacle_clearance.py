"""Margins between links and obstacles: coal as the oracle, gradients, slopes, wrong obstacles."""

from __future__ import annotations

from dataclasses import replace

import coal
import numpy as np
import pytest

from tests.support.clearances import measure_gradient_error, measure_slope_ratio
from ytheta.errors import InputError, RobotError
from ytheta.excitation.clearance.link_capsules import find_link_capsules
from ytheta.excitation.clearance.obstacle import Obstacle, ObstacleKind, make_floor, make_wall
from ytheta.excitation.clearance.obstacle_clearance import make_obstacle_clearance
from ytheta.excitation.clearance.self_collision import spread_poses
from ytheta.findings import Severity
from ytheta.robot.frame import Frame
from ytheta.robot.kinematics import link_poses
from ytheta.robot.parts import make_capsule
from ytheta.robot.reading.load import load

MOUNTING = Frame.shift(0.2, -0.1, 0.8) @ Frame.from_rpy(0.1, 0.2, 0.3)
PLACE = Frame.shift(0.6, 0.3, 0.9) @ Frame.from_rpy(0.3, -0.2, 0.5)
OBSTACLES = {
    "ball": (Obstacle("ball", ObstacleKind.SPHERE, (0.15,), PLACE), coal.Sphere(0.15)),
    "post": (Obstacle("post", ObstacleKind.CAPSULE, (0.05, 0.6), PLACE), coal.Capsule(0.05, 0.6)),
    "case": (Obstacle("case", ObstacleKind.BOX, (0.2, 0.3, 0.5), PLACE), coal.Box(0.2, 0.3, 0.5)),
}
CLEARANCE = 0.02


def ask_coal(link: str, obstacle: str, poses: dict[str, np.ndarray]) -> float:
    """The distance of the capsule of a link from an obstacle."""
    capsule = next(item.capsule for item in find_link_capsules(ARM).capsules if item.link == link)
    pose = MOUNTING.matrix @ poses[link]
    ends = capsule.ends @ pose[:3, :3].T + pose[:3, 3]
    along = ends[1] - ends[0]
    length = float(np.linalg.norm(along))
    turn = np.array(Frame.align_z(tuple(along / length)).rotation)
    own = coal.Capsule(capsule.radius, length), coal.Transform3s(turn, ends.mean(axis=0))
    given, shape = OBSTACLES[obstacle]
    matrix = given.frame.matrix
    other = shape, coal.Transform3s(matrix[:3, :3], matrix[:3, 3])
    return float(coal.distance(*own, *other, coal.DistanceRequest(), coal.DistanceResult()))


PANDA = load("panda")
# One capsule for each link, so that the names of margins are those of links.
ARM = replace(
    PANDA,
    mounting=MOUNTING,
    collision=tuple({shape.link: shape for shape in PANDA.collision}.values()),
)


@pytest.mark.parametrize("name", OBSTACLES)
def test_margins_are_the_distances_of_coal(name: str) -> None:
    constraint = make_obstacle_clearance(ARM, [OBSTACLES[name][0]], clearance=CLEARANCE)
    q = spread_poses(ARM, 60)
    margins = constraint.compute_margins(q)
    assert len(constraint.names) == 7  # the base is not checked
    inside = 0
    for sample, row in zip(q, margins, strict=True):
        poses = link_poses(ARM, sample)
        for pair, margin in zip(constraint.names, row, strict=True):
            link, obstacle = pair.split("–")
            distance = ask_coal(link, obstacle, poses)
            if distance > 0.0:
                assert margin + CLEARANCE == pytest.approx(distance, abs=2e-6)  # coal iterates to 1e-6
            else:
                assert margin + CLEARANCE <= 2e-6
                inside += 1
    assert inside > 0
    other = replace(ARM, mounting=Frame.shift(0.0, 0.0, 1e-3) @ MOUNTING)
    moved = make_obstacle_clearance(other, [OBSTACLES[name][0]], clearance=CLEARANCE).compute_margins(q)
    assert abs(moved - margins).max() > 1e-4


@pytest.mark.parametrize("name", [*OBSTACLES, "wall"])
def test_gradients_and_slopes(name: str) -> None:
    wall = make_wall((0.5, 0.0, 0.0), (-1.0, 0.2, 0.3))
    obstacle = wall if name == "wall" else OBSTACLES[name][0]
    constraint = make_obstacle_clearance(ARM, [obstacle], clearance=CLEARANCE)
    q = spread_poses(ARM, 200)
    assert np.quantile(measure_gradient_error(constraint, q), 0.97) < 1e-7
    assert np.quantile(measure_gradient_error(constraint, q, shift=1e-3), 0.5) > 1e-5
    assert measure_slope_ratio(constraint, q) <= 1.0
    assert measure_slope_ratio(replace(constraint, lipschitz=0.3 * constraint.lipschitz), q) > 1.0


def test_a_floor_is_the_lowest_point_of_the_capsules() -> None:
    robot = load("panda")
    constraint = make_obstacle_clearance(robot, [make_floor(-0.05)])
    q = spread_poses(robot, 50)
    lowest = constraint.compute_margins(q).min(axis=1)
    capsules = find_link_capsules(robot).capsules
    heights = np.array(
        [
            [
                item.capsule.ends @ pose[item.link][2, :3] + pose[item.link][2, 3] - item.capsule.radius
                for item in capsules
            ]
            for pose in (link_poses(robot, sample) for sample in q)
        ]
    ).reshape(len(q), -1)
    moving = np.ptp(heights, axis=0) > 1e-9  # neither the base nor what turns about the vertical
    assert 0 < np.count_nonzero(moving) < len(moving)
    assert lowest == pytest.approx(heights[:, moving].min(axis=1) + 0.05, abs=1e-12)


def test_links_that_always_touch_an_obstacle_are_named() -> None:
    robot = load("panda")
    low = (*robot.collision, make_capsule("panda_link1", (0.0, 0.0, -0.3), (0.0, 0.0, -0.2), 0.06))
    high = (*low, make_capsule("panda_link2", (0.2, 0.0, 0.0), (0.2, 0.0, 0.0), 0.7))
    constraint = make_obstacle_clearance(replace(robot, collision=high), [make_floor()])
    fixed, moving = constraint.findings
    words = "are not checked for collision, because they are too close in every pose"
    assert (fixed.severity, fixed.names) == (Severity.NOTE, ("panda_link1",))  # it turns about the vertical
    assert f"panda_link1[2]–floor {words}, and their distance hardly depends on the motion" in fixed.text
    assert (moving.severity, moving.names) == (Severity.WARNING, ("panda_link2",))
    assert f"panda_link2[2]–floor {words}; check" in moving.text


@pytest.mark.parametrize(
    ("obstacle", "depth"),
    [
        (make_floor(0.1), 100.0),
        (Obstacle("case", ObstacleKind.BOX, (0.4, 0.4, 0.4)), 200.0),
        (Obstacle("ball", ObstacleKind.SPHERE, (0.3,), Frame.shift(0.1)), 200.0),
        (Obstacle("post", ObstacleKind.CAPSULE, (0.05, 1.0)), 50.0),
    ],
)
def test_an_obstacle_that_contains_the_base_is_refused(obstacle: Obstacle, depth: float) -> None:
    words = f"obstacle '{obstacle.name}' contains the base of robot 'panda': .* {depth:g} mm inside"
    with pytest.raises(InputError, match=words):
        make_obstacle_clearance(load("panda"), [obstacle])
    raised = replace(load("panda"), mounting=Frame.shift(z=2.0))
    assert make_obstacle_clearance(raised, [obstacle]).names


def test_wrong_obstacles_are_refused() -> None:
    robot = load("panda")
    with pytest.raises(InputError, match="the list of obstacles is empty"):
        make_obstacle_clearance(robot, [])
    with pytest.raises(RobotError, match="the obstacle name 'floor' is used 2 times"):
        make_obstacle_clearance(robot, [make_floor(), make_floor(-1.0)])
    with pytest.raises(InputError, match="no moving link of robot 'puma560' has a collision shape"):
        make_obstacle_clearance(load("puma560"), [make_floor()])
    with pytest.raises(InputError, match="every link is too close to the obstacles in every pose"):
        make_obstacle_clearance(robot, [make_floor()], clearance=5.0)
