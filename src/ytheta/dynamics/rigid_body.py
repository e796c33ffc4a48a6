"""Everything that follows from M, C and g of the links: on a mechanism, for any scalar, in joint positions.

Identity      tau = M(q) qdd + C(q, qd) qd + g(q)
Reference     [lu1993] sec. V, "Evaluation of qdd in simulations", steps 1-4, for ``forward_dynamics_by_steps``
Differs from  the paper in: steps 1-3 take inverse dynamics instead of Y theta, which is the same number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ytheta.dynamics import composite_body
from ytheta.dynamics.formulations.newton_euler import PER_LINK, inverse_dynamics, pose
from ytheta.dynamics.mechanism import Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.shapes import AnyJointsByJoint, AnyPerJoint, AnyPerParameter


def gravity(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> AnyPerJoint:
    """The torque that holds the arm at rest."""
    return inverse_dynamics(mechanism, motion.at_rest, theta)


def bias(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> AnyPerJoint:
    """C(q, qd) v + g: the torque without acceleration."""
    return inverse_dynamics(mechanism, replace(motion, vd=zeros(mechanism.joints)), theta)


def coriolis_matrix(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> AnyJointsByJoint:
    """C(q, qd) of Christoffel symbols: its columns are the bias for unit vectors v, without gravity."""
    weightless = replace(mechanism, gravity=zeros(3))
    C = zeros(mechanism.joints, mechanism.joints)
    for k in range(mechanism.joints):
        C[:, k] = bias(weightless, replace(motion, v=_unit(mechanism.joints, k)), theta)
    return C


def momentum(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> AnyPerJoint:
    """The generalised momentum M qd."""
    return dot(composite_body.mass_matrix(mechanism, motion, theta), motion.qd)


def kinetic_energy(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> Any:
    return dot(motion.qd[None], momentum(mechanism, motion, theta))[0] * 0.5


def potential_energy(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> Any:
    """-sum of m gᵀ c over all links, zero for a mass in the base origin."""
    places: list[tuple[np.ndarray, np.ndarray]] = []
    energy: Any = 0
    for i, body in enumerate(mechanism.bodies):
        R, p = pose(body, motion)
        if body.parent is not None:
            above_R, above_p = places[body.parent]
            R, p = dot(above_R, R), above_p + dot(above_R, p)
        places.append((R, p))
        own = theta[PER_LINK * i : PER_LINK * (i + 1)]
        moment = p * array([own[0]]) + dot(R, array(list(own[1:4])))
        energy = energy - dot(mechanism.gravity[None], moment)[0]
    return energy


def forward_dynamics(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter, tau: AnyPerJoint) -> AnyPerJoint:
    """qdd from tau, by composite bodies and the factorisation that follows the tree."""
    M = composite_body.mass_matrix(mechanism, motion, theta)
    return composite_body.solve(mechanism, M, tau - bias(mechanism, motion, theta))


def forward_dynamics_by_steps(
    mechanism: Mechanism, motion: Motion, theta: AnyPerParameter, tau: AnyPerJoint
) -> AnyPerJoint:
    """qdd from tau by the paper's four steps: n + 1 inverse dynamics make M, whatever the tree."""
    start = bias(mechanism, motion, theta)  # step 1
    M = zeros(mechanism.joints, mechanism.joints)
    for k in range(mechanism.joints):
        pushed = replace(motion, vd=_unit(mechanism.joints, k))
        M[:, k] = inverse_dynamics(mechanism, pushed, theta) - start  # steps 2 and 3
    return composite_body.solve(mechanism, M, tau - start)  # step 4


def _unit(size: int, k: int) -> np.ndarray:
    unit = zeros(size)
    unit[k] = 1
    return unit
