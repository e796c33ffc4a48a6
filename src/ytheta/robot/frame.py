"""Fixed frames: a rotation that may contain symbolic angles, and a translation that may contain symbolic lengths.

The frame F of B seen from A maps coordinates in B to coordinates in A: x_A = F.rotation x_B + F.translation. Frames
compose with ``@``, from the base towards the tip.

A frame with symbolic angles is a chain: a numeric rotation and a translation, then a twist, which is a rotation about x
by a symbolic angle, then the rest of the chain. A chain keeps each numeric rotation apart from the symbolic ones, so
that its cosines can be replaced by rational numbers (``identifiability.exact.geometry``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from ytheta.arguments import check_number
from ytheta.errors import InputError
from ytheta.files.symbols import Angle, Length, Scalar, find_symbols, to_number
from ytheta.shapes import Float

Vector: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]
Position: TypeAlias = tuple[Scalar, Scalar, Scalar]

ORIGIN: Vector = (0.0, 0.0, 0.0)
AXES: Mapping[str, Vector] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
IDENTITY_ROTATION: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

NO_VALUES: Mapping[str, float] = MappingProxyType({})

# Angles near a multiple of this one (rad) become that multiple, see ``conventions.SNAP``. Chosen on: rule of thumb.
ANGLE_STEP = math.pi / 6
# Largest relative error of the length of a unit vector. Chosen on: reasoning, far above rounding errors.
UNIT_TOLERANCE = 1e-9
# Largest angle (rad); the spacing of larger doubles is too coarse to recognize multiples of pi/6. Chosen on:
# reasoning.
MAX_ANGLE = 1e6

# cos(k pi/6) for k = 0 … 11, correctly rounded: the cosine of a quarter turn is 0, not 6e-17.
_HALF_ROOT_3 = math.sqrt(3.0) / 2.0
_COSINES = (1.0, _HALF_ROOT_3, 0.5, 0.0, -0.5, -_HALF_ROOT_3, -1.0, -_HALF_ROOT_3, -0.5, 0.0, 0.5, _HALF_ROOT_3)

# Rotations that exchange the axes, from x to the coordinate axis that is the key.
_FROM_X: Mapping[Vector, Matrix] = {
    (1.0, 0.0, 0.0): IDENTITY_ROTATION,
    (0.0, 1.0, 0.0): ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    (0.0, 0.0, 1.0): ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
}


@dataclass(frozen=True)
class Twist:
    """A rotation about x by a symbolic angle, and the frame that follows it."""

    angle: Angle
    after: Frame


@dataclass(frozen=True)
class Frame:
    """A right-handed frame seen from another frame; with a ``twist``, a chain (see the module docstring)."""

    translation: Position = ORIGIN
    rotation: Matrix = IDENTITY_ROTATION
    twist: Twist | None = None

    def __matmul__(self, other: Frame) -> Frame:
        if self.twist is not None:
            return Frame(self.translation, self.rotation, Twist(self.twist.angle, self.twist.after @ other))
        return Frame(
            translation=_add(_rotate(self.rotation, other.translation), self.translation),
            rotation=_multiply(self.rotation, other.rotation),
            twist=other.twist,
        )

    def inverse(self) -> Frame:
        transposed = _transpose(self.rotation)
        x, y, z = _rotate(transposed, self.translation)
        start = Frame(translation=(_negate(x), _negate(y), _negate(z)), rotation=transposed)
        if self.twist is None:
            return start
        return self.twist.after.inverse() @ Frame(twist=Twist(-self.twist.angle, start))

    @property
    def start(self) -> Frame:
        """The part before the twist."""
        return self if self.twist is None else Frame(self.translation, self.rotation)

    @property
    def symbols(self) -> set[str]:
        """Names of the symbolic lengths."""
        return find_symbols(self.translation) | (set() if self.twist is None else self.twist.after.symbols)

    @property
    def angles(self) -> set[str]:
        """Names of the symbolic angles."""
        return set() if self.twist is None else {self.twist.angle.name} | self.twist.after.angles

    def with_angles(self, values: Mapping[str, float]) -> Frame:
        """Return this frame with numbers instead of symbolic angles."""
        if self.twist is None:
            return self
        turn = Frame.turn((1.0, 0.0, 0.0), self.twist.angle.evaluate(values))
        return self.start @ turn @ self.twist.after.with_angles(values)

    def numeric(self, lengths: Mapping[str, float], angles: Mapping[str, float] = NO_VALUES) -> Frame:
        """Return this frame with numbers instead of symbolic lengths and angles."""
        frame = self.with_angles(angles)
        x, y, z = (to_number(entry, lengths) for entry in frame.translation)
        return Frame((x, y, z), frame.rotation)

    @property
    def matrix(self) -> Float[np.ndarray, "4 4"]:
        """The 4 x 4 homogeneous matrix; the frame must be numeric."""
        frame = self.with_angles(NO_VALUES)
        result = np.eye(4)
        result[:3, :3] = frame.rotation
        result[:3, 3] = [to_number(entry, NO_VALUES) for entry in frame.translation]
        return result

    @staticmethod
    def from_matrix(matrix: Float[np.ndarray, "4 4"]) -> Frame:
        return Frame(to_vector(matrix[:3, 3]), to_rows(matrix[:3, :3]))

    @staticmethod
    def shift(x: Scalar = 0.0, y: Scalar = 0.0, z: Scalar = 0.0) -> Frame:
        return Frame((x, y, z))

    @staticmethod
    def turn(axis: Vector, angle: float | Angle) -> Frame:
        """A rotation about a unit axis through the origin; exact at multiples of 30 degrees.

        A symbolic angle turns about the x, y or z axis.
        """
        x, y, z = axis = check_vector("axis", axis)
        if not math.isclose(math.hypot(*axis), 1.0, rel_tol=UNIT_TOLERANCE):
            raise InputError(f"the axis {axis} has length {math.hypot(*axis):g}; give a unit vector")
        if isinstance(angle, Angle):
            return _turn_by_symbol(axis, angle)
        c, s = cos_sin(check_number("angle", angle, "a finite number of radians"))
        v = 1.0 - c
        return Frame(
            rotation=(
                (x * x + c * (1.0 - x * x), v * x * y - s * z, v * x * z + s * y),
                (v * y * x + s * z, y * y + c * (1.0 - y * y), v * y * z - s * x),
                (v * z * x - s * y, v * z * y + s * x, z * z + c * (1.0 - z * z)),
            )
        )

    @staticmethod
    def align_z(direction: Vector) -> Frame:
        """The smallest rotation that maps the z axis to a unit vector; a half turn is about the x axis."""
        x, y, z = direction
        sine = math.hypot(x, y)
        return Frame.turn((-y / sine, x / sine, 0.0) if sine > 1e-10 else (1.0, 0.0, 0.0), math.atan2(sine, z))

    @staticmethod
    def from_rpy(roll: float, pitch: float, yaw: float) -> Frame:
        """The rotation Rz(yaw) Ry(pitch) Rx(roll), as in URDF."""
        return Frame.turn((0.0, 0.0, 1.0), yaw) @ Frame.turn((0.0, 1.0, 0.0), pitch) @ Frame.turn((1.0, 0.0, 0.0), roll)

    @staticmethod
    def from_quaternion(w: float, x: float, y: float, z: float) -> Frame:
        """The rotation of a quaternion (scalar first) of any norm; InputError if the norm is zero."""
        w, x, y, z = scale_to_order_one((w, x, y, z))
        if not any((w, x, y, z)):
            raise InputError("a quaternion of zeros is not a rotation; give a unit quaternion")
        n = w * w + x * x + y * y + z * z
        return Frame(
            rotation=(
                ((w * w + x * x - y * y - z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n),
                (2 * (x * y + w * z) / n, (w * w - x * x + y * y - z * z) / n, 2 * (y * z - w * x) / n),
                (2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, (w * w - x * x - y * y + z * z) / n),
            )
        )

    @property
    def rpy(self) -> Vector:
        """Roll, pitch and yaw of the rotation, in radians; yaw is 0 if pitch is a quarter turn."""
        r = self.with_angles(NO_VALUES).rotation
        level = math.hypot(r[0][0], r[1][0])
        pitch = math.atan2(-r[2][0], level)
        if level < 1e-12:
            return math.atan2(-r[1][2], r[1][1]), pitch, 0.0
        return math.atan2(r[2][1], r[2][2]), pitch, math.atan2(r[1][0], r[0][0])


IDENTITY = Frame()


def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine of an angle; exact if the angle is the double nearest to a multiple of pi/6."""
    if abs(angle) > MAX_ANGLE:
        return math.cos(angle), math.sin(angle)
    steps = angle / ANGLE_STEP
    k = round(steps)
    if abs(steps - k) <= 1e-15 * max(1.0, abs(steps)):
        return _COSINES[k % 12], _COSINES[(k - 3) % 12]
    return math.cos(angle), math.sin(angle)


def scale_to_order_one(values: Sequence[float]) -> tuple[float, ...]:
    """Scale a vector by a power of two so that its largest entry is of order one.

    The scaling is exact, and the squared norm of the result neither overflows nor vanishes. InputError if a number is
    not finite.
    """
    largest = max(abs(value) for value in values)
    if not all(math.isfinite(value) for value in values):
        raise InputError(f"{tuple(values)} contains a number that is not finite; give finite numbers")
    _, exponent = math.frexp(largest)
    return tuple(math.ldexp(value, -exponent) for value in values)


def check_vector(name: str, value: Any) -> Vector:
    """Return three finite numbers as a tuple of floats. Raise InputError for anything else."""
    form = "three finite numbers, such as (0.0, 0.0, 1.0)"
    entries = tuple(value) if isinstance(value, Sequence | np.ndarray) else ()
    if len(entries) != 3:
        raise InputError(f"{name} is {value!r}; give {form}")
    x, y, z = (check_number(f"an entry of {name}", entry, form) for entry in entries)
    return x, y, z


def to_vector(values: Sequence[float] | Float[np.ndarray, "3"]) -> Vector:
    """Return three numbers as a tuple of floats."""
    x, y, z = (float(value) for value in values)
    return x, y, z


def to_rows(matrix: Sequence[Sequence[float]] | Float[np.ndarray, "3 3"]) -> Matrix:
    """Return a 3 x 3 matrix as a tuple of rows."""
    a, b, c = (to_vector(row) for row in matrix)
    return a, b, c


def _turn_by_symbol(axis: Vector, angle: Angle) -> Frame:
    """Return a rotation about a coordinate axis: x turned to the axis, the twist, and back."""
    if axis not in _FROM_X:
        raise InputError(f"the angle {str(angle)!r} turns about {axis}; a symbolic angle can turn about x, y or z only")
    to_axis = Frame(rotation=_FROM_X[axis])
    return to_axis @ Frame(twist=Twist(angle, to_axis.inverse()))


def _scale(factor: float, value: Scalar) -> Scalar:
    """Multiply a scalar by a number; zero times a symbolic length is the number zero."""
    if isinstance(value, Length):
        return value * factor if factor != 0.0 else 0.0
    return factor * value


def _negate(value: Scalar) -> Scalar:
    return -value if isinstance(value, Length) else 0.0 - value


def _rotate(rotation: Matrix, point: Position) -> Position:
    x, y, z = (_scale(row[0], point[0]) + _scale(row[1], point[1]) + _scale(row[2], point[2]) for row in rotation)
    return x, y, z


def _add(a: Position, b: Position) -> Position:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _multiply(a: Matrix, b: Matrix) -> Matrix:
    columns = _transpose(b)
    first, second, third = ((_dot(row, columns[0]), _dot(row, columns[1]), _dot(row, columns[2])) for row in a)
    return first, second, third


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _transpose(a: Matrix) -> Matrix:
    return (a[0][0], a[1][0], a[2][0]), (a[0][1], a[1][1], a[2][1]), (a[0][2], a[1][2], a[2][2])
