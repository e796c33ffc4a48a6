"""Geometry in rational numbers: rotations that are rotations to the last digit, so that ranks need no tolerance.

A number becomes the nearest fraction with a denominator up to ``LARGEST``: decimals of up to twelve digits stay as they
are written, no number moves by more than 1e-12. A rotation becomes Rz Rx Rz with each angle at a rational point of the
unit circle, cos = (1 - t²) / (1 + t²), sin = 2 t / (1 + t²): quarter turns exactly, other angles (those with cosines
such as sqrt(3)/2 too) within 2e-12 rad. What lies within ``NOISE`` of a quarter turn or of zero is taken as such.

Moving an angle can only lose a coincidence. ``canonical`` therefore puts those that count into zeros, which stay:
parallel, perpendicular, intersecting and coincident axes, gravity along an axis, feet of normals that meet. Its frames
are those of ``robot.modified_dh`` with two changes: the base has z against gravity, and what does not turn against its
parent (sliding links, loads) keeps the parent's directions, so that from one turning joint to the next there is one
rotation, whatever slides in between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ytheta.dynamics.mechanism import Body, Mechanism, mechanism
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.robot.frame import Frame, to_rows, to_vector
from ytheta.robot.modified_dh import to_modified_dh
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Shaped

LARGEST = 10**12
NOISE = 1e-9
_X, _Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Canonical:
    """An exact mechanism, and its link frames (that of the base left out), each seen from the robot's own."""

    mechanism: Mechanism
    frames: tuple[Frame, ...]


def canonical(robot: Robot) -> Canonical:
    """The mechanism of a robot without loops in frames that show every coincidence; gravity has length one."""
    dh = to_modified_dh(robot)
    numbers = mechanism(dh.robot)
    g = np.array(numbers.gravity, dtype=float)
    turned = [_turned(_upright(g))]  # canonical frames seen from those of modified_dh; first that of the base
    bodies: list[Body] = []
    for body, row in zip(numbers.bodies, dh.rows, strict=True):
        above = turned[0 if body.parent is None else body.parent + 1]
        start = (above.inverse() @ row.placement).matrix
        R, p = start[:3, :3], array([fraction(x) for x in start[:3, 3]])
        if body.revolute:
            turned.append(_turned(np.eye(3)))
            bodies.append(replace(body, P=rotation(R), p=p))
        else:
            turned.append(_turned(R.T))
            axis = array([fraction(x) for x in R[:, 2]])  # a sliding axis may have any length: its q is in no result
            bodies.append(replace(body, P=rotation(np.eye(3)), p=p, axis=axis))
    gravity = array([0, 0, -1 if g.any() else 0])
    frames = tuple(frame @ turn for frame, turn in zip(dh.frames[1:], turned[1:], strict=True))
    return Canonical(replace(numbers, bodies=tuple(bodies), gravity=gravity), frames)


def exact_mechanism(robot: Robot, lengths: Mapping[str, Any], rounded: Callable[[Any], Any]) -> Mechanism:
    """The mechanism of a robot in its own frames; ``lengths`` are scalars that go along with fractions.

    ``rounded`` does to linear forms in these scalars what ``fraction`` does to numbers.
    """
    rough = mechanism(robot, lengths) if lengths else mechanism(robot)

    def exact_body(body: Body) -> Body:
        return replace(
            body,
            axis=direction(body.axis) if body.revolute else array([fraction(x) for x in body.axis]),
            P=rotation(np.array(body.P, dtype=float)),
            p=array([rounded(x) for x in body.p]),
            S=rotation(np.array(body.S, dtype=float)),
            s=array([rounded(x) for x in body.s]),
        )

    gravity = array([fraction(x) for x in rough.gravity])
    return replace(rough, bodies=tuple(exact_body(body) for body in rough.bodies), gravity=gravity)


def fraction(value: Any) -> int | Fraction:
    """A number as a fraction, or as an integer if it is 0, 1 or -1."""
    exact = Fraction(float(value)).limit_denominator(LARGEST)
    return int(exact) if exact.denominator == 1 and abs(exact) <= 1 else exact


def rotation(matrix: Float[np.ndarray, "3 3"]) -> Shaped[np.ndarray, "3 3"]:
    """A rational rotation, Rz(gamma) Rx(alpha) Rz(theta), next to one of floats."""
    sine = math.hypot(matrix[0, 2], matrix[1, 2])
    if sine <= NOISE:
        alpha, gamma = (1 if matrix[2, 2] > 0.0 else -1, 0), (1, 0)
        theta = circle_point(matrix[0, 0], -matrix[0, 1])
    else:
        alpha = circle_point(matrix[2, 2], sine)
        gamma = circle_point(-matrix[1, 2] / sine, matrix[0, 2] / sine)
        theta = circle_point(matrix[2, 1] / sine, matrix[2, 0] / sine)
    c, s = alpha
    about_x = array([[1, 0, 0], [0, c, -s], [0, s, c]])
    return dot(dot(_about_z(*gamma), about_x), _about_z(*theta))


def direction(axis: Shaped[np.ndarray, "3"]) -> Shaped[np.ndarray, "3"]:
    """A rational unit vector next to one of floats."""
    z = np.array(axis, dtype=float)
    x = _perpendicular(z)
    return rotation(np.column_stack([x, np.cross(z, x), z]))[:, 2]


def circle_point(cosine: float, sine: float) -> tuple[Any, Any]:
    """The rational point (cos, sin) of the unit circle next to one of floats."""
    if abs(sine) <= NOISE:
        return (1 if cosine > 0.0 else -1), 0
    if abs(cosine) <= NOISE:
        return 0, (1 if sine > 0.0 else -1)
    if cosine < 0.0:
        c, s = circle_point(-cosine, -sine)
        return -c, -s
    t = Fraction(sine / (1.0 + cosine)).limit_denominator(LARGEST)
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def _about_z(c: Any, s: Any) -> Shaped[np.ndarray, "3 3"]:
    result = zeros(3, 3)
    result[0, 0] = result[1, 1] = c
    result[1, 0], result[0, 1], result[2, 2] = s, -s, 1
    return result


def _upright(g: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3 3"]:
    """Axes with z against gravity, in base axes; the base's own where there is none."""
    if not g.any():
        return np.eye(3)
    z = -g / np.linalg.norm(g)
    x = _perpendicular(z)
    return np.column_stack([x, np.cross(z, x), z])


def _perpendicular(z: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """A unit vector across z, along a coordinate axis where there is one."""
    unit = _X if abs(z[0]) < 0.7 else _Z
    across = unit - z * (z @ unit)
    return np.asarray(across / np.linalg.norm(across))


def _turned(axes: Float[np.ndarray, "3 3"]) -> Frame:
    return Frame(to_vector(np.zeros(3)), to_rows(axes))
