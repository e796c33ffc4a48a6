"""Bounds on the speed of points: how far a point can be from a joint axis, over all poses within the position limits.

The point is followed from body to body in a ball that contains it. If the ball (centre c, radius R) is turned about an
axis by any angle, it stays in the ball around the foot of c on the axis, with the radius R + |distance of c|.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.dynamics.mechanism import Body, Mechanism
from ytheta.errors import InputError
from ytheta.shapes import Float, PerJoint, Vector3


@dataclass(frozen=True, eq=False)
class Ball:
    center: Vector3
    radius: float


def bound_levers(mechanism: Mechanism, body: int | None, points: Float[np.ndarray, "points 3"]) -> PerJoint:
    """Return bounds on |d point / d q_j| of points that are fixed to a body; zero for joints that do not move them."""
    bounds = np.zeros(mechanism.joints)
    for point in points:
        for joint, bound in _walk_inward(mechanism, body, None, Ball(point, 0.0))[1]:
            bounds[joint] = max(bounds[joint], bound)
    return bounds


def bound_distance_slopes(
    mechanism: Mechanism,
    a: int | None,
    on_a: Float[np.ndarray, "points_a 3"],
    b: int | None,
    on_b: Float[np.ndarray, "points_b 3"],
) -> PerJoint:
    """Return bounds on |d distance / d q_j| of the distance between the convex hulls of points on two bodies.

    Only joints between the bodies change the distance. The direction of the shortest connection passes through the
    nearest points of both bodies, so the lever arm of a joint is bounded by those of the points of either body.
    """
    common = _find_common(mechanism, a, b)
    bounds = np.zeros(mechanism.joints)
    for near, far, points, others in ((a, b, on_a, on_b), (b, a, on_b, on_a)):
        inward: dict[int, float] = {}
        outward: dict[int, float] = {}
        for point in points:
            _, levers = _walk_inward(mechanism, near, common, Ball(point, 0.0))
            for joint, bound in levers:
                inward[joint] = max(inward.get(joint, 0.0), bound)
        for point in others:
            ball, _ = _walk_inward(mechanism, far, common, Ball(point, 0.0))
            for joint, bound in _walk_outward(mechanism, common, near, ball):
                outward[joint] = max(outward.get(joint, 0.0), bound)
        for joint, bound in inward.items():
            bounds[joint] = min(bound, outward[joint])
    return bounds


def check_strokes(mechanism: Mechanism) -> None:
    """Raise InputError if a prismatic joint has no position limits, because then no reach is bounded."""
    for joint in mechanism.robot.movable:
        limits = joint.limits
        if joint.name in mechanism.robot.prismatic_joints and not math.isfinite(limits.upper - limits.lower):
            raise InputError(
                f"joint {joint.name!r} is prismatic and has no position limits, so the reach of the robot is not "
                "bounded; give its limits in the description"
            )


def _walk_inward(
    mechanism: Mechanism, body: int | None, until: int | None, ball: Ball
) -> tuple[Ball, list[tuple[int, float]]]:
    """Follow a ball from the frame of a body to that of an ancestor; return it there, and a bound for each joint."""
    levers: list[tuple[int, float]] = []
    while body is not None and body != until:
        part = mechanism.bodies[body]
        ball = _move(ball, _to_numbers(part.S), _to_numbers(part.s))
        if part.joint is not None:
            ball, lever = _sweep(mechanism, part, part.joint, ball, inward=True)
            levers.append((part.joint, lever))
        ball = _move(ball, _to_numbers(part.P), _to_numbers(part.p))
        body = part.parent
    return ball, levers


def _walk_outward(mechanism: Mechanism, start: int | None, goal: int | None, ball: Ball) -> Iterator[tuple[int, float]]:
    """Follow a ball from the frame of an ancestor to that of a body; yield a bound for each joint."""
    path = [] if goal is None else list(mechanism.path(goal))
    for body in path[path.index(start) + 1 :] if start is not None else path:
        part = mechanism.bodies[body]
        ball = _move_back(ball, _to_numbers(part.P), _to_numbers(part.p))
        if part.joint is not None:
            ball, lever = _sweep(mechanism, part, part.joint, ball, inward=False)
            yield part.joint, lever
        ball = _move_back(ball, _to_numbers(part.S), _to_numbers(part.s))


def _sweep(mechanism: Mechanism, body: Body, joint: int, ball: Ball, *, inward: bool) -> tuple[Ball, float]:
    """Return the ball that contains a ball at all positions of a joint, and the bound on the speed of its points."""
    axis = _to_numbers(body.axis)
    if body.revolute:
        foot = axis * (axis @ ball.center)
        lever = float(np.linalg.norm(ball.center - foot)) + ball.radius
        return Ball(foot, lever), lever
    limits = mechanism.robot.movable[joint].limits
    middle, half = (limits.lower + limits.upper) / 2.0, (limits.upper - limits.lower) / 2.0
    return Ball(ball.center + axis * (middle if inward else -middle), ball.radius + half), 1.0


def _find_common(mechanism: Mechanism, a: int | None, b: int | None) -> int | None:
    """Return the last body on the paths to both bodies; None if it is the base."""
    if a is None or b is None:
        return None
    shared = [x for x, y in zip(mechanism.path(a), mechanism.path(b), strict=False) if x == y]
    return shared[-1] if shared else None


def _move(ball: Ball, rotation: np.ndarray, translation: np.ndarray) -> Ball:
    return Ball(rotation @ ball.center + translation, ball.radius)


def _move_back(ball: Ball, rotation: np.ndarray, translation: np.ndarray) -> Ball:
    return Ball(rotation.T @ (ball.center - translation), ball.radius)


def _to_numbers(values: np.ndarray) -> np.ndarray:
    return values.astype(float)
