"""Poses of the whole workspace of a robot, with the tangent of its loops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.robot.loops.equations import find_loop_coordinates
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float

MIN_POSES, MIN_ROWS = 12, 1500  # of the sample; with n actuated coordinates, a pose gives n (n + 1) rows
MAX_HALVINGS = 12  # number of ranges tried for joints in loops, each half as wide as the one before
MAX_CONDITION = 1e3  # of the loop equations; poses with a larger condition number have huge rows and are left out


@dataclass(frozen=True, eq=False)
class PoseSample:
    """Poses x of a robot with closed loops, and E = dx/dQ by the actuated coordinates Q; None if x is Q."""

    x: Float[np.ndarray, "poses coordinates"]
    E: Float[np.ndarray, "poses coordinates actuated"] | None = None

    def select(self, chosen: Bool[np.ndarray, "poses"]) -> PoseSample:
        """Return only the chosen poses."""
        return PoseSample(self.x[chosen], None if self.E is None else self.E[chosen])


def sample_poses(robot: Robot, length: float) -> PoseSample:
    """Sample configurations of the whole workspace in which all loops are closed.

    ``length`` is the range of prismatic joints. Coordinates of joints in loops are sampled in a range around the home
    configuration. The range is halved until the loops close in enough poses.
    """
    robot = robot.numeric.merged
    size = len(robot.actuated)
    rows_per_pose = size * (size + 1)
    count = max(MIN_POSES, -(-MIN_ROWS // rows_per_pose), -(-4 * len(robot.parameter_names) // rows_per_pose))
    sliding = robot.prismatic_joints
    reach = np.array([length if name in sliding else np.pi for name in robot.actuated])
    if not robot.loops:
        return PoseSample(robot.home_coordinates + (2.0 * fill_cube(count, size) - 1.0) * reach)
    from ytheta.dynamics.constraint import build_constraint  # imported here, since only robots with loops need it
    from ytheta.dynamics.loop_solver import compute_tangents, solve

    loops = build_constraint(robot)
    home = loops.home[list(loops.actuated)]
    in_loops = find_loop_coordinates(robot)
    constrained = np.array([name in in_loops for name in robot.actuated])
    poses, others = np.empty((0, len(loops.home))), np.empty((0, len(loops.home) + 1))
    for halvings in range(MAX_HALVINGS):
        width = np.where(constrained, reach / 2**halvings, reach)
        outcome = solve(loops, home + (2.0 * fill_cube(4 * count, size) - 1.0) * width)
        good = outcome.determined & (outcome.condition < MAX_CONDITION)
        poses = np.concatenate([poses, outcome.x[good]])
        if len(poses) >= count:
            return PoseSample(poses, compute_tangents(loops, poses))
        fair = outcome.determined & ~good
        others = np.concatenate([others, np.column_stack([outcome.condition, outcome.x])[fair]])
    if len(poses) + len(others) >= count:  # a small or flat mechanism, whose lengths are small numbers
        poses = np.concatenate([poses, others[np.argsort(others[:, 0])[: count - len(poses)], 1:]])
        return PoseSample(poses, compute_tangents(loops, poses))
    raise InputError(
        f"robot {robot.name!r}: its loops close in too few poses around the home configuration to measure a rank; "
        + outcome.advice
    )


def fill_cube(count: int, size: int) -> Float[np.ndarray, "count size"]:
    """Return points that fill the unit cube evenly, the same in every run (additive recurrence, Roberts 2018)."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1.0 + ratio) ** (1.0 / (size + 1))
    steps = ratio ** -np.arange(1.0, size + 1.0)
    return (0.5 + np.outer(np.arange(1.0, count + 1.0), steps)) % 1.0
