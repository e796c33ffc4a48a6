"""The cone program of the nearest bodies, in coordinates in which the metric is the identity.

Identity      theta = center + W v,   ½ (theta - target)ᵀ H (theta - target) = ½ |v_m|²,   v_m = v[:rank]
Notation      code     meaning                                                                     shape
              v        deviation from the target, see below                                        variables
              W        from v to all parameters; rows of fixed parameters are zero                 params x variables
              center   the target; directions without cost start at the reference                  params
              X        pseudo-inertia of a link, scaled by its reference, see ``solver``           4 x 4
              margin   the smallest allowed eigenvalue of X: P >= margin P0 for every link
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.errors import InputError
from ytheta.identification.consistency.bounds import BodyBounds, Inequalities, LinearGroup, list_linear_groups
from ytheta.identification.consistency.reference import PlausibleReference
from ytheta.identification.consistency.solver import (
    SIZE,
    Cone,
    LinkScale,
    Outcome,
    Solution,
    solve_cone_program,
    to_svec,
)
from ytheta.robot.parts import parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float, ParamsByParam, PerParameter, PerVariable, SquareMatrix

# Expected objective, relative to the objective at the reference, which the solution does not exceed without bounds.
# It affects only the scale that the solver sees.
EXPECTED_RELATIVE_OBJECTIVE = 1e-3
# Ratio of the objective to its expected value; outside, the program is scaled by the objective and solved again.
# Chosen on: rule of thumb.
OBJECTIVE_RANGE = (1e-3, 1e4)
# Largest number of times that the program is scaled and solved. Chosen on: rule of thumb.
MAX_ROUNDS = 3
# Largest violation of a row whose parameters are all fixed, relative to the size of its terms. Chosen on: rule of
# thumb.
FIXED_ROW_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Constraint:
    """A cone, and the label that messages use for it.

    Attributes
    ----------
    label    what the constraint requires
    cone     the constraint on v; linear rows have length one
    link     the link that it constrains, or None
    is_body  whether it requires that the link is a body; else, it is a bound or an inequality
    """

    label: str
    cone: Cone
    link: str | None
    is_body: bool


@dataclass(frozen=True, eq=False)
class BodyProgram:
    """The cone program of the nearest bodies.

    Attributes
    ----------
    robot               the robot
    center, W, rank     see the docstring of the module
    reference           plausible bodies, which are the scale of the links
    margin              the smallest allowed eigenvalue of X
    indices             positions of the ten parameters of each link that has free parameters, by name
    scales              coordinates of these links
    free                which parameters are free
    units               a small change of each parameter, relative to 1; zero for fixed parameters
    constraints         cones of links and groups of linear rows
    groups              the linear rows, for parameters
    violated_by_fixed   labels of groups that fixed parameters violate
    expected_objective  order of magnitude of the objective, by which the program is scaled
    """

    robot: Robot
    center: PerParameter
    W: Float[np.ndarray, "params variables"]
    rank: int
    reference: PlausibleReference
    margin: float
    indices: Mapping[str, list[int]]
    scales: Mapping[str, LinkScale]
    free: Bool[np.ndarray, " params"]
    units: PerParameter
    constraints: tuple[Constraint, ...]
    groups: tuple[LinearGroup, ...]
    violated_by_fixed: tuple[str, ...]
    expected_objective: float

    def solve(self) -> Outcome:
        """Solve the program; solve it again if its objective is far from the expected value."""
        cones = [constraint.cone for constraint in self.constraints]
        scale, iterations = self.expected_objective, 0
        for _ in range(MAX_ROUNDS):
            outcome = solve_cone_program(cones, objective_scale=scale)
            iterations += outcome.iterations
            objective = 0.5 * float(outcome.v @ outcome.v)
            low, high = (bound * scale for bound in OBJECTIVE_RANGE)
            is_usable = np.isfinite(objective) and objective > 0.0
            if outcome.solution is Solution.INFEASIBLE or not is_usable or low <= objective <= high:
                break
            scale = objective
        return replace(outcome, iterations=iterations)

    def compute_theta(self, v: PerVariable) -> PerParameter:
        return self.center + self.W @ v

    def compute_distance(self, v: PerVariable) -> float:
        """Return ½ (theta - target)ᵀ H (theta - target)."""
        return 0.5 * float(v[: self.rank] @ v[: self.rank])

    def without(self, labels: Collection[str]) -> BodyProgram:
        """Return the program without the constraints of these labels."""
        kept = tuple(constraint for constraint in self.constraints if constraint.label not in labels)
        groups = tuple(group for group in self.groups if group.label not in labels)
        return replace(self, constraints=kept, groups=groups)


def build_program(
    robot: Robot,
    target: PerParameter,
    metric: ParamsByParam,
    *,
    reference: PlausibleReference,
    free: Bool[np.ndarray, " params"],
    bounds: BodyBounds,
    inequalities: Inequalities,
    margin: float,
) -> BodyProgram:
    """Build the program; ``free`` says which parameters may change."""
    groups = list_linear_groups(robot, bounds, inequalities)
    positions = {name: k for k, name in enumerate(robot.parameter_names)}
    ten = {link: [positions[parameter_name(link, p)] for p in LINK_PARAMETERS] for link in reference.pseudo}
    indices = {link: places for link, places in ten.items() if free[places].any()}
    scales = {link: reference.scales[link] for link in indices}
    H = metric[np.ix_(free, free)]
    T = _make_units(H, target, free, indices, scales)
    start = np.linalg.solve(T, (reference.theta - target)[free])
    whitening = Whitening.of(T.T @ H @ T, start)
    center, W, units = target.copy(), np.zeros((len(target), len(H))), np.zeros(len(target))
    units[free] = np.linalg.norm(T, axis=1)
    center[free] += T @ whitening.d0
    W[free] = T @ whitening.B
    constraints = list(_list_body_constraints(center, W, indices, scales, margin))
    violated = []
    for group in groups:
        cone, possible = _make_linear_cone(group, center, W)
        if not possible:
            violated.append(group.label)
        elif len(cone.b):
            constraints.append(Constraint(group.label, cone, group.link, is_body=False))
    v = np.linalg.solve(whitening.B, start - whitening.d0)
    return BodyProgram(
        robot=robot,
        center=center,
        W=W,
        rank=whitening.rank,
        reference=reference,
        margin=margin,
        indices=indices,
        scales=scales,
        free=free,
        units=units,
        constraints=tuple(constraints),
        groups=groups,
        violated_by_fixed=tuple(violated),
        expected_objective=EXPECTED_RELATIVE_OBJECTIVE * 0.5 * float(v @ v) or 1.0,
    )


def _make_units(
    H: SquareMatrix,
    target: PerParameter,
    free: Bool[np.ndarray, " params"],
    indices: Mapping[str, list[int]],
    scales: Mapping[str, LinkScale],
) -> SquareMatrix:
    """Return T of theta = T d for free parameters: the units of d are those of svec X, or 1/√H_ii for other parameters.

    If only some parameters of a link are free, each has the unit that changes X by one.
    """
    diagonal, sizes = np.diag(H), np.maximum(abs(target[free]), 1.0)
    T = np.diag(np.where(diagonal > 0.0, np.maximum(diagonal, np.finfo(float).tiny) ** -0.5, sizes))
    place = np.cumsum(free) - 1  # among the free parameters
    for link, ten in indices.items():
        chosen = free[ten]
        columns = scales[link].to_scaled[:, chosen]
        variables = place[ten][chosen]
        block = np.linalg.inv(columns) if chosen.all() else np.diag(1.0 / np.linalg.norm(columns, axis=0))
        T[np.ix_(variables, variables)] = block
    return T


def _list_body_constraints(
    center: PerParameter,
    W: Float[np.ndarray, "params variables"],
    indices: Mapping[str, list[int]],
    scales: Mapping[str, LinkScale],
    margin: float,
) -> Iterator[Constraint]:
    """Yield X >= margin for every link with free parameters."""
    for link, ten in indices.items():
        to_scaled = scales[link].to_scaled
        b = to_scaled @ center[ten] - margin * to_svec(np.eye(SIZE))
        yield Constraint(f"body of {link!r}", Cone(to_scaled @ W[ten], b, is_matrix=True), link, is_body=True)


def _make_linear_cone(
    group: LinearGroup, center: PerParameter, W: Float[np.ndarray, "params variables"]
) -> tuple[Cone, bool]:
    """Return the rows of a group for v, with length one, and whether the rows without free parameters hold."""
    A = group.rows @ W
    b = group.rows @ center - group.lower
    lengths = np.linalg.norm(A, axis=1)
    moves = lengths > 0.0
    sizes = abs(group.rows) @ abs(center) + abs(group.lower)
    possible = not (b[~moves] < -FIXED_ROW_TOLERANCE * sizes[~moves]).any()
    return Cone(A[moves] / lengths[moves, None], b[moves] / lengths[moves], is_matrix=False), possible


# Coordinates in which a metric is the identity, also for metrics that are badly conditioned or singular.
#
# Identity      d = d0 + B v,   dᵀ G d = |v_m|²   with the first ``rank`` entries v_m of v
# Notation      code         meaning                                                                shape
#               G            metric of deviations d, positive semidefinite                          n x n
#               scale        roots of the diagonal of G; 1 where it is zero                         n
#               V, values    eigenvectors and eigenvalues of G / (scale scaleᵀ)                     n x n, n
#               N0           orthonormal basis of the directions without cost                       n x k
#               weight       cost of v per distance along N0, see below                             scalar
#
# The diagonal is scaled to 1 first: eigenvalues of G itself have absolute errors of 1e-16 of the largest one, which is
# more than the whole metric of a light wrist beside that of a heavy arm.
#
# Directions without cost: |v|² contains them with a weight far below the smallest eigenvalue of G that is not zero,
# centred at ``start``. Among solutions of equal cost, the nearest to ``start`` is preferred.


# Diagonal of the metric relative to its largest entry; smaller entries are rounding errors of zero. Chosen on:
# reasoning; some ten times the rounding error of a double.
MIN_RELATIVE_DIAGONAL = 1e-14
# Eigenvalues of the metric with diagonal 1, per parameter; smaller ones are rounding errors. Chosen on: reasoning;
# some ten times the rounding error of a double.
NULL_TOLERANCE = 1e-14
# Size of a negative eigenvalue of the metric with diagonal 1; a larger one is not a rounding error, and the matrix is
# not a metric. Chosen on: rule of thumb.
MAX_NEGATIVE_EIGENVALUE = 1e-7
# Largest residual of the factors of the metric with diagonal 1. Chosen on: rule of thumb.
MAX_RESIDUAL = 1e-9
# Weight of directions without cost, relative to the smallest eigenvalue that is not zero. Chosen on: rule of thumb.
NULL_SPACE_WEIGHT = 1e-3
# The same, relative to the largest eigenvalue. Chosen on: rule of thumb.
MIN_NULL_SPACE_WEIGHT = 1e-13


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
