"""Expected standard deviations as criteria: D-, A- and E-optimality, their geometric mean and the worst one.

All values are logarithms of a standard deviation, so that they can be added, and a difference of 0.1 means 10 %.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ytheta.excitation.criteria.information import MIN_EIGENVALUE_RATIO, Grams, Information
from ytheta.shapes import BaseByBase, Float

Evaluation = Callable[[BaseByBase, float], tuple[float, BaseByBase]]

EXACT_SHARPNESS = 1e5  # a sum with this exponent differs from the largest term by less than 1e-4 of it


@dataclass(frozen=True, eq=False)
class ExpectedDeviation:
    """A measure of the expected standard deviations, given by a function of ``EVALUATIONS``."""

    name: str
    information: Information

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]:
        value, sensitivity = EVALUATIONS[self.name](self.information.sum_up(grams), sharpness)
        return value, self.information.distribute(sensitivity)

    def measure(self, grams: Grams) -> float:
        return EVALUATIONS[self.name](self.information.sum_up(grams), EXACT_SHARPNESS)[0]


def evaluate_d(M: BaseByBase, _: float) -> tuple[float, BaseByBase]:
    """Geometric mean of the semi-axes of the confidence ellipsoid: -log det M / (2 base)."""
    eigenvalues, vectors = _decompose(M)
    return float(-0.5 * np.log(eigenvalues).mean()), -((vectors / eigenvalues) @ vectors.T) / (2 * len(M))


def evaluate_a(M: BaseByBase, _: float) -> tuple[float, BaseByBase]:
    """Root mean square of the standard deviations."""
    inverse = invert(M)
    total = float(np.trace(inverse))
    return 0.5 * float(np.log(total / len(M))), -inverse @ inverse / (2.0 * total)


def evaluate_e(M: BaseByBase, sharpness: float) -> tuple[float, BaseByBase]:
    """Largest semi-axis of the confidence ellipsoid."""
    eigenvalues, vectors = _decompose(M)
    log = np.log(eigenvalues)
    parts = np.exp(sharpness * (log[0] - log))
    value = 0.5 * (np.log(parts.sum()) / sharpness - log[0])
    return float(value), -((vectors * (parts / parts.sum() / eigenvalues)) @ vectors.T) / 2.0


def evaluate_mean_std(M: BaseByBase, _: float) -> tuple[float, BaseByBase]:
    """Geometric mean of the standard deviations."""
    return log_mean_std(invert(M))


def evaluate_worst_std(M: BaseByBase, sharpness: float) -> tuple[float, BaseByBase]:
    """The largest standard deviation."""
    return log_worst_std(invert(M), sharpness)


def log_mean_std(covariance: BaseByBase) -> tuple[float, BaseByBase]:
    """Return the logarithm of the geometric mean of the deviations, and its derivative with respect to M."""
    variances = np.diag(covariance)
    return 0.5 * float(np.log(variances).mean()), -(covariance / variances) @ covariance / (2 * len(variances))


def log_worst_std(covariance: BaseByBase, sharpness: float) -> tuple[float, BaseByBase]:
    """Return the smooth logarithm of the largest deviation, and its derivative with respect to M."""
    variances = np.diag(covariance)
    log = 0.5 * np.log(variances)
    parts = np.exp(sharpness * (log - log.max()))
    value = float(np.log(parts.sum()) / sharpness + log.max())
    return value, -((covariance * (parts / parts.sum() / variances)) @ covariance) / 2.0


EVALUATIONS: dict[str, Evaluation] = {
    "d": evaluate_d,
    "a": evaluate_a,
    "e": evaluate_e,
    "mean std": evaluate_mean_std,
    "worst std": evaluate_worst_std,
}


def _decompose(M: BaseByBase) -> tuple[Float[np.ndarray, "base"], BaseByBase]:
    eigenvalues, vectors = np.linalg.eigh(M)
    return np.maximum(eigenvalues, MIN_EIGENVALUE_RATIO * eigenvalues[-1]), vectors


def invert(M: BaseByBase) -> BaseByBase:
    """Return the covariance M⁻¹; eigenvalues that are zero but for rounding are replaced by a small positive one."""
    try:
        inverse = np.linalg.inv(M)
        if (np.diag(inverse) > 0.0).all() and np.isfinite(inverse).all():
            return np.asarray(inverse)
    except np.linalg.LinAlgError:
        pass
    eigenvalues, vectors = _decompose(M)
    return np.asarray((vectors / eigenvalues) @ vectors.T)
