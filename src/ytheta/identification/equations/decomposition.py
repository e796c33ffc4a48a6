"""NormalDecomposition equations N beta = b, solved so that what the data do not show is known to be unknown.

Columns are scaled to length one first, so that kilograms and kg m² compare. The square roots of the eigenvalues are
then the singular values of the scaled equations. Directions below ``UNSEEN`` of the largest cannot be told from
rounding in products of this kind and take no part: beta stays there where it was before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.shapes import BaseByBase, Float, PerBase

UNSEEN = 1e-6


@dataclass(frozen=True, eq=False)
class NormalDecomposition:
    """A decomposition of N: N = diag(scale) V diag(singular²) Vᵀ diag(scale), singular values from large to small."""

    scale: PerBase
    singular: PerBase
    V: BaseByBase

    @classmethod
    def of(cls, N: BaseByBase) -> NormalDecomposition:
        scale = np.sqrt(np.maximum(np.diag(N), 0.0))
        largest = scale.max(initial=0.0)
        safe = np.where(scale > 1e-12 * largest, scale, np.inf)  # a column of zeros: its own direction, never seen
        values, V = np.linalg.eigh(N / np.outer(safe, safe))
        return cls(safe, np.sqrt(np.maximum(values[::-1], 0.0)), V[:, ::-1])

    @cached_property
    def seen(self) -> int:
        """How many directions the data show."""
        return int(np.count_nonzero(self.singular > UNSEEN * self.singular[:1].max(initial=0.0)))

    @property
    def condition(self) -> float:
        """Condition number of the scaled equations; infinite where a direction is not seen."""
        if self.seen < len(self.singular) or not len(self.singular):
            return np.inf
        return float(self.singular[0] / self.singular[-1])

    @cached_property
    def inverse(self) -> BaseByBase:
        """N⁻¹ over the directions that are seen; zero on the others."""
        half = self._half
        return half @ half.T

    def solve(self, b: PerBase) -> PerBase:
        """The beta of N beta = b without any part in directions that are not seen."""
        half = self._half
        return half @ (half.T @ b)

    @cached_property
    def unseen(self) -> Float[np.ndarray, "base unseen"]:
        """Directions of beta, one per column, that the data say nothing about; columns of zeros alone come as units."""
        dead = ~np.isfinite(self.scale)
        V = self.V[:, self.seen :]
        directions = V / np.where(dead, 1.0, self.scale)[:, None]
        return directions / np.maximum(np.linalg.norm(directions, axis=0), np.finfo(float).tiny)

    @property
    def _half(self) -> Float[np.ndarray, "base seen"]:
        return self.V[:, : self.seen] / self.singular[: self.seen] / self.scale[:, None]
