"""Geometry in rational numbers, with exactly orthogonal rotations, so that ranks need no tolerance.

A number becomes the nearest fraction with a denominator up to ``MAX_DENOMINATOR``: decimals of up to twelve digits stay
unchanged, and no number changes by more than 1e-12. A rotation becomes Rz Rx Rz with each angle at a rational point of
the unit circle, cos = (1 - t²) / (1 + t²), sin = 2 t / (1 + t²). Quarter turns are exact. Other angles change by at
most 2e-12 rad, also if their cosine is irrational, such as sqrt(3)/2. An angle within ``ANGLE_TOLERANCE`` of a multiple
of a quarter turn is rounded to that multiple.

An offset along axes that a rotation has turned must follow the rounded rotation: if both were rounded separately, axes
that intersect would miss each other by 1e-17, and exact arithmetic would count this as a distance. A frame does not say
along which axes its offset was described, as in Rz(theta) Tx(a) Rx(alpha) of a Denavit-Hartenberg row.
``to_rational_offset`` therefore rounds its coordinates along those axes along which they are the simplest fractions.

Changing an angle can destroy a coincidence: parallel, perpendicular, intersecting or coincident axes, gravity along an
axis, common normals that meet. ``to_canonical_frames`` therefore chooses frames in which every relevant coincidence is
a coordinate equal to zero; zeros stay exact. The frames are those of ``robot.modified_dh`` with two changes. The z axis
of the base points against gravity. Links that do not rotate relative to their parent (links on prismatic joints, and
loads) keep the axes of the parent. Thus there is one rotation from one revolute joint to the next, even with prismatic
joints between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ytheta.dynamics.mechanism import Body, CosSin, Mechanism, Pose, assemble_mechanism, build_mechanism, compose_pose
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.files.symbols import Length, find_symbols
from ytheta.robot.frame import Frame, to_rows, to_vector
from ytheta.robot.modified_dh import to_modified_dh
from ytheta.robot.robot import Robot
from ytheta.shapes import Float, Shaped

# Largest denominator of a number of the description. Chosen on: reasoning, decimals of twelve digits stay unchanged.
MAX_DENOMINATOR = 10**12
# Largest difference in rad between an angle and a multiple of a quarter turn to which it is rounded.
# Chosen on: rule of thumb.
ANGLE_TOLERANCE = 1e-9
DECIMALS = 12  # of coordinates along turned axes, whose last digits are rounding errors
# Smallest factor by which turned axes must reduce the product of denominators. Chosen on: rule of thumb.
MIN_SIMPLIFICATION = 1e6

_X, _Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class CanonicalMechanism:
    """An exact mechanism, and its link frames (without the base) relative to the link frames of the robot."""

    mechanism: Mechanism
    frames: tuple[Frame, ...]


def to_canonical_frames(robot: Robot) -> CanonicalMechanism:
    """Return the mechanism of a robot without loops in canonical frames; gravity is scaled to length one."""
    dh = to_modified_dh(robot)
    numbers = build_mechanism(dh.robot)
    g = np.array(numbers.gravity, dtype=float)
    # Canonical frames relative to those of modified_dh, beginning with the base.
    rotated = [_to_frame(_make_upright_axes(g))]
    bodies: list[Body] = []
    for body, row in zip(numbers.bodies, dh.rows, strict=True):
        parent = rotated[0 if body.parent is None else body.parent + 1]
        placement = (parent.inverse() @ row.placement).matrix
        R, offset = placement[:3, :3], placement[:3, 3]
        if body.revolute:
            rotated.append(_to_frame(np.eye(3)))
            bodies.append(replace(body, P=to_rational_rotation(R), p=to_rational_offset(offset, R)))
        else:
            rotated.append(_to_frame(R.T))
            p = array([to_fraction(x) for x in offset])
            # A prismatic axis need not be a unit vector: the scale of its q does not matter.
            axis = array([to_fraction(x) for x in R[:, 2]])
            bodies.append(replace(body, P=to_rational_rotation(np.eye(3)), p=p, axis=axis))
    gravity = array([0, 0, -1 if g.any() else 0])
    frames = tuple(frame @ rotation for frame, rotation in zip(dh.frames[1:], rotated[1:], strict=True))
    return CanonicalMechanism(replace(numbers, bodies=tuple(bodies), gravity=gravity), frames)


def to_exact_mechanism(robot: Robot, lengths: Mapping[str, Any], angles: Mapping[str, CosSin]) -> Mechanism:
    """Return the mechanism of a robot in its own frames.

    ``lengths`` and the cosines and sines in ``angles`` are scalars that can be combined with fractions.
    """

    def convert_part(part: Frame) -> Pose:
        R = np.array(part.rotation, dtype=float)
        constant, factors = _split_translation(part)
        position = to_rational_offset(constant, R)
        for name, factor in factors.items():
            position = position + array([lengths[name] * x if x else 0 for x in to_rational_offset(factor, R)])
        return to_rational_rotation(R), position

    def to_exact_axis(body: Body) -> Shaped[np.ndarray, "3"]:
        return to_rational_direction(body.axis) if body.revolute else array([to_fraction(x) for x in body.axis])

    inexact = assemble_mechanism(robot.merged, lambda frame: compose_pose(frame, angles, convert_part))
    return replace(
        inexact,
        bodies=tuple(replace(body, axis=to_exact_axis(body)) for body in inexact.bodies),
        gravity=array([to_fraction(x) for x in inexact.gravity]),
    )


def to_fraction(value: Any) -> int | Fraction:
    """Convert a number to a fraction, or to an integer if it is 0, 1 or -1."""
    exact = Fraction(float(value)).limit_denominator(MAX_DENOMINATOR)
    return int(exact) if exact.denominator == 1 and abs(exact) <= 1 else exact


def to_rational_rotation(matrix: Float[np.ndarray, "3 3"]) -> Shaped[np.ndarray, "3 3"]:
    """Return a rational rotation, Rz(gamma) Rx(alpha) Rz(theta), near a rotation of floats."""
    return _accumulate_turns(matrix)[-1]


def to_rational_offset(offset: Float[np.ndarray, "3"], rotation: Float[np.ndarray, "3 3"]) -> Shaped[np.ndarray, "3"]:
    """Return the offset of a frame as fractions.

    Its coordinates are rounded along its own axes, or along rational axes of the rotation Rz(gamma) Rx(alpha) Rz(theta)
    if they are clearly simpler fractions there. These axes are those after the first, second or third turn, or the
    three axes about which a modified Denavit-Hartenberg row turns.
    """
    best = array([to_fraction(x) for x in offset])
    smallest = _measure_denominators(best) / MIN_SIMPLIFICATION
    first, second, third = _accumulate_turns(rotation)
    turned_about = np.column_stack([first[:, 0], array([0, 0, 1]), second[:, 2]])
    for axes in (first, second, third, turned_about):
        inexact = axes.astype(float)
        if abs(np.linalg.det(inexact)) <= ANGLE_TOLERANCE:  # there is no second turn
            continue
        coordinates = array([to_fraction(round(x, DECIMALS)) for x in np.linalg.solve(inexact, offset).tolist()])
        size = _measure_denominators(coordinates)
        if size < smallest:
            best, smallest = dot(axes, coordinates), size
    return best


def to_rational_direction(axis: Shaped[np.ndarray, "3"]) -> Shaped[np.ndarray, "3"]:
    """Return a rational unit vector near a unit vector of floats."""
    z = np.array(axis, dtype=float)
    x = _find_perpendicular(z)
    return to_rational_rotation(np.column_stack([x, np.cross(z, x), z]))[:, 2]


def to_circle_point(cosine: float, sine: float) -> tuple[Any, Any]:
    """Return a rational point (cos, sin) of the unit circle near a point of floats."""
    if abs(sine) <= ANGLE_TOLERANCE:
        return (1 if cosine > 0.0 else -1), 0
    if abs(cosine) <= ANGLE_TOLERANCE:
        return 0, (1 if sine > 0.0 else -1)
    if cosine < 0.0:
        c, s = to_circle_point(-cosine, -sine)
        return -c, -s
    t = Fraction(sine / (1.0 + cosine)).limit_denominator(MAX_DENOMINATOR)
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def _accumulate_turns(matrix: Float[np.ndarray, "3 3"]) -> tuple[Shaped[np.ndarray, "3 3"], ...]:
    """Return the rational rotations Rz(gamma), Rz(gamma) Rx(alpha) and Rz(gamma) Rx(alpha) Rz(theta)."""
    sine = math.hypot(matrix[0, 2], matrix[1, 2])
    if sine <= ANGLE_TOLERANCE:
        alpha, gamma = (1 if matrix[2, 2] > 0.0 else -1, 0), (1, 0)
        theta = to_circle_point(matrix[0, 0], -matrix[0, 1])
    else:
        alpha = to_circle_point(matrix[2, 2], sine)
        gamma = to_circle_point(-matrix[1, 2] / sine, matrix[0, 2] / sine)
        theta = to_circle_point(matrix[2, 1] / sine, matrix[2, 0] / sine)
    c, s = alpha
    first = _rotate_about_z(*gamma)
    second = dot(first, array([[1, 0, 0], [0, c, -s], [0, s, c]]))
    return first, second, dot(second, _rotate_about_z(*theta))


def _measure_denominators(values: Shaped[np.ndarray, "3"]) -> float:
    """Return the product of the denominators: 1 for integers, and larger the more digits the numbers have."""
    return float(math.prod(Fraction(x).denominator for x in values))


def _split_translation(part: Frame) -> tuple[Float[np.ndarray, "3"], dict[str, Float[np.ndarray, "3"]]]:
    """Return the constant of a translation and the factors of its symbolic lengths."""
    constant, factors = np.zeros(3), {name: np.zeros(3) for name in sorted(find_symbols(part.translation))}
    for k, entry in enumerate(part.translation):
        if isinstance(entry, Length):
            constant[k] = entry.constant
            for name, factor in entry.terms:
                factors[name][k] = factor
        else:
            constant[k] = entry
    return constant, factors


def _rotate_about_z(c: Any, s: Any) -> Shaped[np.ndarray, "3 3"]:
    result = zeros(3, 3)
    result[0, 0] = result[1, 1] = c
    result[1, 0], result[0, 1], result[2, 2] = s, -s, 1
    return result


def _make_upright_axes(g: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3 3"]:
    """Return axes whose z points against gravity, in base coordinates; the base axes if there is no gravity."""
    if not g.any():
        return np.eye(3)
    z = -g / np.linalg.norm(g)
    x = _find_perpendicular(z)
    return np.column_stack([x, np.cross(z, x), z])


def _find_perpendicular(z: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """Return a unit vector perpendicular to z, along a coordinate axis if possible."""
    unit = _X if abs(z[0]) < 0.7 else _Z
    across = unit - z * (z @ unit)
    return np.asarray(across / np.linalg.norm(across))


def _to_frame(axes: Float[np.ndarray, "3 3"]) -> Frame:
    return Frame(to_vector(np.zeros(3)), to_rows(axes))
