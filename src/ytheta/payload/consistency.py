"""The physically consistent payload nearest to an estimate, in the metric of its covariance.

Identity      minimize ½ (theta - theta_hat)ᵀ cov⁻¹ (theta - theta_hat)   subject to   P(theta) >= margin P0
Reference     P. M. Wensing, S. Kim and J.-J. E. Slotine, Linear Matrix Inequalities for Physically Consistent Inertial
              Parameter Identification, IEEE Robotics and Automation Letters 3(1), 2018
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.identification.bodies.nearest import MARGIN
from ytheta.identification.bodies.pseudo_inertia import SIZE, LinkScale, to_svec
from ytheta.identification.bodies.solver import Cone, Solution, solve_cone_program
from ytheta.payload.posterior import Posterior
from ytheta.robot.inertia import Inertia, Ten


@dataclass(frozen=True, eq=False)
class ConsistentPayload:
    """A payload that can exist.

    Attributes
    ----------
    inertia   its ten parameters
    distance  how far it is from the estimate, in standard deviations; 0 if the estimate can exist
    """

    inertia: Inertia
    distance: float


def find_consistent_payload(posterior: Posterior) -> ConsistentPayload | None:
    """Return the payload nearest to an estimate that can exist; None if there is none, as with a negative mass."""
    theta, scale = posterior.theta, LinkScale.of(posterior.prior.reference)
    if not theta[0] > 0.0:
        return None
    if scale.compute_smallest_eigenvalue(theta) >= MARGIN:
        return ConsistentPayload(_to_inertia(theta), 0.0)
    units = np.sqrt(np.diag(posterior.theta_covariance))
    units[units == 0.0] = 1.0
    values, vectors = np.linalg.eigh(posterior.theta_covariance / np.outer(units, units))
    B = units[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))
    B = B[:, values > np.finfo(float).eps * values[-1]]
    cone = Cone(scale.to_scaled @ B, scale.to_scaled @ theta - MARGIN * to_svec(np.eye(SIZE)), is_matrix=True)
    outcome = solve_cone_program([cone])
    if outcome.solution is Solution.INFEASIBLE or not np.isfinite(outcome.v).all():
        return None
    return ConsistentPayload(_to_inertia(theta + B @ outcome.v), float(np.linalg.norm(outcome.v)))


def _to_inertia(theta: Ten) -> Inertia:
    return Inertia(tuple(float(value) for value in theta))
