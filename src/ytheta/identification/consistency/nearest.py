"""The bodies nearest to an estimate: physically consistent standard parameters in the metric of data and prior.

Identity      minimize ½ (theta - target)ᵀ H (theta - target)
              subject to P_l(theta) >= margin P0_l for every link l with free parameters, bounds of masses and centres
              of mass, and linear inequalities
Reference     P. M. Wensing, S. Kim and J.-J. E. Slotine, Linear Matrix Inequalities for Physically Consistent Inertial
              Parameter Identification, IEEE Robotics and Automation Letters 3(1), 2018;
              T. Lee, P. M. Wensing and F. C. Park, Geometric Robot Dynamic Identification: A Convex Programming
              Approach, IEEE Transactions on Robotics 36(2), 2020 (the scale P0)
Accepts       every robot: trees, loops, loads, prismatic joints; parameters of drives and declared forces are free
              numbers, limited only by the linear inequalities
Differs from  the papers in: the problem has no samples, only their metric H; the margin, which keeps every link away
              from point masses, rods and plates, so that simulators accept it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.engine.local import limit_blas_threads
from ytheta.errors import InputError
from ytheta.identification.consistency.bounds import BodyBounds, Inequalities
from ytheta.identification.consistency.program import BodyProgram, Constraint, build_program
from ytheta.identification.consistency.reference import PlausibleReference
from ytheta.identification.consistency.solver import Outcome, Solution, solve_cone_program
from ytheta.robot.parameters import check_parameter_names
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, ParamsByParam, PerParameter, freeze

# Smallest allowed eigenvalue of a pseudo-inertia, relative to that of the reference body. Chosen on: rule of thumb.
MARGIN = 1e-3
# Force of a constraint relative to |v|, from which on it counts as active. Chosen on: reasoning; well above the
# tolerance of the solver.
MIN_RELATIVE_FORCE = 1e-5


@dataclass(frozen=True, eq=False)
class NearestBodies:
    """Physically consistent standard parameters nearest to a target.

    Attributes
    ----------
    theta          the standard parameters
    distance       ½ (theta - target)ᵀ H (theta - target)
    active_links   links whose condition to be bodies keeps the bodies away from the target
    active_bounds  labels of bounds and inequalities that keep the bodies away from the target
    forces         by label of each constraint, the norm of its part of v, see ``program``
    repaired       links that were moved towards the reference, because the solver left them outside their cone
    violation      largest violation of a bound or inequality, relative to its terms; rounding errors, unless links were
                   repaired
    converged      whether the solver reached its tolerances; if not, the bodies are consistent and not farther than the
                   reference, but may not be nearest, see below
    iterations     number of interior-point iterations; 0 if the target satisfies all constraints, after directions
                   without cost have been moved to the reference
    """

    theta: PerParameter
    distance: float
    active_links: tuple[str, ...]
    active_bounds: tuple[str, ...]
    forces: Mapping[str, float]
    repaired: tuple[str, ...]
    violation: float
    converged: bool
    iterations: int

    @property
    def active(self) -> tuple[str, ...]:
        """Links and bounds that keep the bodies away from the target."""
        return (*self.active_links, *self.active_bounds)


@limit_blas_threads()
def find_nearest_bodies(
    robot: Robot,
    target: PerParameter,
    metric: ParamsByParam,
    *,
    reference: PlausibleReference,
    free: Sequence[str] | Bool[np.ndarray, " params"] | None = None,
    bounds: BodyBounds | None = None,
    inequalities: Inequalities | None = None,
    margin: float = MARGIN,
) -> NearestBodies:
    """Find the physically consistent standard parameters nearest to ``target``.

    Parameters
    ----------
    robot         the robot, whose names and order the parameters have
    target        standard parameters, such as an estimate; fixed parameters keep these values
    metric        H, symmetric and positive semidefinite, such as KᵀNK + Λ of normal equations and prior
    reference     plausible bodies: the scale of every link; directions without cost are drawn towards them
    free          names of the parameters that may change, or a mask; None for all parameters
    bounds        bounds of masses and centres of mass
    inequalities  linear inequalities, such as those that let friction brake
    margin        smallest allowed eigenvalue of a pseudo-inertia relative to that of the reference body
    """
    return solve_body_program(
        prepare_body_program(
            robot,
            target,
            metric,
            reference=reference,
            free=free,
            bounds=bounds,
            inequalities=inequalities,
            margin=margin,
        )
    )


@limit_blas_threads()
def prepare_body_program(
    robot: Robot,
    target: PerParameter,
    metric: ParamsByParam,
    *,
    reference: PlausibleReference,
    free: Sequence[str] | Bool[np.ndarray, " params"] | None = None,
    bounds: BodyBounds | None = None,
    inequalities: Inequalities | None = None,
    margin: float = MARGIN,
) -> BodyProgram:
    """Check the arguments of ``find_nearest_bodies`` and build its cone program."""
    if not (np.isfinite(target).all() and np.isfinite(metric).all()):
        raise InputError("target and metric must be finite numbers; check the estimate that they come from")
    if not 0.0 < margin < 1.0:
        raise InputError(f"margin is {margin:g}; give a number between 0 and 1")
    return build_program(
        robot,
        target,
        metric,
        reference=reference,
        free=_make_mask(robot, free),
        bounds=bounds or BodyBounds(),
        inequalities=inequalities or Inequalities.none(robot),
        margin=margin,
    )


@limit_blas_threads()
def solve_body_program(program: BodyProgram) -> NearestBodies:
    """Return the nearest bodies; raise InputError if the bounds contradict each other."""
    if program.violated_by_fixed:
        raise explain_fixed_parameters(program)
    v, iterations, converged = np.zeros(program.W.shape[1]), 0, True
    forces: dict[str, float] = {}
    if any(constraint.cone.compute_slack(v) < 0.0 for constraint in program.constraints):
        outcome = program.solve()
        if outcome.solution is Solution.INFEASIBLE:
            raise explain_contradiction(program, outcome)
        iterations, converged = outcome.iterations, outcome.solution is Solution.OPTIMAL
        if np.isfinite(outcome.v).all():
            v = outcome.v
            for constraint, dual in zip(program.constraints, outcome.duals, strict=True):
                forces[constraint.label] = float(np.nan_to_num(np.linalg.norm(dual @ constraint.cone.A)))
    theta = program.compute_theta(v)
    if iterations:
        theta = satisfy_linear_constraints(program, theta)
    theta, repaired = repair_bodies(program, theta)
    distance = program.compute_distance(v)
    if not converged:
        theta, distance = choose_nearer_bodies(program, theta)
    active = [
        constraint
        for constraint in program.constraints
        if forces.get(constraint.label, 0.0) > MIN_RELATIVE_FORCE * float(np.linalg.norm(v))
    ]
    return NearestBodies(
        theta=freeze(theta),
        distance=distance,
        active_links=tuple(str(constraint.link) for constraint in active if constraint.is_body),
        active_bounds=tuple(constraint.label for constraint in active if not constraint.is_body),
        forces=forces,
        repaired=repaired,
        violation=compute_violation(program, theta),
        converged=converged,
        iterations=iterations,
    )


def _make_mask(robot: Robot, free: Sequence[str] | np.ndarray | None) -> Bool[np.ndarray, " params"]:
    names = robot.parameter_names
    if free is None:
        return np.ones(len(names), dtype=bool)
    if isinstance(free, np.ndarray):
        return free
    check_parameter_names(robot, free)
    chosen = set(free)
    return np.array([name in chosen for name in names])


# Which bounds contradict each other: a smallest set of bounds that no bodies satisfy.
#
# The certificate of the solver names candidates. From these, bounds are removed one at a time as long as the rest is
# still infeasible (the deletion filter of Chinneck and Dravnieks, 1991): without any one of the remaining bounds,
# bodies exist. The conditions that links are bodies are never removed.


# Smallest entry of the certificate of infeasibility, relative to the largest, of a bound that may be part of the
# contradiction. Chosen on: reasoning; well above the tolerance of the solver.
MIN_RELATIVE_DUAL = 1e-5


def explain_contradiction(program: BodyProgram, outcome: Outcome) -> InputError:
    """Return the error that names the bounds that no bodies satisfy together."""
    robot = program.robot.name
    bounds = [constraint for constraint in program.constraints if not constraint.is_body]
    sizes = [float(abs(dual).max()) for dual in outcome.duals]
    pairs = zip(program.constraints, sizes, strict=True)
    named = {constraint.label for constraint, size in pairs if size > MIN_RELATIVE_DUAL * max(sizes)}
    candidates = [bound for bound in bounds if bound.label in named]
    if not _is_infeasible(program, candidates):
        candidates = bounds
    for bound in tuple(candidates):
        fewer = [other for other in candidates if other is not bound]
        if _is_infeasible(program, fewer):
            candidates = fewer
    if not candidates:
        partly = [link for link, ten in program.indices.items() if not program.free[ten].all()]
        return InputError(
            f"no bodies of robot {robot!r} have the fixed parameters of {', '.join(map(repr, partly))}; let all ten "
            "parameters of these links be free, or correct the fixed ones"
        )
    labels = "; ".join(bound.label for bound in candidates)
    together = "satisfy these bounds together" if len(candidates) > 1 else "satisfy this bound"
    return InputError(f"no bodies of robot {robot!r} {together}: {labels}; relax or remove one of them")


def explain_fixed_parameters(program: BodyProgram) -> InputError:
    """Return the error that names the bounds that fixed parameters violate."""
    return InputError(
        f"parameters of robot {program.robot.name!r} that are not free violate these bounds: "
        f"{'; '.join(program.violated_by_fixed)}; relax the bounds, or let the parameters be free"
    )


def _is_infeasible(program: BodyProgram, bounds: Sequence[Constraint]) -> bool:
    """Whether no bodies satisfy these bounds."""
    bodies = [constraint for constraint in program.constraints if constraint.is_body]
    cones = [constraint.cone for constraint in (*bodies, *bounds)]
    outcome = solve_cone_program(cones, objective_scale=program.expected_objective)
    return outcome.solution is Solution.INFEASIBLE


# Bodies for a program that the solver could not solve within its tolerances.
#
# Three candidates are compared: the last iterate of the solver, which can be anything from nearly optimal to useless;
# the reference bodies; and a point between reference and target. For the last one, the target is moved onto its linear
# constraints. The links then move from the reference towards it on a straight line, all together, as long as they are
# bodies; drives have the values of the target.


# Bisections of the line from the reference to the target. Fixed by: the number of digits of a double.
BISECTIONS = 50
# Largest violation of a linear constraint, relative to its terms, that counts as rounding. Chosen on: rule of thumb.
MAX_VIOLATION = 1e-9


def choose_nearer_bodies(program: BodyProgram, iterate: PerParameter) -> tuple[PerParameter, float]:
    """Return the nearest to the target of the three candidates, and its distance.

    ``iterate``: the parameters of the solver, made consistent. If no candidate satisfies all linear constraints, the
    one that violates them least is returned.
    """
    candidates = [iterate, find_bodies_on_line(program), _make_reference_bodies(program)]
    ranks = [
        (max(compute_violation(program, theta), MAX_VIOLATION), measure_distance(program, theta))
        for theta in candidates
    ]
    best = min(range(len(candidates)), key=ranks.__getitem__)
    return candidates[best], ranks[best][1]


def find_bodies_on_line(program: BodyProgram) -> PerParameter:
    """Return the last consistent point on the line from the reference to the target; see the module docstring."""
    end = satisfy_linear_constraints(program, program.center)
    start = end.copy()
    for ten in program.indices.values():
        start[ten] = np.where(program.free[ten], program.reference.theta[ten], end[ten])
    start, _ = repair_bodies(program, satisfy_linear_constraints(program, start))

    def is_consistent(theta: PerParameter) -> bool:
        margins = (
            program.scales[link].compute_smallest_eigenvalue(theta[ten]) for link, ten in program.indices.items()
        )
        return min(margins, default=np.inf) >= program.margin

    inside, outside = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (inside + outside)
        if is_consistent(start + middle * (end - start)):
            inside = middle
        else:
            outside = middle
    return np.asarray(start + inside * (end - start))


def _make_reference_bodies(program: BodyProgram) -> PerParameter:
    theta = program.center.copy()
    theta[program.free] = program.reference.theta[program.free]
    return repair_bodies(program, satisfy_linear_constraints(program, theta))[0]


def measure_distance(program: BodyProgram, theta: PerParameter) -> float:
    """Return ½ (theta - target)ᵀ H (theta - target) of any parameters; fixed parameters do not count."""
    v = np.linalg.solve(program.W[program.free], (theta - program.center)[program.free])
    return program.compute_distance(v)


# Exact consistency of a solution that an interior-point method computed within its tolerances.


# Smallest eigenvalue of X relative to the margin that the tolerance of the solver may leave. Chosen on: rule of
# thumb.
MIN_RELATIVE_MARGIN = 0.5
# Largest number of projections onto linear rows in turn. Chosen on: rule of thumb.
MAX_SWEEPS = 20
# Error of a linear row relative to its terms, at which the sweeps end. Fixed by: the number of digits of a double.
MAX_RELATIVE_ERROR = 1e-15


def satisfy_linear_constraints(program: BodyProgram, theta: PerParameter) -> PerParameter:
    """Remove the violations of linear constraints that the solver leaves, by projections onto their half-spaces.

    A projection changes only the parameters of its row, in proportion to their units. Bounds of single parameters are
    met exactly.
    """
    theta = theta.copy()
    rows = [(row, lower) for group in program.groups for row, lower in zip(group.rows, group.lower, strict=True)]
    for _ in range(MAX_SWEEPS):
        violated = False
        for row, lower in rows:
            weights = program.units**2 * row
            violation = lower - row @ theta
            if violation > MAX_RELATIVE_ERROR * (abs(row) @ abs(theta)) and weights.any():
                theta += violation / (row @ weights) * weights
                violated = True
        if not violated:
            break
    for row, lower in rows:
        (places,) = np.nonzero(row)
        if len(places) == 1 and program.free[places[0]] and row[places[0]] * theta[places[0]] < lower:
            theta[places[0]] = lower / row[places[0]] + 0.0  # not -0.0
    return theta


def repair_bodies(program: BodyProgram, theta: PerParameter) -> tuple[PerParameter, tuple[str, ...]]:
    """Move links that are outside their cone towards the reference; return the parameters and the links moved.

    Along this line, the smallest eigenvalue of X grows in proportion to the step, since X is 1 at the reference.
    """
    repaired, enough = [], MIN_RELATIVE_MARGIN * program.margin
    for link, ten in program.indices.items():
        scale = program.scales[link]
        smallest = scale.compute_smallest_eigenvalue(theta[ten])
        if smallest >= enough:
            continue
        step = (enough - smallest) / (1.0 - smallest)
        change = np.where(program.free[ten], program.reference.theta[ten] - theta[ten], 0.0)
        theta = theta.copy()
        theta[ten] += step * change
        if not scale.compute_smallest_eigenvalue(theta[ten]) > 0.0:
            raise InputError(
                f"the solver found no body for link {link!r} of robot {program.robot.name!r}, of which some parameters "
                "are fixed; let all ten parameters of the link be free"
            )
        repaired.append(link)
    return theta, tuple(repaired)


def compute_violation(program: BodyProgram, theta: PerParameter) -> float:
    """Return the largest violation of a linear constraint, relative to its terms; 0 if all hold."""
    worst = 0.0
    for group in program.groups:
        terms = abs(group.rows) @ abs(theta) + abs(group.lower)
        violations = group.lower - group.rows @ theta
        worst = max(worst, float((violations / np.maximum(terms, np.finfo(float).tiny)).max(initial=0.0)))
    return worst
