"""Gravity, Coriolis matrix, momentum, energies and forward dynamics of the links of a mechanism, for any scalar type.

Identity      tau = M(q) qdd + C(q, qd) qd + g(q)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ytheta.dynamics.formulations.newton_euler import inverse_dynamics, pose
from ytheta.dynamics.links import composite_body
from ytheta.dynamics.mechanism import PER_LINK, Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, dot, zeros
from ytheta.shapes import AnyJointsByJoint, AnyPerJoint, AnyPerParameter


def gravity(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> AnyPerJoint:
    """The torque that holds the arm at rest."""
    return inverse_dynamics(mechanism, motion.at_rest, theta)


def bias(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> AnyPerJoint:
    """The torque at zero acceleration, C(q, qd) v + g."""
    return inverse_dynamics(mechanism, replace(motion, vd=zeros(mechanism.joints)), theta)


def coriolis_matrix(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> AnyJointsByJoint:
    """C(q, qd) of Christoffel symbols. Column k is the bias without gravity for the k-th unit vector as v."""
    weightless = replace(mechanism, gravity=zeros(3))
    C = zeros(mechanism.joints, mechanism.joints)
    for k in range(mechanism.joints):
        C[:, k] = bias(weightless, replace(motion, v=_make_unit_vector(mechanism.joints, k)), theta)
    return C


def momentum(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> AnyPerJoint:
    """The generalized momentum M qd."""
    return dot(composite_body.mass_matrix(mechanism, motion, theta), motion.qd)


def kinetic_energy(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> Any:
    return dot(motion.qd[None], momentum(mechanism, motion, theta))[0] * 0.5


def potential_energy(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter) -> Any:
    """The sum of -m gᵀ c of all links, where c is the centre of mass in the base frame."""
    poses: list[tuple[np.ndarray, np.ndarray]] = []
    energy: Any = 0
    for i, body in enumerate(mechanism.bodies):
        R, p = pose(body, motion)
        if body.parent is not None:
            parent_R, parent_p = poses[body.parent]
            R, p = dot(parent_R, R), parent_p + dot(parent_R, p)
        poses.append((R, p))
        m, *first_moment = theta[PER_LINK * i : PER_LINK * i + 4]
        moment = p * array([m]) + dot(R, array(first_moment))
        energy = energy - dot(mechanism.gravity[None], moment)[0]
    return energy


def forward_dynamics(mechanism: Mechanism, motion: Motion, theta: AnyPerParameter, tau: AnyPerJoint) -> AnyPerJoint:
    """qdd from tau, by composite bodies and a factorization that follows the tree."""
    M = composite_body.mass_matrix(mechanism, motion, theta)
    return composite_body.solve(mechanism, M, tau - bias(mechanism, motion, theta))


def _make_unit_vector(size: int, k: int) -> np.ndarray:
    unit = zeros(size)
    unit[k] = 1
    return unit
