"""Mass matrix, Coriolis matrix, gravity, momentum, energies and forward dynamics of the links of a mechanism.

Identity      tau = M(q) qdd + C(q, qd) qd + g(q), for scalars of any type
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ytheta.dynamics.formulations.newton_euler import (
    BASE_FORCE,
    BASE_MOMENT,
    inertia_matrix,
    inverse_dynamics,
    joint_axis,
    joint_origin,
    pose,
)
from ytheta.dynamics.mechanism import PER_LINK, Mechanism, Motion
from ytheta.dynamics.vectors import array, cross, dot, skew, zeros
from ytheta.shapes import AnyJointsByJoint, AnyPerJoint, AnyPerParameter, Shaped


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
    return dot(mass_matrix(mechanism, motion, theta), motion.qd)


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
    M = mass_matrix(mechanism, motion, theta)
    return solve(mechanism, M, tau - bias(mechanism, motion, theta))


def _make_unit_vector(size: int, k: int) -> np.ndarray:
    unit = zeros(size)
    unit[k] = 1
    return unit


# Mass matrix by composite rigid bodies, and accelerations by a factorization that follows the tree.
#
# Identity      M = M(q, theta) with kinetic energy ½ qdᵀ M qd; qdd = M⁻¹ (tau - bias)
# Reference     Featherstone, Rigid Body Dynamics Algorithms (2008), tables 6.2 and 6.3, with the ten parameters of a
#               link
# Accepts       trees of revolute and prismatic joints with any axis; loads; floating bases
# Notation      code      meaning                                                              shape
#               m, h, I   mass, first moment and inertia of a body and all bodies behind it, in the body's frame
#               f, n      force, and moment about a frame origin, that give one joint at rest a unit acceleration


Composite = tuple[Any, np.ndarray, np.ndarray]
BASE_SIZE = BASE_MOMENT.stop  # number of coordinates of a floating base


def mass_matrix(mechanism: Mechanism, motion: Motion, theta: Shaped[np.ndarray, " params"]) -> AnyJointsByJoint:
    """The joint-space mass matrix of the links."""
    poses = [pose(body, motion) for body in mechanism.bodies]
    composites = [_make_composite(theta[PER_LINK * i : PER_LINK * (i + 1)]) for i in range(len(mechanism.bodies))]
    M = zeros(mechanism.joints, mechanism.joints)
    for i in reversed(range(len(mechanism.bodies))):
        body = mechanism.bodies[i]
        if body.free:
            _fill_base_block(composites[i], M)
        elif body.joint is not None:
            _fill_column(mechanism, poses, i, composites[i], M)
        if body.parent is not None:
            composite = _transform_to_parent(composites[i], *poses[i])
            composites[body.parent] = _add_composites(composites[body.parent], composite)
    return M


def solve(mechanism: Mechanism, M: AnyJointsByJoint, b: Shaped[np.ndarray, " joints"]) -> Shaped[np.ndarray, " joints"]:
    """Solve M x = b with M = Lᵀ D L, factorized from the tips inward. Where M is zero between branches, so is L."""
    return _solve(M, b, _find_joint_parents(mechanism))


def solve_dense(M: AnyJointsByJoint, b: Shaped[np.ndarray, " joints"]) -> Shaped[np.ndarray, " joints"]:
    """Solve M x = b for a dense M, which results from couplings and loops."""
    return _solve(M, b, [k - 1 if k else None for k in range(len(b))])


def _solve(M: AnyJointsByJoint, b: np.ndarray, parents: list[int | None]) -> np.ndarray:
    """Factorize M and substitute. Row k of L has entries only in the columns of joint k and of its ancestors."""
    L, D, x = M.copy(), zeros(len(b)), b.copy()
    for k in reversed(range(len(b))):
        D[k] = L[k, k]
        i = parents[k]
        while i is not None:
            factor = L[k, i] / D[k]
            j: int | None = i
            while j is not None:
                L[i, j] = L[i, j] - factor * L[k, j]
                j = parents[j]
            x[i] = x[i] - factor * x[k]
            L[k, i] = factor
            i = parents[i]
    for k in range(len(b)):
        x[k] = x[k] / D[k]
        i = parents[k]
        while i is not None:
            x[k] = x[k] - L[k, i] * x[i]
            i = parents[i]
    return x


def _find_joint_parents(mechanism: Mechanism) -> list[int | None]:
    """For every joint, the next movable joint towards the base, or None; a floating base is a chain of six joints."""
    parents: list[int | None] = [None] * mechanism.joints
    for i, body in enumerate(mechanism.bodies):
        if body.free:
            parents[1:BASE_SIZE] = range(BASE_SIZE - 1)
        if body.joint is not None:
            above = (mechanism.bodies[k] for k in mechanism.path(i)[:-1])
            joints = [BASE_SIZE - 1 if each.free else each.joint for each in above]
            parents[body.joint] = next((joint for joint in reversed(joints) if joint is not None), None)
    return parents


def _make_composite(theta: Shaped[np.ndarray, "10"]) -> Composite:
    return theta[0], array(list(theta[1:4])), inertia_matrix(theta)


def _add_composites(a: Composite, b: Composite) -> Composite:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _transform_to_parent(composite: Composite, R: np.ndarray, p: np.ndarray) -> Composite:
    """Express a composite body in the frame of its parent."""
    m, h, inertia = composite
    Rh = dot(R, h)
    # The parallel-axis rule in terms of the first moment needs no division by m.
    product = dot(skew(p), skew(Rh))
    shift = dot(skew(p), skew(p)) * array([m])
    return m, Rh + p * array([m]), dot(dot(R, inertia), R.T) - product - product.T - shift


def _fill_base_block(composite: Composite, M: AnyJointsByJoint) -> None:
    """Compute the entries of M for a floating base: the inertia of the whole robot in the frame of the base."""
    m, h, inertia = composite
    for k in range(3):
        M[k, k] = m
    coupling = skew(h)
    M[BASE_MOMENT, BASE_FORCE], M[BASE_FORCE, BASE_MOMENT] = coupling, -coupling
    M[BASE_MOMENT, BASE_MOMENT] = inertia


def _fill_column(mechanism: Mechanism, poses: list[Any], i: int, composite: Composite, M: AnyJointsByJoint) -> None:
    """Compute the entries of M for the joint of body i and all joints towards the base.

    The entries are the components, along the axes of these joints, of the force or moment for a unit acceleration of
    joint i.
    """
    body = mechanism.bodies[i]
    assert body.joint is not None
    m, h, inertia = composite
    z = joint_axis(body)
    if body.revolute:
        # The axis of the joint need not pass through the frame origin.
        origin = cross(joint_origin(body), z)
        f = cross(z, h) + origin * array([m])
        n = dot(inertia, z) + cross(h, origin)
    else:
        f = z * array([m])
        n = cross(h, z)
    current: int | None = i
    while current is not None:
        ancestor = mechanism.bodies[current]
        if ancestor.free:
            M[BASE_FORCE, body.joint] = M[body.joint, BASE_FORCE] = f
            M[BASE_MOMENT, body.joint] = M[body.joint, BASE_MOMENT] = n
        elif ancestor.joint is not None:
            moment_or_force = n - cross(joint_origin(ancestor), f) if ancestor.revolute else f
            entry = dot(joint_axis(ancestor)[None], moment_or_force)[0]
            M[ancestor.joint, body.joint] = M[body.joint, ancestor.joint] = entry
        R, p = poses[current]
        f = dot(R, f)
        n = dot(R, n) + cross(p, f)
        current = ancestor.parent
