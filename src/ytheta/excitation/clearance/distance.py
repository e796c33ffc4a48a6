"""Distances between segments, points, boxes and half-spaces, on CasADi scalars.

Every distance is exact and needs no branches, so that all samples run through the same instructions. ``Contact`` holds
the distance and the points between which it is measured. By the envelope theorem, the places of these points on their
segments may be treated as constants when the distance is differentiated.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.shapes import Float

if TYPE_CHECKING:
    import casadi

# m^2; keeps the direction between two points finite if they coincide. A distance of 1 mm is wrong by 5e-16 m.
MIN_SQUARE = 1e-18
# Share of the product of the squared lengths; below it, segments count as parallel (angles below 1e-7 rad).
MIN_SINE_SQUARE = 1e-14


@dataclass(frozen=True, eq=False)
class Contact:
    """The distance between A and B, the nearest points of A and B, and the direction from B to A."""

    distance: casadi.SX
    on_a: casadi.SX
    on_b: casadi.SX
    direction: casadi.SX


@dataclass(frozen=True, eq=False)
class Segment:
    """A segment, or a point if ``along`` is None: p(s) = start + s along, 0 <= s <= 1."""

    start: casadi.SX
    along: casadi.SX | None

    def point(self, share: Any) -> casadi.SX:
        return self.start if self.along is None else self.start + share * self.along


def measure_segments(a: Segment, b: Segment) -> Contact:
    """Return the distance between two segments.

    The distance is convex in both shares. The share s of the lines, clamped, then the best t for it, clamped, then the
    best s for this t is the minimum on the square, also if the lines are parallel.
    """
    import casadi

    offset = a.start - b.start
    if a.along is None:
        if b.along is None:
            return _make_contact(a.start, b.start)
        share = _clamp(casadi.dot(offset, b.along) / casadi.dot(b.along, b.along))
        return _make_contact(a.start, b.point(share))
    if b.along is None:
        share = _clamp(-casadi.dot(offset, a.along) / casadi.dot(a.along, a.along))
        return _make_contact(a.point(share), b.start)
    aa, bb, ab = casadi.dot(a.along, a.along), casadi.dot(b.along, b.along), casadi.dot(a.along, b.along)
    ao, bo = casadi.dot(a.along, offset), casadi.dot(b.along, offset)
    determinant = casadi.fmax(aa * bb - ab * ab, MIN_SINE_SQUARE * aa * bb)
    s = _clamp((ab * bo - ao * bb) / determinant)
    t = _clamp((ab * s + bo) / bb)
    s = _clamp((ab * t - ao) / aa)
    return _make_contact(a.point(s), b.point(t))


def measure_box(a: Segment, half: Float[np.ndarray, "3"]) -> Contact:
    """Return the signed distance between a segment and a box around the origin with these half-sizes.

    The distance is negative if the segment enters the box: the depth of its deepest point. ``on_b`` is not used.
    """
    import casadi

    share = casadi.SX(0.0)
    if a.along is not None:
        outside, inside = _find_nearest_outside(a, a.along, half), _find_deepest_inside(a.start, a.along, half)
        gap = casadi.fmax(casadi.fabs(a.point(outside)) - half, 0.0)
        share = casadi.if_else(casadi.dot(gap, gap) > 0.0, outside, inside)
    point = a.point(share)
    excess = casadi.fabs(point) - half
    side = casadi.if_else(point < 0.0, -1.0, 1.0)
    gap = casadi.fmax(excess, 0.0)
    square = casadi.dot(gap, gap)
    length = casadi.sqrt(casadi.fmax(square, MIN_SQUARE))
    depth = casadi.fmax(casadi.fmax(excess[0], excess[1]), excess[2])
    is_outside = square > 0.0
    # The face that is nearest from inside; the first one of several.
    x = excess[0] >= depth
    y = casadi.logic_and(casadi.logic_not(x), excess[1] >= depth)
    z = casadi.logic_and(casadi.logic_not(x), casadi.logic_not(y))
    face = casadi.vertcat(x, y, z)
    direction = casadi.if_else(is_outside, side * gap / length, side * face)
    return Contact(
        casadi.if_else(is_outside, length, depth), point, casadi.fmin(casadi.fmax(point, -half), half), direction
    )


def _find_nearest_outside(a: Segment, along: casadi.SX, half: Float[np.ndarray, "3"]) -> casadi.SX:
    """Return the share at which the distance from the box is smallest.

    The derivative of the squared distance is increasing and piecewise linear, with a break where the segment crosses
    the plane of a face. Between the breaks around its zero, it is a straight line.
    """
    import casadi

    def slope(share: Any) -> casadi.SX:
        point = a.point(share)
        gap = casadi.fmax(casadi.fabs(point) - half, 0.0)
        return casadi.dot(casadi.if_else(point < 0.0, -1.0, 1.0) * gap, along)

    low, high = casadi.SX(0.0), casadi.SX(1.0)
    for axis in range(3):
        for face in (-half[axis], half[axis]):
            break_share = _clamp((face - a.start[axis]) / _avoid_zero(along[axis]))
            value = slope(break_share)
            low = casadi.fmax(low, casadi.if_else(value <= 0.0, break_share, 0.0))
            high = casadi.fmin(high, casadi.if_else(value >= 0.0, break_share, 1.0))
    at_low, at_high = slope(low), slope(high)
    crossing = low - at_low * (high - low) / casadi.fmax(at_high - at_low, 1e-300)
    return casadi.if_else(at_low >= 0.0, low, casadi.if_else(at_high <= 0.0, high, crossing))


def _find_deepest_inside(start: casadi.SX, along: casadi.SX, half: Float[np.ndarray, "3"]) -> casadi.SX:
    """Return the share with the greatest depth: the smallest maximum of six linear functions, found at a crossing."""
    import casadi

    lines = [(sign * start[k] - half[k], sign * along[k]) for k in range(3) for sign in (1.0, -1.0)]

    def depth(share: casadi.SX) -> casadi.SX:
        value = lines[0][0] + share * lines[0][1]
        for height, slope in lines[1:]:
            value = casadi.fmax(value, height + share * slope)
        return value

    best = casadi.SX(0.0)
    least = depth(best)
    shares = [casadi.SX(1.0)]
    for (height, slope), (other_height, other_slope) in combinations(lines, 2):
        shares.append(_clamp((other_height - height) / _avoid_zero(slope - other_slope)))
    for share in shares:
        value = depth(share)
        best = casadi.if_else(value < least, share, best)
        least = casadi.fmin(least, value)
    return best


def _make_contact(on_a: casadi.SX, on_b: casadi.SX) -> Contact:
    import casadi

    offset = on_a - on_b
    distance = casadi.sqrt(casadi.dot(offset, offset) + MIN_SQUARE)
    return Contact(distance, on_a, on_b, offset / distance)


def _clamp(share: casadi.SX) -> casadi.SX:
    import casadi

    return casadi.fmin(casadi.fmax(share, 0.0), 1.0)


def _avoid_zero(value: casadi.SX) -> casadi.SX:
    import casadi

    return casadi.if_else(casadi.fabs(value) < 1e-300, 1e-300, value)
