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
from ytheta.identification.bodies.bounds import BodyBounds, Inequalities
from ytheta.identification.bodies.contradiction import explain_contradiction, explain_fixed_parameters
from ytheta.identification.bodies.inexact import choose_nearer_bodies
from ytheta.identification.bodies.program import BodyProgram, build_program
from ytheta.identification.bodies.reference import PlausibleReference
from ytheta.identification.bodies.repair import compute_violation, repair_bodies, satisfy_linear_constraints
from ytheta.identification.bodies.solver import Solution
from ytheta.robot.parameters import check_parameter_names
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, ParamsByParam, PerParameter, freeze

# Smallest allowed eigenvalue of a pseudo-inertia relative to that of the reference body.
MARGIN = 1e-3
MIN_RELATIVE_FORCE = 1e-5  # of an active constraint, relative to |v|


@dataclass(frozen=True, eq=False)
class NearestBodies:
    """Physically consistent standard parameters nearest to a target.

    Attributes
    ----------
    theta          the standard parameters
    distance       ½ (theta - target)ᵀ H (theta - target)
    active_links   links whose condition to be bodies keeps the bodies away from the target
    active_bounds  labels of bounds and inequalities that keep the bodies away from the target
    forces         by label of each constraint, the norm of its part of v, see ``program``; forces rank constraints, but
                   the cost of a constraint is found by dropping it, see ``suspicious``
    repaired       links that were moved towards the reference, because the solver left them outside their cone
    violation      largest violation of a bound or inequality, relative to its terms; rounding errors, unless links were
                   repaired
    converged      whether the solver reached its tolerances; if not, the bodies are consistent and not farther than the
                   reference, but may not be nearest, see ``inexact``
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
    free: Sequence[str] | Bool[np.ndarray, "params"] | None = None,
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
    free: Sequence[str] | Bool[np.ndarray, "params"] | None = None,
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


def _make_mask(robot: Robot, free: Sequence[str] | np.ndarray | None) -> Bool[np.ndarray, "params"]:
    names = robot.parameter_names
    if free is None:
        return np.ones(len(names), dtype=bool)
    if isinstance(free, np.ndarray):
        return free
    check_parameter_names(robot, free)
    chosen = set(free)
    return np.array([name in chosen for name in names])
