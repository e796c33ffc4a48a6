"""Links at which a description lacks something: where physical consistency costs most.

If the nearest bodies are far from the estimate, some link has to carry what the description lacks, such as a load or a
counterbalance. The constraints on a link are dropped and the nearest bodies of all other links are computed again; the
reduction of the distance is the cost of this link. Only constraints that hold with equality have a cost. Links are
tried in the order of the forces of their constraints, which the solver returns with the solution.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ytheta.engine.local import limit_blas_threads
from ytheta.identification.bodies.nearest import NearestBodies
from ytheta.identification.bodies.program import BodyProgram
from ytheta.identification.bodies.solver import Solution

MAX_LINKS = 6  # for which bodies are computed again
MIN_SHARE = 1e-6  # of the distance; smaller costs are within the tolerance of the solver


@dataclass(frozen=True)
class SuspiciousLink:
    """A link whose constraints keep the bodies away from the estimate.

    Attributes
    ----------
    link   name of the link
    cost   reduction of the distance if the constraints on this link are dropped
    share  cost divided by the whole distance
    """

    link: str
    cost: float
    share: float


@limit_blas_threads()
def find_suspicious_links(
    program: BodyProgram, nearest: NearestBodies, *, max_links: int = MAX_LINKS
) -> tuple[SuspiciousLink, ...]:
    """Return the links whose constraints cost distance, the most expensive first.

    ``nearest`` is the solution of ``program``, see ``prepare_body_program``. The costs of several links do not add up
    to the distance: neighbours can carry the same deviation.
    """
    if not nearest.distance > 0.0:
        return ()
    labels: dict[str, set[str]] = {}
    for constraint in program.constraints:
        if constraint.link is not None:
            labels.setdefault(constraint.link, set()).add(constraint.label)
    forces = {link: max(nearest.forces.get(label, 0.0) for label in of_link) for link, of_link in labels.items()}
    links = [link for link in sorted(forces, key=lambda link: -forces[link]) if forces[link] > 0.0][:max_links]
    costs = [(link, compute_cost(program, nearest, labels[link])) for link in links]
    return tuple(
        SuspiciousLink(link, cost, cost / nearest.distance)
        for link, cost in sorted(costs, key=lambda pair: -pair[1])
        if cost > MIN_SHARE * nearest.distance
    )


@limit_blas_threads()
def compute_cost(program: BodyProgram, nearest: NearestBodies, labels: Collection[str]) -> float:
    """Return by how much the distance is reduced if the constraints of these labels are dropped, at least 0."""
    fewer = program.without(labels)
    if not fewer.constraints:
        return nearest.distance
    outcome = fewer.solve()
    if outcome.solution is Solution.INFEASIBLE:  # cannot be, since the bodies satisfy all constraints
        return 0.0
    return max(nearest.distance - fewer.compute_distance(outcome.v), 0.0)
