"""Smallest capsules around balls: points with radii, which may be zero.

For a given axis line and radius, the shortest capsule has a closed form. So the volume is a function of five numbers:
two angles and two shifts of the line, and the excess of the radius over the smallest possible one. It is minimized
from several axes. The result contains all balls whatever the minimizer does, because its radius is measured at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ytheta.excitation.clearance.capsule import Capsule, to_capsule
from ytheta.shapes import Float, Matrix3, Vector3

MIN_HULL_POINTS = 40  # for fewer points, the convex hull takes longer than it saves
MAX_EVALUATIONS = 250  # of the volume, for each start
MAX_START_VOLUME = 1.3  # volume along another principal axis over the smallest; larger ones are not refined
ROUNDING = 1e-12  # relative growth of the radius, so that rounding errors leave no ball outside


@dataclass(frozen=True, eq=False)
class Balls:
    """Points and their radii, in metres."""

    points: Float[np.ndarray, "points 3"]
    radii: Float[np.ndarray, "points"]


def fit_capsule(balls: Balls) -> Capsule:
    """Return a capsule of small volume that contains all balls; the smallest one up to the accuracy of the search."""
    from scipy.optimize import minimize  # imported here, since loading it takes long

    balls = keep_hull(balls)
    starts = [(axes, _center_line(balls, axes)) for axes in _list_axes(balls)]
    best = fit_quickly(balls)
    center = balls.points.mean(axis=0)
    scale = float(np.ptp(balls.points, axis=0).max()) + float(balls.radii.max())
    for axes, point in starts:
        if _measure_volume(balls, axes[2], point, 0.0)[0] > MAX_START_VOLUME * best.volume:
            continue

        def measure(x: np.ndarray, axes: Matrix3 = axes) -> float:
            direction, point = _turn_line(axes, center, scale, x)
            return _measure_volume(balls, direction, point, scale * abs(float(x[4])))[0]

        shift = point - center
        start = np.array([0.0, 0.0, shift @ axes[0] / scale, shift @ axes[1] / scale, 0.0])
        simplex = np.vstack([start, start + np.diag([0.15, 0.15, 0.05, 0.05, 0.05])])
        x = minimize(
            measure,
            start,
            method="Nelder-Mead",
            options={"maxfev": MAX_EVALUATIONS, "initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-4 * best.volume},
        ).x
        capsule = _enclose(balls, *_turn_line(axes, center, scale, x), scale * abs(x[4]))
        best = min(best, capsule, key=lambda candidate: candidate.volume)
    return best


def fit_quickly(balls: Balls) -> Capsule:
    """Return the smallest of the capsules along the principal axes, with the smallest radius of each axis."""
    lines = [(axes[2], _center_line(balls, axes)) for axes in _list_axes(balls)]
    direction, point = min(lines, key=lambda line: _measure_volume(balls, line[0], line[1], 0.0)[0])
    return _enclose(balls, direction, point, 0.0)


def keep_hull(balls: Balls) -> Balls:
    """Return the corners of the convex hull if no ball has a radius, else all balls."""
    from scipy.spatial import ConvexHull, QhullError  # imported here, since loading it takes long

    if len(balls.points) < MIN_HULL_POINTS or balls.radii.any():
        return balls
    try:
        corners = ConvexHull(balls.points).vertices
    except QhullError:  # all points are in a plane
        return balls
    return Balls(balls.points[corners], balls.radii[corners])


def _list_axes(balls: Balls) -> list[Matrix3]:
    """Return three triples of axes as rows, with another principal axis of the points in the last row of each."""
    offset = balls.points - balls.points.mean(axis=0)
    rows = np.linalg.eigh(offset.T @ offset)[1].T
    return [np.roll(rows, 2 - k, axis=0) for k in range(3)]


def _center_line(balls: Balls, axes: Matrix3) -> Vector3:
    """Return a point of the line along the last axis through the middle of the points across it."""
    across = balls.points @ axes[:2].T
    middle = ((across - balls.radii[:, None]).min(axis=0) + (across + balls.radii[:, None]).max(axis=0)) / 2.0
    return middle @ axes[:2]


def _turn_line(axes: Matrix3, center: Vector3, scale: float, x: np.ndarray) -> tuple[Vector3, Vector3]:
    """Return the direction and a point of the line for angles x[0], x[1] and shifts x[2], x[3]."""
    direction = axes[2] + x[0] * axes[0] + x[1] * axes[1]
    return direction / np.linalg.norm(direction), center + scale * (x[2] * axes[0] + x[3] * axes[1])


def _measure_volume(
    balls: Balls, direction: Vector3, point: Vector3, excess: float
) -> tuple[float, float, float, float]:
    """Return volume, radius and ends (along the line) of the shortest capsule on a line that contains all balls.

    ``excess`` is the radius minus the smallest one that is possible on this line.
    """
    offset = balls.points - point
    along = offset @ direction
    squares = np.maximum(np.einsum("ij,ij->i", offset, offset) - along * along, 0.0)
    radius = float((np.sqrt(squares) + balls.radii).max()) + excess
    # The end may be this much behind a ball: the ball of the capsule around the end then touches the ball from outside.
    cover = np.sqrt(np.maximum((radius - balls.radii) ** 2 - squares, 0.0))
    start, end = float((along + cover).min()), float((along - cover).max())
    if start > end:
        start = end = (start + end) / 2.0
    return math.pi * radius**2 * (end - start + 4.0 / 3.0 * radius), radius, start, end


def _enclose(balls: Balls, direction: Vector3, point: Vector3, excess: float) -> Capsule:
    """Return the shortest capsule on a line that contains all balls; its radius is measured, not computed."""
    _, radius, start, end = _measure_volume(balls, direction, point, excess)
    capsule = to_capsule(point + start * direction, point + end * direction, radius)
    needed = float((capsule.measure_distances(balls.points) + balls.radii).max()) + capsule.radius
    return to_capsule(capsule.ends[0], capsule.ends[1], needed * (1.0 + ROUNDING))
