"""Condition numbers of W_b, with plain columns and with columns scaled to length one, as smooth criteria.

Identity      log cond = lim (1 / 2p) (log tr Mᵖ + log tr M⁻ᵖ) as the sharpness p grows;  M = W_bᵀ W_b / samples

The smooth value is never smaller than the logarithm of the condition number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.excitation.criteria.information import MIN_EIGENVALUE_RATIO, Grams, Information
from ytheta.shapes import BaseByBase


@dataclass(frozen=True, eq=False)
class PlainCondition:
    """Logarithm of the condition number of W_b, columns in SI units."""

    information: Information

    @property
    def name(self) -> str:
        return "plain"

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]:
        value, sensitivity = smooth_log_condition(self.information.sum_up(grams), sharpness)
        return value, self.information.distribute(sensitivity)

    def measure(self, grams: Grams) -> float:
        return log_condition(self.information.sum_up(grams))


@dataclass(frozen=True, eq=False)
class ScaledCondition:
    """Logarithm of the condition number of W_b with columns scaled to length one."""

    information: Information

    @property
    def name(self) -> str:
        return "scaled"

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]:
        value, sensitivity = smooth_log_scaled_condition(self.information.sum_up(grams), sharpness)
        return value, self.information.distribute(sensitivity)

    def measure(self, grams: Grams) -> float:
        return log_condition(scale_columns(self.information.sum_up(grams)))


def smooth_log_condition(M: BaseByBase, sharpness: float) -> tuple[float, BaseByBase]:
    """Return the smooth logarithm of the condition number of W, and its derivative with respect to M = WᵀW."""
    eigenvalues, vectors = np.linalg.eigh(M)
    bounded = np.maximum(eigenvalues, MIN_EIGENVALUE_RATIO * eigenvalues[-1])
    log = np.log(bounded)
    large, small = np.exp(sharpness * (log - log[-1])), np.exp(sharpness * (log[0] - log))
    value = 0.5 * (log[-1] - log[0] + (np.log(large.sum()) + np.log(small.sum())) / sharpness)
    slopes = 0.5 * (large / large.sum() - small / small.sum()) / bounded
    return float(value), (vectors * slopes) @ vectors.T


def smooth_log_scaled_condition(M: BaseByBase, sharpness: float) -> tuple[float, BaseByBase]:
    """Like ``smooth_log_condition`` for columns of W scaled to length one."""
    scaled = scale_columns(M)
    value, sensitivity = smooth_log_condition(scaled, sharpness)
    scale = 1.0 / np.sqrt(np.diag(M))
    result = sensitivity * scale[:, None] * scale
    # The diagonal of M also changes the scales of rows and columns: d scale_i / d M_ii = -scale_i³ / 2.
    result[np.diag_indices_from(result)] -= (sensitivity * scaled).sum(axis=1) * scale**2
    return value, result


def scale_columns(M: BaseByBase) -> BaseByBase:
    """Return WᵀW for columns of W scaled to length one."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    return M * scale[:, None] * scale


def log_condition(M: BaseByBase) -> float:
    """Return the logarithm of the condition number of W from M = WᵀW; infinite if W is rank-deficient."""
    eigenvalues = np.linalg.eigvalsh(M)
    if eigenvalues[0] <= MIN_EIGENVALUE_RATIO * eigenvalues[-1]:
        return float("inf")
    return float(0.5 * np.log(eigenvalues[-1] / eigenvalues[0]))
