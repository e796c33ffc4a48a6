"""Distances between segments, points, boxes and half-spaces, on CasADi scalars.

Every distance is exact and needs no branches, so that all samples run through the same instructions. ``Contact`` holds
the distance and the points between which it is measured. By the envelope theorem, the places of these points on their
segments may be treated as constants when the distance is differentiated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.shapes import Float

if TYPE_CHECKING:
    import casadi

# m^2; keeps the direction between two points finite if they coincide. A distance of 1 mm is wrong by 5e-16 m. Chosen
# on: reasoning, see the error.
MIN_SQUARE = 1e-18
# Share of the product of the squared lengths; below it, segments count as parallel (angles below 1e-7 rad). Chosen
# on: reasoning, above the rounding errors of the determinant.
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
    arguments = [part for part in (a.start, a.along, b.start, b.along) if part is not None]
    return Contact(*_trace_segments(a_is_point=a.along is None, b_is_point=b.along is None)(*arguments))


@cache
def _trace_segments(*, a_is_point: bool, b_is_point: bool) -> casadi.Function:
    """Return starts and directions of two segments → the fields of their contact.

    CasADi copies a function into a graph a hundred times faster than it makes the operations one by one.
    """
    import casadi

    a, b = (
        Segment(casadi.SX.sym("start", 3), None if is_point else casadi.SX.sym("along", 3))
        for is_point in (a_is_point, b_is_point)
    )
    contact = _measure_segments(a, b)
    inputs = [part for part in (a.start, a.along, b.start, b.along) if part is not None]
    return casadi.Function("segments", inputs, [contact.distance, contact.on_a, contact.on_b, contact.direction])


def _measure_segments(a: Segment, b: Segment) -> Contact:
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
    if a.along is None:
        distance, point, direction = _trace_box(is_point=True)(a.start, half)
    else:
        distance, point, direction = _trace_box(is_point=False)(a.start, half, a.along)
    return Contact(distance, point, point, direction)


@cache
def _trace_box(*, is_point: bool) -> casadi.Function:
    """Return start, half-sizes and direction of a segment → signed distance, point, gradient."""
    import casadi

    start, along, half = (casadi.SX.sym(name, 3) for name in ("start", "along", "half"))
    outputs = _measure_box(Segment(start, None if is_point else along), half)
    return casadi.Function("box", [start, half] if is_point else [start, half, along], list(outputs))


def _measure_box(a: Segment, half: casadi.SX) -> tuple[casadi.SX, casadi.SX, casadi.SX]:
    import casadi

    outside = casadi.SX(0.0) if a.along is None else _find_nearest_outside(a, a.along, half)
    point = a.point(outside)
    gap = casadi.fmax(casadi.fabs(point) - half, 0.0)
    square = casadi.dot(gap, gap)
    length = casadi.sqrt(casadi.fmax(square, MIN_SQUARE))
    outward = casadi.if_else(point < 0.0, -1.0, 1.0) * gap / length
    inside, depth, inward = _find_deepest_inside(a, half)
    is_outside = square > 0.0
    point = casadi.if_else(is_outside, point, a.point(inside))
    direction = casadi.if_else(is_outside, outward, inward)
    return casadi.if_else(is_outside, length, depth), point, direction


def _find_nearest_outside(a: Segment, along: casadi.SX, half: casadi.SX) -> casadi.SX:
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


def _find_deepest_inside(a: Segment, half: casadi.SX) -> tuple[casadi.SX, casadi.SX, casadi.SX]:
    """Return the share with the greatest depth, the negative depth, and its gradient with respect to the point there.

    The negative depth is the maximum of six linear functions of the share, one for each face. It is smallest at an end,
    where the gradient is the normal of one face, or at a crossing of two of them. There it is the combination of both
    normals that is perpendicular to the segment, because the share is stationary.
    """
    import casadi

    normals = [sign * row for row in np.eye(3) for sign in (1.0, -1.0)]
    sizes = [casadi.dot(abs(normal), half) for normal in normals]

    def measure(point: casadi.SX) -> tuple[casadi.SX, casadi.SX]:
        value, gradient = casadi.dot(point, normals[0]) - sizes[0], casadi.SX(normals[0].tolist())
        for normal, size in zip(normals[1:], sizes[1:], strict=True):
            height = casadi.dot(point, normal) - size
            gradient = casadi.if_else(height > value, casadi.SX(normal.tolist()), gradient)
            value = casadi.fmax(value, height)
        return value, gradient

    share = casadi.SX(0.0)
    least, direction = measure(a.start)
    if a.along is None:
        return share, least, direction
    candidates = [(casadi.SX(1.0), measure(a.point(1.0))[1])]
    for (normal, size), (other, other_size) in combinations(zip(normals, sizes, strict=True), 2):
        slope, other_slope = casadi.dot(a.along, normal), casadi.dot(a.along, other)
        difference = _avoid_zero(slope - other_slope)
        crossing = (casadi.dot(a.start, other - normal) - (other_size - size)) / difference
        candidates.append((_clamp(crossing), (slope * other - other_slope * normal) / difference))
    for candidate, gradient in candidates:
        value = measure(a.point(candidate))[0]
        is_deeper = value < least
        share, direction = casadi.if_else(is_deeper, candidate, share), casadi.if_else(is_deeper, gradient, direction)
        least = casadi.fmin(least, value)
    return share, least, direction


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
