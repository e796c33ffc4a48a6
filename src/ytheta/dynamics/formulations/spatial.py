"""Spatial algebra in Walker's notation (Featherstone 1983), on object arrays of any scalar.

Motions are (w, v): angular velocity first, then the velocity v of the point at the frame's origin. Forces are (force,
moment about the origin), and momenta are (linear, angular about the origin). The prime is the *spatial* transpose,
which swaps the halves, so that the product of a motion and a force is a power: s' f = s_w . f_moment + s_v . f_force.
Motions and forces then share one transform and one cross product::

    X = | A      0 |      X' = X^-1 = | A^T         0   |      v x = | K(w)  0    |
        | K(p)A  A |                  | -A^T K(p)   A^T |            | K(v)  K(w) |

A and p are the rotation and position of the moved frame in the other frame; K(a) b = a x b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.dynamics.formulations.newton_euler import inertia_columns
from ytheta.dynamics.mechanism import PER_LINK
from ytheta.dynamics.vectors import centripetal_matrix, dot, skew, zeros
from ytheta.shapes import AnySpatialColumns, AnySpatialVector, Shaped


@dataclass(frozen=True, eq=False)
class Transform:
    """The transform X of a moved frame in another frame, stored as its rotation A and position p."""

    A: Shaped[np.ndarray, "3 3"]
    p: Shaped[np.ndarray, "3"]

    @property
    def matrix(self) -> Shaped[np.ndarray, "6 6"]:
        X = zeros(6, 6)
        X[:3, :3] = X[3:, 3:] = self.A
        X[3:, :3] = dot(skew(self.p), self.A)
        return X

    def up(self, columns: AnySpatialColumns) -> AnySpatialColumns:
        """X y: from the moved frame to the other frame."""
        upper, lower = dot(self.A, columns[:3]), dot(self.A, columns[3:])
        return np.concatenate([upper, lower + dot(skew(self.p), upper)])

    def down(self, y: AnySpatialVector) -> AnySpatialVector:
        """X' y: from the other frame to the moved frame."""
        inverse = self.A.T
        return np.concatenate([dot(inverse, y[:3]), dot(inverse, y[3:] - dot(skew(self.p), y[:3]))])


def spatial_transpose(X: Shaped[np.ndarray, "6 columns"]) -> Shaped[np.ndarray, "columns 6"]:
    """X' of a 6 x 6 matrix, or the row s' of a column s."""
    swapped = np.concatenate([X[3:], X[:3]]).T
    if X.shape[1] == 6:
        return np.concatenate([swapped[3:], swapped[:3]])
    return swapped


def spatial_cross(v: AnySpatialVector, y: AnySpatialVector) -> AnySpatialVector:
    """v × y."""
    upper = dot(skew(v[:3]), y[:3])
    return np.concatenate([upper, dot(skew(v[:3]), y[3:]) + dot(skew(v[3:]), y[:3])])


def momentum_columns(v: AnySpatialVector) -> Shaped[np.ndarray, "6 10"]:
    """I v per unit of the ten parameters: the columns R_k v of sec. 2.4, in the order of ``conventions``."""
    w, linear = v[:3], v[3:]
    result = zeros(6, PER_LINK)
    result[:3, 0] = linear
    result[:3, 1:4] = skew(w)
    result[3:, 1:4] = -skew(linear)
    result[3:, 4:] = inertia_columns(w)
    return result


def gyroscopic_columns(v: AnySpatialVector, u: AnySpatialVector) -> Shaped[np.ndarray, "6 10"]:
    """v × I v per unit of the ten parameters, as the bilinear form ½ (v × I u + u × I v) that is symmetric in v and u.

    The product is expanded: v × v = 0, so the mass causes no moment, and K(v) K(w) - K(w) K(v) = K(v × w).
    """
    w, u_w = v[:3], u[:3]
    product = dot(skew(w), u[3:])
    inertia = dot(skew(w), inertia_columns(u_w))
    if v is not u:
        product = (product + dot(skew(u_w), v[3:])) * 0.5
        inertia = (inertia + dot(skew(u_w), inertia_columns(w))) * 0.5
    result = zeros(6, PER_LINK)
    result[:3, 0] = product
    result[:3, 1:4] = centripetal_matrix(w, w if v is u else u_w)
    result[3:, 1:4] = -skew(product)
    result[3:, 4:] = inertia
    return result
