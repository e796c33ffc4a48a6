"""Problems of nearest bodies, and their solution by cvxpy from formulas of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import cvxpy
import numpy as np

import ytheta
from ytheta.conventions import LINK_PARAMETERS
from ytheta.identification.consistency.bounds import BodyBounds, Inequalities
from ytheta.identification.consistency.nearest import MARGIN, NearestBodies, prepare_body_program, solve_body_program
from ytheta.identification.consistency.program import BodyProgram
from ytheta.identification.consistency.reference import PlausibleReference, make_plausible_reference
from ytheta.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class BodyProblem:
    """The arguments of ``find_nearest_bodies``."""

    robot: Robot
    target: np.ndarray
    metric: np.ndarray
    reference: PlausibleReference
    free: np.ndarray
    bounds: BodyBounds
    inequalities: Inequalities
    margin: float = MARGIN

    @property
    def program(self) -> BodyProgram:
        return prepare_body_program(
            self.robot,
            self.target,
            self.metric,
            reference=self.reference,
            free=self.free,
            bounds=self.bounds,
            inequalities=self.inequalities,
            margin=self.margin,
        )

    def solve(self) -> NearestBodies:
        return solve_body_program(self.program)

    def places(self, link: str) -> list[int]:
        """The positions of the ten parameters of a link."""
        return [self.robot.parameter_names.index(f"{link}.{parameter}") for parameter in LINK_PARAMETERS]

    def compute_distance(self, theta: np.ndarray) -> float:
        return 0.5 * float((theta - self.target) @ self.metric @ (theta - self.target))


def compute_moments(theta: Any, places: Sequence[int]) -> list[list[Any]]:
    """The rows of the pseudo-inertia of a link, from the definition of the moments; theta may be a cvxpy variable."""
    m, mx, my, mz, ixx, ixy, iyy, ixz, iyz, izz = (theta[k] for k in places)
    sxx, syy, szz = (iyy + izz - ixx) / 2, (ixx + izz - iyy) / 2, (ixx + iyy - izz) / 2
    return [[sxx, -ixy, -ixz, mx], [-ixy, syy, -iyz, my], [-ixz, -iyz, szz, mz], [mx, my, mz, m]]


def make_pseudo(theta: np.ndarray, places: Sequence[int]) -> np.ndarray:
    return np.array(compute_moments(theta, places), dtype=float)


def make_units(reference: PlausibleReference, robot: Robot) -> np.ndarray:
    """A size for every parameter: mass m, m r and m r² of the link, 1 for drives and forces."""
    sizes = {link: (P[3, 3], np.sqrt(np.trace(P[:3, :3]) / P[3, 3])) for link, P in reference.pseudo.items()}
    exponents = dict(zip(LINK_PARAMETERS, (0, 1, 1, 1, 2, 2, 2, 2, 2, 2), strict=True))
    units = []
    for name in robot.parameter_names:
        owner, _, parameter = name.rpartition(".")
        mass, radius = sizes.get(owner, (1.0, 1.0))
        units.append(mass * radius ** exponents[parameter] if owner in sizes else 1.0)
    return np.array(units)


def draw_problem(robot: Robot, seed: int, *, spread: float = 1.0, error: float = 1.0) -> BodyProblem:
    """A random metric that couples all parameters, and a target that differs from the reference by a relative error.

    The singular values of the metric, relative to the units of the parameters, spread over so many decades.
    """
    rng, robot = np.random.default_rng(seed), robot.numeric
    reference = make_plausible_reference(robot)
    count, units = len(robot.parameter_names), make_units(reference, robot)
    Q, _ = np.linalg.qr(rng.normal(size=(count, count)))
    R = np.diag(np.logspace(0.0, spread, count)) @ Q / units
    target = reference.theta + error * units * rng.normal(size=count)
    free = np.ones(count, dtype=bool)
    drives = [name for name in robot.parameter_names if name.endswith((".Ia", ".fv", ".fc"))]
    inequalities = Inequalities.at_least(robot, dict.fromkeys(drives, 0.0))
    return BodyProblem(robot, target, R.T @ R, reference, free, BodyBounds(), inequalities)


def add_bounds(problem: BodyProblem) -> BodyProblem:
    """The problem with bounds of masses, centres of mass and total mass around the reference, some of them tight."""
    reference, masses = problem.reference, {}
    centers = {}
    for k, (link, P) in enumerate(reference.pseudo.items()):
        mass, center = float(P[3, 3]), P[:3, 3] / P[3, 3]
        masses[link] = (0.8 * mass, 1.1 * mass if k % 2 else np.inf)
        centers[link] = (tuple(center - 0.02), tuple(center + np.array([0.01, 0.02, np.inf])))
    total = float(sum(P[3, 3] for P in reference.pseudo.values()))
    return replace(problem, bounds=BodyBounds(masses, centers, (0.9 * total, 1.05 * total)))


def solve_by_cvxpy(problem: BodyProblem, *, margin: float | None = None, skip: Sequence[str] = ()) -> np.ndarray:
    """The nearest bodies by cvxpy; ``skip`` names links that need not be bodies."""
    margin = problem.margin if margin is None else margin
    units = make_units(problem.reference, problem.robot)
    scaled = problem.metric * np.outer(units, units)
    values, vectors = np.linalg.eigh(scaled)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    x = cvxpy.Variable(len(units))
    theta = problem.target + cvxpy.multiply(units, x)
    constraints = [x[np.flatnonzero(~problem.free)] == 0.0] if not problem.free.all() else []
    index = {name: k for k, name in enumerate(problem.robot.parameter_names)}
    for link, P0 in problem.reference.pseudo.items():
        places = problem.places(link)
        if not problem.free[places].any() or link in skip:
            continue
        D = np.diag(1.0 / np.sqrt(np.diag(P0)))
        constraints.append(D @ (cvxpy.bmat(compute_moments(theta, places)) - margin * P0) @ D >> 0)
    for link, (low, high) in problem.bounds.mass.items():
        mass = theta[index[f"{link}.m"]]
        constraints += [mass >= low] + ([mass <= high] if np.isfinite(high) else [])
    for link, (lower, upper) in problem.bounds.center.items():
        mass = theta[index[f"{link}.m"]]
        for axis, low, high in zip("xyz", lower, upper, strict=True):
            moment = theta[index[f"{link}.m{axis}"]]
            constraints += [moment >= low * mass] + ([moment <= high * mass] if np.isfinite(high) else [])
    if problem.bounds.total_mass is not None:
        total = sum(theta[index[f"{link}.m"]] for link in problem.reference.pseudo)
        low, high = problem.bounds.total_mass
        constraints += [total >= low, total <= high]
    if len(problem.inequalities.labels):
        constraints.append(problem.inequalities.rows @ theta >= problem.inequalities.lower)
    root = root / np.sqrt(0.01 * problem.compute_distance(problem.reference.theta))  # an objective of order 10
    program = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(root @ x)), constraints)
    # Without the coordinates of ``program``, the default tolerances of 1e-8 are at times out of reach.
    program.solve(solver="CLARABEL", tol_gap_abs=1e-7, tol_gap_rel=1e-7, tol_feas=1e-7)
    assert program.status == "optimal"
    return problem.target + units * np.asarray(x.value)


def simulate_regressor(name: str, seed: int, samples: int, *, speed: float = 1.0) -> tuple[Robot, np.ndarray]:
    """A robot of the catalog, and its regressor at random states, with one row for every sample and joint."""
    robot, rng = ytheta.load(name).numeric, np.random.default_rng(seed)
    size = (samples, len(robot.actuated))
    states = rng.uniform(-2.0, 2.0, size), speed * rng.normal(size=size), 2.0 * speed * rng.normal(size=size)
    return robot, ytheta.regressor(robot)(*states).reshape(-1, len(robot.parameter_names))
