"""Bodies for a program that the solver could not solve within its tolerances.

Three candidates are compared: the last iterate of the solver, which can be anything from nearly optimal to useless; the
reference bodies; and a point between reference and target. For the last one, the target is moved onto its linear
constraints. The links then move from the reference towards it on a straight line, all together, as long as they are
bodies; drives have the values of the target.
"""

from __future__ import annotations

import numpy as np

from ytheta.identification.bodies.program import BodyProgram
from ytheta.identification.bodies.repair import compute_violation, repair_bodies, satisfy_linear_constraints
from ytheta.shapes import PerParameter

BISECTIONS = 50  # of the line from the reference to the target
MAX_VIOLATION = 1e-9  # of a linear constraint, relative to its terms


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
