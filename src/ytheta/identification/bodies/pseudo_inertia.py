"""Pseudo-inertias in coordinates in which a reference body is the identity.

Identity      P = L X Lᵀ with P0 = L Lᵀ, so that X = 1 for the reference; svec X = to_scaled @ theta_l
Reference     P. M. Wensing, S. Kim and J.-J. E. Slotine, Linear Matrix Inequalities for Physically Consistent Inertial
              Parameter Identification, IEEE Robotics and Automation Letters 3(1), 2018;
              S. Traversaro, S. Brossette, A. Escande and F. Nori, Identification of Fully Physical Consistent Inertial
              Parameters using Optimization on Manifolds, IROS 2016;
              T. Lee, P. M. Wensing and F. C. Park, Geometric Robot Dynamic Identification: A Convex Programming
              Approach, IEEE Transactions on Robotics 36(2), 2020
Notation      code       meaning                                                             shape
              P          pseudo-inertia of a link, see ``robot.inertia``                     4 x 4
              P0         pseudo-inertia of the reference body                                4 x 4
              X          P in coordinates in which P0 is the identity                        4 x 4
              svec       upper triangle, column by column, entries off the diagonal          10
                         times √2, so that svec A · svec B = tr(A B)

The norm of svec(X - 1) does not depend on the frame or the units of the link: it is the metric tr(P0⁻¹ dP P0⁻¹ dP) of
Lee et al. at P0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float, Matrix4

# P = sum of theta_a BASIS[a] for the ten parameters theta of a link.
BASIS = np.stack([Inertia(tuple(unit)).pseudo for unit in np.eye(len(LINK_PARAMETERS)).tolist()])
SIZE = 4  # rows of a pseudo-inertia

_ROWS, _COLUMNS = np.array([(i, j) for j in range(SIZE) for i in range(j + 1)]).T
_WEIGHTS = np.where(_ROWS == _COLUMNS, 1.0, np.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class LinkScale:
    """The coordinates in which the reference body of a link is the identity.

    Attributes
    ----------
    factor     L of P0 = L Lᵀ, lower triangular
    to_scaled  the matrix with svec X = to_scaled @ theta_l for the ten parameters theta_l of the link
    """

    factor: Matrix4
    to_scaled: Float[np.ndarray, "10 10"]

    @classmethod
    def of(cls, P0: Matrix4) -> LinkScale:
        """Return the coordinates of a positive definite reference."""
        L = np.linalg.cholesky(P0)
        inverse = np.linalg.inv(L)
        return cls(L, to_svec(inverse @ BASIS @ inverse.T).T)

    def compute_smallest_eigenvalue(self, theta: Float[np.ndarray, "10"]) -> float:
        """Return the smallest eigenvalue of X, which is the largest e with P >= e P0."""
        return float(np.linalg.eigvalsh(from_svec(self.to_scaled @ theta))[0])


def to_svec(matrix: Float[np.ndarray, "*batch 4 4"]) -> Float[np.ndarray, "*batch 10"]:
    """Return the upper triangle of symmetric matrices; entries off the diagonal are multiplied by √2."""
    return matrix[..., _ROWS, _COLUMNS] * _WEIGHTS


def from_svec(vector: Float[np.ndarray, "10"]) -> Matrix4:
    """Return the symmetric matrix with this upper triangle."""
    matrix = np.empty((SIZE, SIZE))
    matrix[_ROWS, _COLUMNS] = matrix[_COLUMNS, _ROWS] = vector / _WEIGHTS
    return matrix
