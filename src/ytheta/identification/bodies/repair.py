"""Exact consistency of a solution that an interior-point method computed within its tolerances."""

from __future__ import annotations

import numpy as np

from ytheta.errors import InputError
from ytheta.identification.bodies.program import BodyProgram
from ytheta.shapes import PerParameter

# Smallest eigenvalue of X relative to the margin that the tolerance of the solver may leave.
MIN_RELATIVE_MARGIN = 0.5
MAX_SWEEPS = 20
MAX_RELATIVE_ERROR = 1e-15  # of a linear row, relative to its terms


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
