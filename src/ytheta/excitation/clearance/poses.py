"""Poses spread evenly over the position limits of a robot, the same ones in every run."""

from __future__ import annotations

import math

import numpy as np

from ytheta.dynamics.constraint import build_constraint
from ytheta.dynamics.loop_solver import solve
from ytheta.robot.robot import Robot
from ytheta.shapes import SamplesByJoint


def spread_poses(robot: Robot, count: int) -> SamplesByJoint:
    """Return joint positions of about ``count`` poses within the limits; joints without limits make one turn.

    Poses at which a loop cannot close, or at which a joint that is not actuated leaves its limits, are left out.
    """
    robot = robot.numeric
    lower, upper = np.array([_bound(limits.lower, limits.upper) for limits in robot.actuated_limits]).reshape(-1, 2).T
    Q = lower + (upper - lower) * _fill_unit_cube(count, len(lower))
    if robot.loops:
        outcome = solve(build_constraint(robot), Q)
        q = outcome.q[outcome.determined]
    else:
        order = [robot.actuated.index(name) for name in robot.coordinates]
        factors, offset = robot.coupling_map
        q = Q[:, order] @ factors.T + offset
    limits = np.array([(joint.limits.lower, joint.limits.upper) for joint in robot.movable]).reshape(-1, 2)
    slack = 1e-9
    within: SamplesByJoint = q[((q >= limits[:, 0] - slack) & (q <= limits[:, 1] + slack)).all(axis=1)]
    return within if len(within) else q


def _bound(lower: float, upper: float) -> tuple[float, float]:
    if math.isfinite(lower) and math.isfinite(upper):
        return lower, upper
    if math.isfinite(lower):
        return lower, lower + 2.0 * math.pi
    return (upper - 2.0 * math.pi, upper) if math.isfinite(upper) else (-math.pi, math.pi)


def _fill_unit_cube(count: int, dimensions: int) -> np.ndarray:
    """Return the additive recurrence of the generalized golden ratio, which fills the cube evenly (Roberts, 2018)."""
    ratio = 2.0
    for _ in range(60):  # the root of x^(d + 1) = x + 1
        ratio = (1.0 + ratio) ** (1.0 / (dimensions + 1))
    steps = ratio ** -np.arange(1.0, dimensions + 1)
    return (0.5 + np.arange(1, count + 1)[:, None] * steps) % 1.0
