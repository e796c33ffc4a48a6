"""Gains: conversion of settings to symmetric positive definite matrices, and products with vectors of symbols.

A number stands for that number times the identity matrix, a vector for a diagonal matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.vectors import array, dot, inner, zeros
from ytheta.errors import InputError
from ytheta.shapes import Float, Shaped, SquareMatrix

Gain: TypeAlias = float | Sequence[float] | Sequence[Sequence[float]] | np.ndarray

# Largest entry of G - Gᵀ of a symmetric gain, relative to the largest entry of G; it allows for rounding errors.
# Chosen on: rule of thumb.
SYMMETRY_TOLERANCE = 1e-9
PER_COORDINATE, PER_UNKNOWN = "actuated coordinate", "unknown parameter"
MAX_NUMBERS = 3  # numbers of a gain in ``repr``


class GainShape(Enum):
    """The forms that a gain of a control law may take."""

    MATRIX = "one number, one for each coordinate, or a matrix"
    DIAGONAL = "one number, or one for each coordinate"
    NUMBER = "one number"
    LINKS = "one number, or one for each link"


def to_matrix(name: str, gain: Gain, size: int, *, per: str) -> SquareMatrix:
    """Return a gain as a matrix. ``per`` says in error messages what each entry belongs to, such as "joint"."""
    G = _to_array(name, gain)
    if G.ndim == 0:
        _check_positive(name, G[None])
        return np.asarray(np.eye(size) * G)
    if G.shape == (size,):
        _check_positive(name, G)
        return np.diag(G)
    if G.shape != (size, size):
        raise InputError(
            f"{name} has shape {G.shape}; give one number, {size} numbers (one per {per}) or a {size} x {size} matrix"
        )
    if not np.allclose(G, G.T, rtol=0.0, atol=SYMMETRY_TOLERANCE * float(abs(G).max(initial=0.0))):
        raise InputError(f"{name} is not symmetric; give a symmetric matrix, such as (G + Gᵀ) / 2")
    G = np.asarray((G + G.T) / 2.0)
    smallest = float(np.linalg.eigvalsh(G).min(initial=np.inf))
    if smallest <= 0.0:
        raise InputError(f"{name} is not positive definite: its smallest eigenvalue is {smallest:g}")
    return G


def to_diagonal(name: str, gain: Gain, size: int, *, per: str) -> Float[np.ndarray, " size"]:
    """Return the diagonal of a gain that must be diagonal."""
    G = to_matrix(name, gain, size, per=per)
    if np.count_nonzero(G - np.diag(G.diagonal())):
        raise InputError(
            f"{name} couples joints, which the law does not allow; give one number, or {size} numbers, one per {per}"
        )
    return G.diagonal().copy()


def to_number(name: str, gain: Any) -> float:
    """Return a gain that must be one number."""
    G = _to_array(name, gain)
    if G.ndim:
        raise InputError(f"{name} has shape {G.shape}; give one number")
    _check_positive(name, G[None])
    return float(G)


def to_vector(name: str, values: Any, size: int, *, per: str, allow_number: bool = False) -> Float[np.ndarray, " size"]:
    """Return finite numbers of any sign; with ``allow_number``, one number stands for ``size`` equal ones."""
    form = "one number" if size == 1 else f"{size} numbers, one per {per}"
    form = f"one number, or {form}" if allow_number and size != 1 else form
    try:
        vector = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {values!r}; give {form}") from None
    if vector.shape != (size,) and not (allow_number and not vector.ndim):
        raise InputError(f"{name} has shape {vector.shape}; give {form}")
    if not np.isfinite(vector).all():
        raise InputError(f"{name} has the entry {vector[~np.isfinite(vector)][0]}; give finite numbers")
    return np.broadcast_to(vector, size).copy()


def to_torque_limits(limits: Gain, coordinates: int) -> Float[np.ndarray, " actuated"]:
    """Return one limit per actuated coordinate; limits may be infinite."""
    try:
        unlimited = np.isposinf(np.asarray(limits, dtype=float))
    except (TypeError, ValueError):
        unlimited = np.zeros(coordinates, dtype=bool)  # not numbers: ``to_diagonal`` raises
    if not unlimited.any():
        return to_diagonal("torque_limits", limits, coordinates, per=PER_COORDINATE)
    finite = to_diagonal("torque_limits", np.where(unlimited, 1.0, limits), coordinates, per=PER_COORDINATE)
    unlimited = unlimited.diagonal() if unlimited.ndim == 2 else np.broadcast_to(unlimited, coordinates)
    return np.where(unlimited, np.inf, finite)


def describe_gain(gain: Any) -> str:
    """Return a gain in a few words, for ``repr``."""
    try:
        G = np.asarray(gain, dtype=float)
    except (TypeError, ValueError):
        return repr(gain)
    if not G.ndim:
        return f"{float(G):g}"
    diagonal = G if G.ndim == 1 else G.diagonal() if G.ndim == 2 else np.zeros(0)
    if not len(diagonal) or (G.ndim == 2 and np.count_nonzero(G - np.diag(diagonal))):
        return f"<{' x '.join(map(str, G.shape))} numbers>"
    if np.ptp(diagonal) == 0.0:
        return f"{diagonal[0]:g}"
    listed = ", ".join(f"{value:.3g}" for value in diagonal[:MAX_NUMBERS])
    return f"[{listed}{', …' if len(diagonal) > MAX_NUMBERS else ''}]"


def list_gain(gain: Gain, names: Sequence[str]) -> list[str]:
    """Return a gain in full, as lines for ``str``: one number, one number after each name, or the rows of a matrix."""
    G = np.asarray(gain, dtype=float)
    if G.ndim == 2 and not np.count_nonzero(G - np.diag(G.diagonal())):
        G = G.diagonal()
    if not G.ndim or (G.ndim == 1 and np.ptp(G) == 0.0):
        return [f"{G.flat[0]:.4g}"]
    width = max(map(len, names), default=0)
    rows = [f"{value:.4g}" for value in G] if G.ndim == 1 else ["  ".join(f"{v:10.4g}" for v in row) for row in G]
    return [f"{name:{width}}  {row}" for name, row in zip(names, rows, strict=True)]


def multiply(G: Shaped[np.ndarray, "size size"], vector: Shaped[np.ndarray, " size"]) -> Shaped[np.ndarray, " size"]:
    """Return G times a vector of symbols; zeros and ones of G cost no operations."""
    return dot(exact_array(G.tolist()), vector) if len(G) else zeros(0)


def scale_by(vector: Shaped[np.ndarray, " size"], factor: Any) -> Shaped[np.ndarray, " size"]:
    """Return a vector times one number or symbol, entry by entry: ``symbol * array`` would not be an object array."""
    return array([entry * factor for entry in vector])


def compute_quadratic_form(G: Shaped[np.ndarray, "size size"], vector: Shaped[np.ndarray, " size"]) -> Any:
    """Return vectorᵀ G vector in symbols."""
    return inner(vector, multiply(G, vector))


def _to_array(name: str, gain: Any) -> np.ndarray:
    try:
        G = np.asarray(np.nan if gain is None or isinstance(gain, str) else gain, dtype=float)
    except (TypeError, ValueError):
        G = np.array(np.nan)
    if not G.ndim and np.isnan(G):
        raise InputError(f"{name} is {gain!r}; give a number, a vector or a matrix")
    if not np.isfinite(G).all():
        raise InputError(f"{name} has an entry that is not finite")
    return G


def _check_positive(name: str, entries: np.ndarray) -> None:
    if not (entries > 0.0).all():
        raise InputError(f"{name} has the entry {entries.min():g}; gains must be greater than zero")
