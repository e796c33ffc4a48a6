"""Fixed frames: a rotation of numbers and a translation that may hold symbolic lengths.

A Frame F of frame B seen from frame A takes coordinates in B to coordinates in A: x_A = F.rotation x_B + F.translation.
Frames compose with ``@`` from left to right along the robot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.errors import InputError
from ytheta.files.lengths import Length, Scalar, find_symbols, number
from ytheta.shapes import Float

Vector: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]
Place: TypeAlias = tuple[Scalar, Scalar, Scalar]

ORIGIN: Vector = (0.0, 0.0, 0.0)
IDENTITY_ROTATION: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

STEP = math.pi / 6
# Beyond this an angle has lost the digits that tell a multiple of pi/6 from its neighbours.
MAX_ANGLE = 1e6

# cos(k pi/6) for k = 0 … 11, exact to the last digit: with them a quarter turn has zeros, not 6e-17.
_HALF_ROOT_3 = math.sqrt(3.0) / 2.0
_COSINES = (1.0, _HALF_ROOT_3, 0.5, 0.0, -0.5, -_HALF_ROOT_3, -1.0, -_HALF_ROOT_3, -0.5, 0.0, 0.5, _HALF_ROOT_3)


@dataclass(frozen=True)
class Frame:
    """A right-handed frame seen from another one."""

    translation: Place = ORIGIN
    rotation: Matrix = IDENTITY_ROTATION

    def __matmul__(self, other: Frame) -> Frame:
        return Frame(
            translation=_sum(_turned(self.rotation, other.translation), self.translation),
            rotation=_product(self.rotation, other.rotation),
        )

    def inverse(self) -> Frame:
        back = _transposed(self.rotation)
        x, y, z = _turned(back, self.translation)
        return Frame(translation=(_minus(x), _minus(y), _minus(z)), rotation=back)

    @property
    def symbols(self) -> set[str]:
        return find_symbols(self.translation)

    def numeric(self, values: Mapping[str, float]) -> Frame:
        """This frame with its symbolic lengths replaced by numbers."""
        x, y, z = (number(entry, values) for entry in self.translation)
        return Frame((x, y, z), self.rotation)

    @property
    def matrix(self) -> Float[np.ndarray, "4 4"]:
        """The 4 x 4 homogeneous matrix; the translation must be numeric."""
        result = np.eye(4)
        result[:3, :3] = self.rotation
        result[:3, 3] = [number(entry, {}) for entry in self.translation]
        return result

    @staticmethod
    def from_matrix(matrix: Float[np.ndarray, "4 4"]) -> Frame:
        return Frame(to_vector(matrix[:3, 3]), to_rows(matrix[:3, :3]))

    @staticmethod
    def shift(x: Scalar = 0.0, y: Scalar = 0.0, z: Scalar = 0.0) -> Frame:
        return Frame((x, y, z))

    @staticmethod
    def turn(axis: Vector, angle: float) -> Frame:
        """A rotation about a unit axis through the origin; exact at multiples of 30 degrees."""
        c, s = cos_sin(angle)
        x, y, z = axis
        v = 1.0 - c
        return Frame(
            rotation=(
                (x * x + c * (1.0 - x * x), v * x * y - s * z, v * x * z + s * y),
                (v * y * x + s * z, y * y + c * (1.0 - y * y), v * y * z - s * x),
                (v * z * x - s * y, v * z * y + s * x, z * z + c * (1.0 - z * z)),
            )
        )

    @staticmethod
    def from_rpy(roll: float, pitch: float, yaw: float) -> Frame:
        """Rz(yaw) Ry(pitch) Rx(roll), the order of URDF."""
        return Frame.turn((0.0, 0.0, 1.0), yaw) @ Frame.turn((0.0, 1.0, 0.0), pitch) @ Frame.turn((1.0, 0.0, 0.0), roll)

    @staticmethod
    def from_quaternion(w: float, x: float, y: float, z: float) -> Frame:
        """Rotation of a quaternion, scalar first; it need not be normalised. InputError where it is no rotation."""
        w, x, y, z = scale_to_order_one((w, x, y, z))
        if not any((w, x, y, z)):
            raise InputError("a quaternion of zeros is no rotation; give a unit quaternion")
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
        """Roll, pitch and yaw of the rotation (yaw 0 where pitch is a quarter turn)."""
        r = self.rotation
        level = math.hypot(r[0][0], r[1][0])
        pitch = math.atan2(-r[2][0], level)
        if level < 1e-12:
            return math.atan2(-r[1][2], r[1][1]), pitch, 0.0
        return math.atan2(r[2][1], r[2][2]), pitch, math.atan2(r[1][0], r[0][0])


IDENTITY = Frame()


def cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine, exact where the angle is the nearest double to a multiple of pi/6."""
    if abs(angle) > MAX_ANGLE:
        return math.cos(angle), math.sin(angle)
    steps = angle / STEP
    k = round(steps)
    if abs(steps - k) <= 1e-15 * max(1.0, abs(steps)):
        return _COSINES[k % 12], _COSINES[(k - 3) % 12]
    return math.cos(angle), math.sin(angle)


def scale_to_order_one(values: Sequence[float]) -> tuple[float, ...]:
    """The same direction with a largest entry of order one: squares neither overflow nor vanish.

    Divides by a power of two, which changes no digit. Zeros stay zeros; InputError where a number is not finite.
    """
    largest = max(abs(value) for value in values)
    if not all(math.isfinite(value) for value in values):
        raise InputError(f"{tuple(values)} holds a number that is not finite; give finite numbers")
    _, exponent = math.frexp(largest)
    return tuple(math.ldexp(value, -exponent) for value in values)


def to_vector(values: Sequence[float] | Float[np.ndarray, "3"]) -> Vector:
    """Three numbers as a tuple of floats."""
    x, y, z = (float(value) for value in values)
    return x, y, z


def to_rows(matrix: Sequence[Sequence[float]] | Float[np.ndarray, "3 3"]) -> Matrix:
    """A 3 x 3 matrix as a tuple of rows."""
    a, b, c = (to_vector(row) for row in matrix)
    return a, b, c


def _times(factor: float, value: Scalar) -> Scalar:
    """Product in which a structural zero stays zero and one changes nothing, also for symbolic values."""
    if isinstance(value, Length):
        return value * factor if factor != 0.0 else 0.0
    return factor * value


def _minus(value: Scalar) -> Scalar:
    return -value if isinstance(value, Length) else 0.0 - value


def _turned(rotation: Matrix, place: Place) -> Place:
    x, y, z = (_times(row[0], place[0]) + _times(row[1], place[1]) + _times(row[2], place[2]) for row in rotation)
    return x, y, z


def _sum(a: Place, b: Place) -> Place:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _product(a: Matrix, b: Matrix) -> Matrix:
    columns = _transposed(b)
    first, second, third = ((_dot(row, columns[0]), _dot(row, columns[1]), _dot(row, columns[2])) for row in a)
    return first, second, third


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _transposed(a: Matrix) -> Matrix:
    return (a[0][0], a[1][0], a[2][0]), (a[0][1], a[1][1], a[2][1]), (a[0][2], a[1][2], a[2][2])
