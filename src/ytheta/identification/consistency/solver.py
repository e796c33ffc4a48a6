"""Least-norm points of an intersection of cones, computed by Clarabel; pseudo-inertias as cones.

    minimize ½ |v|²   subject to   A v + b in a cone, for every cone

Reference     P. J. Goulart and Y. Chen, Clarabel: An interior-point solver for conic programs with quadratic
              objectives, 2024

With the identity as metric of the objective, the linear systems of the solver stay well conditioned. With the metric of
data in its place, or with an auxiliary variable for its root, the solver stopped at a relative accuracy of 1e-5 on
recorded logs of arms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.errors import MissingExtraError
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float, Matrix4, PerRow, PerVariable, RowsByVariable

# Largest number of iterations of the interior-point method. Chosen on: rule of thumb.
MAX_ITERATIONS = 100
# Gap and feasibility at which the solver ends, relative to an objective of 1. Chosen on: the default of Clarabel.
TOLERANCE = 1e-8


class Solution(StrEnum):
    """The outcomes of a cone program."""

    OPTIMAL = "optimal"
    INEXACT = "inexact"  # the solver stopped before it reached its tolerances
    INFEASIBLE = "infeasible"


@dataclass(frozen=True, eq=False)
class Cone:
    """A v + b is a positive semidefinite 4 x 4 matrix (``svec``), or a vector without negative entries."""

    A: RowsByVariable
    b: PerRow
    is_matrix: bool

    def compute_slack(self, v: PerVariable) -> float:
        """Return the smallest eigenvalue or entry of A v + b, which is negative if v violates the constraint."""
        values = self.A @ v + self.b
        return float((np.linalg.eigvalsh(from_svec(values)) if self.is_matrix else values).min(initial=np.inf))


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a cone program.

    Attributes
    ----------
    solution    whether v is optimal
    v           the solution; without meaning if there is none
    duals       the dual variables z of each cone, with v = sum of Aᵀ z; if there is no solution, the certificate that
                there is none, up to a factor
    iterations  number of interior-point iterations
    """

    solution: Solution
    v: PerVariable
    duals: tuple[np.ndarray, ...]
    iterations: int


def solve_cone_program(cones: Sequence[Cone], *, objective_scale: float = 1.0) -> Outcome:
    """Solve a cone program with at least one cone. ``objective_scale`` is the expected value of the objective."""
    clarabel = _import_clarabel()
    from scipy import sparse

    A = np.vstack([-(objective_scale**0.5) * cone.A for cone in cones])
    b = np.concatenate([cone.b for cone in cones])
    kinds = [
        clarabel.PSDTriangleConeT(SIZE) if cone.is_matrix else clarabel.NonnegativeConeT(len(cone.b)) for cone in cones
    ]
    # The solution is in the row space of A, A = Rᵀ Qᵀ: with v = Q u, the matrix is triangular and solved in half the
    # time. Badly conditioned programs need the original A, some of them also equilibration.
    Q, R = np.linalg.qr(A.T)
    attempts = ((R.T, Q, False), (A, np.eye(A.shape[1]), False), (A, np.eye(A.shape[1]), True))
    iterations = 0
    for matrix, basis, equilibrate in attempts:
        size = matrix.shape[1]
        P, q = sparse.identity(size, format="csc"), np.zeros(size)
        settings = _make_settings(clarabel, equilibrate=equilibrate)
        result = clarabel.DefaultSolver(P, q, sparse.csc_matrix(matrix), b, kinds, settings).solve()
        iterations += int(result.iterations)
        solution, v = _classify(clarabel, result.status), objective_scale**0.5 * (basis @ np.array(result.x))
        if solution is not Solution.INEXACT:
            break
    ends = np.cumsum([len(cone.b) for cone in cones])
    duals = tuple(np.split(objective_scale * np.array(result.z), ends[:-1]))
    return Outcome(solution, v, duals, iterations)


def _classify(clarabel: Any, status: Any) -> Solution:
    statuses = clarabel.SolverStatus
    if status == statuses.Solved:
        return Solution.OPTIMAL
    infeasible = status in (statuses.PrimalInfeasible, statuses.AlmostPrimalInfeasible)
    return Solution.INFEASIBLE if infeasible else Solution.INEXACT


def _make_settings(clarabel: Any, *, equilibrate: bool) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1  # the problem is too small for more
    settings.direct_solve_method = "qdldl"
    settings.max_iter = MAX_ITERATIONS
    settings.equilibrate_enable = equilibrate
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    return settings


def _import_clarabel() -> Any:
    try:
        import clarabel
    except ImportError:
        raise MissingExtraError(
            "Clarabel, the solver for physically consistent parameters, is not installed; run: pip install clarabel"
        ) from None
    return clarabel


# Pseudo-inertias in coordinates in which a reference body is the identity.
#
# Identity      P = L X Lᵀ with P0 = L Lᵀ, so that X = 1 for the reference; svec X = to_scaled @ theta_l
# Reference     P. M. Wensing, S. Kim and J.-J. E. Slotine, Linear Matrix Inequalities for Physically Consistent
#               Inertial Parameter Identification, IEEE Robotics and Automation Letters 3(1), 2018;
#               S. Traversaro, S. Brossette, A. Escande and F. Nori, Identification of Fully Physical Consistent
#               Inertial Parameters using Optimization on Manifolds, IROS 2016;
#               T. Lee, P. M. Wensing and F. C. Park, Geometric Robot Dynamic Identification: A Convex Programming
#               Approach, IEEE Transactions on Robotics 36(2), 2020
# Notation      code       meaning                                                             shape
#               P          pseudo-inertia of a link, see ``robot.inertia``                     4 x 4
#               P0         pseudo-inertia of the reference body                                4 x 4
#               X          P in coordinates in which P0 is the identity                        4 x 4
#               svec       upper triangle, column by column, entries off the diagonal          10
#                          times √2, so that svec A · svec B = tr(A B)
#
# The norm of svec(X - 1) does not depend on the frame or the units of the link: it is the metric tr(P0⁻¹ dP P0⁻¹ dP) of
# Lee et al. at P0.


# P = sum of theta_a BASIS[a] for the ten parameters theta of a link.
BASIS = np.stack([Inertia(tuple(unit)).pseudo for unit in np.eye(len(LINK_PARAMETERS)).tolist()])
# Rows of a pseudo-inertia. Fixed by: its definition.
SIZE = 4

# Places of the entries of svec in the matrix, and their weights. Fixed by: the definition of svec.
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
