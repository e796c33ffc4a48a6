"""Random states of a robot, and comparison of arrays."""

from __future__ import annotations

import numpy as np


def state(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, qd and qdd."""
    q, qd, qdd = np.random.default_rng(seed).uniform(-2.0, 2.0, (3, count))
    return q, qd, qdd


def close(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-10) -> bool:
    """Whether arrays are equal, relative to the largest entry."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return bool(np.abs(a - b).max(initial=0.0) <= tolerance * max(1.0, np.abs(b).max(initial=0.0)))
