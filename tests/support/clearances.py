"""Checks that every clearance must pass: gradients against finite differences, slopes against their bounds."""

from __future__ import annotations

import numpy as np

from ytheta.excitation.clearance.margins import Clearance

STEP = 1e-6  # rad or m


def difference_margins(clearance: Clearance, q: np.ndarray) -> np.ndarray:
    """d margin / d q of every sample by central differences: samples x margins x joints."""
    columns = [
        (clearance.compute_margins(q + STEP * unit) - clearance.compute_margins(q - STEP * unit)) / (2.0 * STEP)
        for unit in np.eye(q.shape[1])
    ]
    return np.stack(columns, axis=2)


def measure_gradient_error(clearance: Clearance, q: np.ndarray, *, seed: int = 5, shift: float = 0.0) -> np.ndarray:
    """The largest error of the pull-back of random weights, for each sample; ``shift`` is a deliberate error of q."""
    weights = np.random.default_rng(seed).normal(size=(len(q), len(clearance.names)))
    expected = np.einsum("sm,smj->sj", weights, difference_margins(clearance, q))
    error: np.ndarray = abs(clearance.pull_back(q + shift, weights) - expected).max(axis=1)
    return error


def measure_slope_ratio(clearance: Clearance, q: np.ndarray, *, seed: int = 6) -> float:
    """The largest change of a margin between two poses, over the change that the bounds on the slopes allow."""
    other = q[np.random.default_rng(seed).permutation(len(q))]
    change = abs(clearance.compute_margins(other) - clearance.compute_margins(q))
    allowed = abs(other - q) @ clearance.lipschitz.T
    return float((change / np.maximum(allowed, 1e-12)).max())
