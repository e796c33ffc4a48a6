"""Coordinates in which a metric is the identity, also for metrics that are badly conditioned or singular.

Identity      d = d0 + B v,   dᵀ G d = |v_m|²   with the first ``rank`` entries v_m of v
Notation      code         meaning                                                                shape
              G            metric of deviations d, positive semidefinite                          n x n
              scale        roots of the diagonal of G; 1 where it is zero                         n
              V, values    eigenvectors and eigenvalues of G / (scale scaleᵀ)                     n x n, n
              N0           orthonormal basis of the directions without cost                       n x k
              weight       cost of v per distance along N0, see below                             scalar

The diagonal is scaled to 1 first: eigenvalues of G itself have absolute errors of 1e-16 of the largest one, which is
more than the whole metric of a light wrist beside that of a heavy arm.

Directions without cost: |v|² contains them with a weight far below the smallest eigenvalue of G that is not zero,
centred at ``start``. Among solutions of equal cost, the nearest to ``start`` is preferred.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.errors import InputError
from ytheta.shapes import PerVariable, SquareMatrix

# Diagonal of the metric relative to its largest entry; smaller entries are rounding errors of zero.
MIN_RELATIVE_DIAGONAL = 1e-14
# Eigenvalues of the metric with diagonal 1, per parameter; smaller ones are rounding errors.
NULL_TOLERANCE = 1e-14
MAX_NEGATIVE_EIGENVALUE = 1e-7  # of the metric with diagonal 1; below minus this value, it is not a metric
MAX_RESIDUAL = 1e-9  # of the factors of the metric with diagonal 1
NULL_SPACE_WEIGHT = 1e-3  # of directions without cost, relative to the smallest eigenvalue that is not zero
MIN_NULL_SPACE_WEIGHT = 1e-13  # likewise, relative to the largest eigenvalue


@dataclass(frozen=True, eq=False)
class Whitening:
    """The coordinates v with d = d0 + B v; see the docstring of the module."""

    d0: PerVariable
    B: SquareMatrix
    rank: int

    @classmethod
    def of(cls, G: SquareMatrix, start: PerVariable) -> Whitening:
        """Return the coordinates of a metric; raise InputError if it is not positive semidefinite."""
        diagonal = np.diag(G)
        measured = diagonal > MIN_RELATIVE_DIAGONAL * diagonal.max(initial=0.0)
        scale = np.sqrt(np.where(measured, diagonal, 1.0))
        normalized = np.where(np.outer(measured, measured), (G + G.T) / 2.0, 0.0) / np.outer(scale, scale)
        values, V = np.linalg.eigh(normalized)
        smallest = float(values.min(initial=0.0))
        if smallest < -MAX_NEGATIVE_EIGENVALUE:
            raise InputError(
                f"the metric is not positive semidefinite: scaled to the diagonal 1, it has the eigenvalue "
                f"{smallest:.3g}; give a sum of normal equations and precisions"
            )
        kept = values > NULL_TOLERANCE * len(values)
        values, V_m, V_0 = values[kept], V[:, kept], V[:, ~kept]
        residual = float(abs((V_m * values) @ V_m.T - normalized).max(initial=0.0))
        if residual > MAX_RESIDUAL - 2.0 * smallest:
            raise InputError(
                f"the factors of the metric leave a residual of {residual:.2g}; give a symmetric metric of finite "
                "numbers without overflow"
            )
        N0, _ = np.linalg.qr(V_0 / scale[:, None])
        B_m = V_m / np.sqrt(values) / scale[:, None]
        if not N0.shape[1]:
            return cls(np.zeros(len(start)), B_m, len(values))
        # The singular values of B_m are about the inverse roots of the eigenvalues of G that are not zero.
        lengths = np.linalg.svd(B_m, compute_uv=False) if len(values) else np.ones(1)
        weight = max(NULL_SPACE_WEIGHT**0.5 / lengths[0], MIN_NULL_SPACE_WEIGHT**0.5 / lengths[-1])
        return cls(N0 @ (N0.T @ start), np.hstack([B_m, N0 / weight]), len(values))
