"""Least-norm points of an intersection of cones, computed by Clarabel.

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

from ytheta.errors import MissingExtraError
from ytheta.identification.bodies.pseudo_inertia import SIZE, from_svec
from ytheta.shapes import PerRow, PerVariable, RowsByVariable

MAX_ITERATIONS = 100
TOLERANCE = 1e-8  # of gap and feasibility, relative to an objective of 1


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
