"""Eigendecomposition of the matrix N of the normal equations. It separates identified from unidentified directions.

Columns are first scaled to length one, so that parameters in kg and in kg m² are comparable. The square roots of the
eigenvalues are then the singular values of the scaled equations. Directions whose singular values are below
``RANK_TOLERANCE`` times the largest one cannot be distinguished from rounding errors of N; the solution has no
component along such directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.shapes import BaseByBase, Float, PerBase

RANK_TOLERANCE = 1e-6
# Length of a column divided by the length of the longest; below this value, the column is treated as zero.
ZERO_COLUMN_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class NormalDecomposition:
    """N = diag(scale) V diag(singular_values²) Vᵀ diag(scale), singular values in descending order."""

    scale: PerBase
    singular_values: PerBase
    V: BaseByBase

    @classmethod
    def of(cls, N: BaseByBase) -> NormalDecomposition:
        """Decompose N."""
        scale = np.sqrt(np.maximum(np.diag(N), 0.0))
        largest = scale.max(initial=0.0)
        scale = np.where(scale > ZERO_COLUMN_TOLERANCE * largest, scale, np.inf)  # zero columns: unidentified
        values, V = np.linalg.eigh(N / np.outer(scale, scale))
        return cls(scale, np.sqrt(np.maximum(values[::-1], 0.0)), V[:, ::-1])

    @cached_property
    def rank(self) -> int:
        """The number of directions that the data identify."""
        return int(np.count_nonzero(self.singular_values > RANK_TOLERANCE * self.singular_values[:1].max(initial=0.0)))

    @property
    def condition_number(self) -> float:
        """Condition number of the scaled equations; infinite if N does not have full rank."""
        if self.rank < len(self.singular_values) or not len(self.singular_values):
            return np.inf
        return float(self.singular_values[0] / self.singular_values[-1])

    @cached_property
    def inverse(self) -> BaseByBase:
        """N⁻¹ on the identified directions; zero on the unidentified directions."""
        half = self.half_inverse
        return half @ half.T

    def solve(self, b: PerBase) -> PerBase:
        """Solve N beta = b on the identified directions; beta is zero along the unidentified directions."""
        half = self.half_inverse
        return half @ (half.T @ b)

    @cached_property
    def null_space(self) -> Float[np.ndarray, "base unidentified"]:
        """Directions of beta that the data do not identify, one per column; a zero column of Y gives a unit vector."""
        zero = ~np.isfinite(self.scale)
        V = self.V[:, self.rank :]
        directions = V / np.where(zero, 1.0, self.scale)[:, None]
        return directions / np.maximum(np.linalg.norm(directions, axis=0), np.finfo(float).tiny)

    @property
    def factor(self) -> Float[np.ndarray, "base identified"]:
        """F with N = F Fᵀ on the identified directions; ``half_inverse`` is its pseudo-inverse, transposed."""
        scale = np.where(np.isfinite(self.scale), self.scale, 0.0)
        return self.V[:, : self.rank] * self.singular_values[: self.rank] * scale[:, None]

    @property
    def half_inverse(self) -> Float[np.ndarray, "base identified"]:
        """H with N⁻¹ = H Hᵀ on the identified directions."""
        return self.V[:, : self.rank] / self.singular_values[: self.rank] / self.scale[:, None]
