"""Gains as they are written, and as the laws need them: symmetric positive definite matrices.

A number stands for that number times the unit matrix, a vector for a diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.vectors import array, dot, inner, zeros
from ytheta.errors import InputError
from ytheta.shapes import Float, Shaped, SquareMatrix

Gain: TypeAlias = float | Sequence[float] | Sequence[Sequence[float]] | np.ndarray

SYMMETRIC = 1e-9  # relative to the largest entry: rounding of whoever made the matrix


def matrix(name: str, gain: Gain, size: int, *, per: str) -> SquareMatrix:
    """A gain as a matrix; ``per`` says what it has one entry for, such as "joint"."""
    G = _numbers(name, gain)
    if G.ndim == 0:
        _positive(name, G[None])
        return np.asarray(np.eye(size) * G)
    if G.shape == (size,):
        _positive(name, G)
        return np.diag(G)
    if G.shape != (size, size):
        raise InputError(
            f"{name} has shape {G.shape}; give one number, {size} numbers (one per {per}) or a {size} x {size} matrix"
        )
    if not np.allclose(G, G.T, rtol=0.0, atol=SYMMETRIC * float(abs(G).max(initial=0.0))):
        raise InputError(f"{name} is a matrix that is not symmetric; give (G + Gᵀ) / 2")
    G = np.asarray((G + G.T) / 2.0)
    smallest = float(np.linalg.eigvalsh(G).min(initial=np.inf))
    if smallest <= 0.0:
        raise InputError(f"{name} is not positive definite: its smallest eigenvalue is {smallest:g}")
    return G


def diagonal(name: str, gain: Gain, size: int, *, per: str) -> Float[np.ndarray, "size"]:
    """A gain of a law that treats every joint for itself."""
    G = matrix(name, gain, size, per=per)
    if np.count_nonzero(G - np.diag(G.diagonal())):
        raise InputError(f"{name} couples joints; this law's proof needs one number, or {size}, one per {per}")
    return G.diagonal().copy()


def scalar(name: str, gain: Any) -> float:
    """A gain that is one number."""
    G = _numbers(name, gain)
    if G.ndim:
        raise InputError(f"{name} has shape {G.shape}; this law takes one number")
    _positive(name, G[None])
    return float(G)


def inverse(G: SquareMatrix) -> SquareMatrix:
    """Of a gain; a diagonal's is exact, and one of nothing is nothing."""
    return np.linalg.inv(G)


def times(G: Shaped[np.ndarray, "size size"], vector: Shaped[np.ndarray, "size"]) -> Shaped[np.ndarray, "size"]:
    """G times a vector of symbols, zeros and ones of G left out."""
    return dot(exact_array(G.tolist()), vector) if len(G) else zeros(0)


def scaled(vector: Shaped[np.ndarray, "size"], factor: Any) -> Shaped[np.ndarray, "size"]:
    """A vector times one number or symbol; a symbol alone would take the array for its own kind."""
    return array([entry * factor for entry in vector])


def quadratic(G: Shaped[np.ndarray, "size size"], vector: Shaped[np.ndarray, "size"]) -> Any:
    """vectorᵀ G vector in symbols."""
    return inner(vector, times(G, vector))


def _numbers(name: str, gain: Any) -> np.ndarray:
    try:
        G = np.asarray(gain, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {gain!r}; give a number, a vector or a matrix") from None
    if not np.isfinite(G).all():
        raise InputError(f"{name} has an entry that is not finite")
    return G


def _positive(name: str, entries: np.ndarray) -> None:
    if not (entries > 0.0).all():
        raise InputError(f"{name} has the entry {entries.min():g}; gains are greater than zero")
