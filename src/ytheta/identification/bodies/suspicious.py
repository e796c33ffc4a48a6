"""Links at which a description lacks something: where physical consistency costs most.

If the nearest bodies are far from the estimate, some link has to carry what the description lacks, such as a load or a
counterbalance. Its constraints are dropped and the bodies of all other links are computed again; the reduction of the
distance is the cost of this link. Only links at the boundary of the cone of bodies, or at a bound of their own, have a
cost: without a constraint that holds strictly, the solution of a convex program stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from ytheta.identification.bodies.nearest import NearestBodies, solve_body_program
from ytheta.identification.bodies.program import BodyProgram


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


def find_suspicious_links(program: BodyProgram, nearest: NearestBodies) -> tuple[SuspiciousLink, ...]:
    """Return the links whose constraints cost distance, the most expensive first.

    ``nearest`` is the solution of ``program``, see ``prepare_body_program``. The costs of several links do not add up to
    the distance: neighbours can carry the same deviation.
    """
    bounds = set(nearest.active_bounds)
    links = [*nearest.active_links, *(c.link for c in program.constraints if c.link is not None and c.label in bounds)]
    costs = []
    for link in dict.fromkeys(links):
        cost = nearest.distance - solve_body_program(program.without_link(link)).distance
        costs.append(
            SuspiciousLink(link, max(cost, 0.0), max(cost, 0.0) / nearest.distance if nearest.distance else 0.0)
        )
    return tuple(sorted(costs, key=lambda each: -each.cost))
