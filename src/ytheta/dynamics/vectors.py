"""Three-dimensional algebra on object arrays: skew matrices, rotations, and a product symmetric in two velocities.

CasADi scalars look like arrays to NumPy. Two rules keep them scalars: arrays are filled entry by entry (``array``), and
an array is multiplied by an array of one entry (``x[k : k + 1]``), never by a bare scalar.

Python's operators on CasADi scalars first search the overloads of all CasADi types, which takes ten times as long as
the operation itself. ``dot`` and the other functions of this module name the operation instead (``SX.binary``).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ytheta.shapes import AnyMatrix3, AnyVector3, Shaped


def array(entries: Sequence[Any] | np.ndarray) -> np.ndarray:
    """An object array of scalars, or of rows of scalars."""
    if not (len(entries) > 0 and isinstance(entries[0], list | tuple | np.ndarray)):
        result = np.empty(len(entries), dtype=object)
        for i, entry in enumerate(entries):
            result[i] = entry
        return result
    result = np.empty((len(entries), len(entries[0])), dtype=object)
    for i, row in enumerate(entries):
        for j, entry in enumerate(row):
            result[i, j] = entry
    return result


def zeros(*shape: int) -> np.ndarray:
    """An object array of exact zeros."""
    result = np.empty(shape, dtype=object)
    result[...] = 0
    return result


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b, skipping structural zeros and ones: a symbolic operation takes as long as a thousand such checks.

    The integers 0, 1 and -1 are structural, whatever the type of the other scalars. If all terms of an entry of the
    result are structural zeros, the entry is the integer 0.
    """
    matrix = b.reshape(len(b), math.prod(b.shape[1:]))
    result = zeros(len(a), matrix.shape[1])
    for i, row in enumerate(a):
        terms = [(x, matrix[k]) for k, x in enumerate(row) if not _is_zero(x)]
        for j in range(matrix.shape[1]):
            total: Any = 0
            for x, row_of_b in terms:
                y = row_of_b[j]
                if _is_zero(y):
                    continue
                term = y if type(x) is int and x == 1 else -y if type(x) is int and x == -1 else _multiply(x, y)
                total = term if _is_zero(total) else _add(total, term)
            result[i, j] = total
    return result.reshape((len(a), *b.shape[1:]))


def add(a: Shaped[np.ndarray, "..."], *others: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """The sum of object arrays, from left to right; the same as with ``+``, but faster for CasADi scalars."""
    total = a
    for other in others:
        total = _ADD_ENTRIES(total, other)
    return total


def skew(x: AnyVector3) -> AnyMatrix3:
    """The matrix with skew(x) @ y = x × y."""
    return array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def cross(a: AnyVector3, b: AnyVector3) -> AnyVector3:
    """a × b, skipping structural zeros."""
    return array([_compute_minor(a, b, i, j) for i, j in ((1, 2), (2, 0), (0, 1))])


def inner(a: Shaped[np.ndarray, " n"], b: Shaped[np.ndarray, " n"]) -> Any:
    """aᵀ b, skipping structural zeros."""
    return dot(a[None], b)[0]


def sum_products(*pairs: tuple[Any, Any]) -> Any:
    """The sum of the products of pairs, skipping structural zeros and ones."""
    return inner(array([x for x, _ in pairs]), array([y for _, y in pairs]))


def scale(vector: Shaped[np.ndarray, " n"], factor: Shaped[np.ndarray, "1"]) -> Shaped[np.ndarray, " n"]:
    """A vector times one scalar, skipping structural zeros."""
    return dot(vector[:, None], factor)


def multiply_entries(a: Shaped[np.ndarray, " n"], b: Shaped[np.ndarray, " n"]) -> Shaped[np.ndarray, " n"]:
    """The products of the entries of two vectors, skipping structural zeros and ones."""
    return array([sum_products(pair) for pair in zip(a, b, strict=True)])


def halve(values: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """Half of every entry, skipping structural zeros."""
    result = zeros(*values.shape)
    for place in np.ndindex(values.shape):
        entry: Any = values[place]
        if not _is_zero(entry):
            result[place] = entry * 0.5
    return result


def axis_rotation(axis: AnyVector3, c: Any, s: Any) -> AnyMatrix3:
    """The rotation about a unit axis by an angle with cosine c and sine s, in as few operations as the axis allows."""
    coordinate_axis = _find_coordinate_axis(axis)
    if coordinate_axis is None:
        sine = skew(axis)
        outer = np.outer(axis, axis)
        entries = [[outer[i, j] + c * ((i == j) - outer[i, j]) + s * sine[i, j] for j in range(3)] for i in range(3)]
        return array(entries)
    index, sense = coordinate_axis
    u, w = (index + 1) % 3, (index + 2) % 3
    result = zeros(3, 3)
    result[index, index] = 1
    result[u, u] = result[w, w] = c
    result[w, u] = sense * s
    result[u, w] = -sense * s
    return result


def rotation_from_vector(r: AnyVector3, angle: Any, sine: Any, half_sine: Any) -> AnyMatrix3:
    """The rotation with rotation vector r; its angle is not zero, and the sines are those of the angle and of its half.

    exp(r) = 1 + a K(r) + b K(r)², with a = sin(angle) / angle and b = ½ (sin(angle / 2) / (angle / 2))². Unlike
    (1 - cos(angle)) / angle², b loses no digits at small angles.
    """
    a, half = sine / angle, half_sine / angle
    b = half * half * 2
    K, product = skew(r), centripetal_matrix(r, r)
    return array([[(1 if i == j else a * K[i, j]) + b * product[i, j] for j in range(3)] for i in range(3)])


def _find_coordinate_axis(axis: AnyVector3) -> tuple[int, int] | None:
    """Return index and sign of the coordinate axis that a unit vector is parallel to, or None."""
    for k in range(3):
        if axis[k] in (1, -1) and not any(axis[j] for j in range(3) if j != k):
            return k, int(axis[k])
    return None


def centripetal_matrix(w: AnyVector3, u: AnyVector3) -> AnyMatrix3:
    """The matrix of the map x ↦ ½ (w × (u × x) + u × (w × x)). For w = u it is w wᵀ − |w|² 1."""
    if w is u:
        xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
        xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    else:
        xx, yy, zz = w[0] * u[0], w[1] * u[1], w[2] * u[2]
        xy, xz, yz = (0.5 * (w[i] * u[j] + w[j] * u[i]) for i, j in ((0, 1), (0, 2), (1, 2)))
    return array([[-yy - zz, xy, xz], [xy, -xx - zz, yz], [xz, yz, -xx - yy]])


def _is_zero(x: Any) -> bool:
    """Whether an entry is a structural zero."""
    return type(x) is int and not x


def _compute_minor(a: AnyVector3, b: AnyVector3, i: int, j: int) -> Any:
    """a_i b_j - a_j b_i."""
    left, right = (dot(array([[x]]), array([y]))[0] for x, y in ((a[i], b[j]), (a[j], b[i])))
    if _is_zero(right):
        return left
    return -right if _is_zero(left) else _subtract(left, right)


def _add(x: Any, y: Any) -> Any:
    return _combine("OP_ADD", operator.add, x, y)


def _subtract(x: Any, y: Any) -> Any:
    return _combine("OP_SUB", operator.sub, x, y)


def _multiply(x: Any, y: Any) -> Any:
    return _combine("OP_MUL", operator.mul, x, y)


def _combine(name: str, combine: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Return ``combine(x, y)``; for CasADi scalars, by the operation with this name."""
    kind = type(x) if hasattr(type(x), "binary") else type(y)
    if not hasattr(kind, "binary"):
        return combine(x, y)
    if type(x) is not kind:
        x = kind(x)
    elif type(y) is not kind:
        y = kind(y)
    return kind.binary(_find_operation(name), x, y)


@cache
def _find_operation(name: str) -> int:
    """Return the code of one of CasADi's operations."""
    import casadi

    code: int = getattr(casadi, name)
    return code


_ADD_ENTRIES = np.frompyfunc(_add, 2, 1)
