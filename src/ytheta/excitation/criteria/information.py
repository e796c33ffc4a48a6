"""What a motion tells about the base parameters: sums of products of regressor rows, joint by joint.

Identity      G_j = mean over samples of Y_jᵀ Y_j,   M = prior + sum_j f_j G_j
Notation      code     meaning                                                           shape
              grams    G_j, one matrix per joint                                         joints base base
              factors  f_j: one for condition numbers of W_b; samples / noise_j² for the Fisher information
              prior    information of earlier measurements, or zero                      base base

A criterion is a function of the G_j. Its derivative with respect to a row Y_j of one sample is 2 Y_j S_j / samples, if
S_j is its derivative with respect to G_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from ytheta.shapes import BaseByBase, Float, PerBase, PerJoint, SamplesByJointByBase

Grams = Float[np.ndarray, "joints base base"]

MIN_EIGENVALUE_RATIO = 1e-15  # smallest eigenvalue of M relative to the largest; below, rounding errors prevail


@runtime_checkable
class Criterion(Protocol):
    """A function of the Gram matrices that the design minimizes.

    ``evaluate`` returns a smooth approximation and its derivatives with respect to the G_j. ``sharpness`` is the
    exponent of the sums that approximate largest and smallest values; the approximation becomes exact as it grows.
    """

    @property
    def name(self) -> str: ...

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]: ...

    def measure(self, grams: Grams) -> float:
        """Return the exact value."""


@dataclass(frozen=True, eq=False)
class Information:
    """The matrix M as a function of the G_j."""

    factors: PerJoint
    prior: BaseByBase

    @classmethod
    def unweighted(cls, joints: int, base: int) -> Information:
        """Return the information whose M is the mean of Yᵀ Y, from which condition numbers of W_b are computed."""
        return cls(np.ones(joints), np.zeros((base, base)))

    def sum_up(self, grams: Grams) -> BaseByBase:
        return np.asarray(self.prior + np.tensordot(self.factors, grams, axes=1))

    def distribute(self, sensitivity: BaseByBase) -> Grams:
        """Return the derivatives with respect to the G_j, from that with respect to M."""
        return self.factors[:, None, None] * sensitivity

    def expect_std(self, grams: Grams) -> PerBase:
        """Return the expected standard deviations of the base parameters; infinite if M is singular."""
        return compute_std(self.sum_up(grams))


def compute_grams(Y: SamplesByJointByBase) -> Grams:
    """Return the mean of Y_jᵀ Y_j over the samples for every joint."""
    rows = np.ascontiguousarray(Y.transpose(1, 0, 2))
    return np.matmul(rows.transpose(0, 2, 1), rows) / len(Y)


def compute_std(M: BaseByBase) -> PerBase:
    """Return the square roots of the diagonal of M⁻¹; infinite for parameters that M does not determine."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    eigenvalues, vectors = np.linalg.eigh(M * scale[:, None] * scale)
    seen = eigenvalues > MIN_EIGENVALUE_RATIO * max(float(eigenvalues[-1]), 0.0)
    inverse = np.where(seen, 1.0 / np.where(seen, eigenvalues, 1.0), np.inf)
    parts = np.where(vectors**2 > 1e-12, vectors**2, 0.0)
    with np.errstate(invalid="ignore"):
        variances = np.nansum(parts * inverse, axis=1)
    return np.asarray(scale * np.sqrt(variances))
