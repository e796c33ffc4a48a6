"""Mass matrix by composite rigid bodies, and accelerations by a factorisation that follows the tree.

Identity      M = M(q, theta) with kinetic energy ½ qdᵀ M qd; qdd = M⁻¹ (tau - bias)
Reference     Featherstone, Rigid Body Dynamics Algorithms (2008), tables 6.2 and 6.3, in the ten parameters
Accepts       trees of revolute and prismatic joints with any axis; loads
Notation      code      meaning                                                              shape
              m, h, I   mass, first moment and inertia of a body and all it carries, in its frame
              f, n      force and moment about a frame origin that accelerate a joint at rest by one
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ytheta.dynamics.formulations.newton_euler import PER_LINK, along, inertia_matrix, joint_point, pose
from ytheta.dynamics.mechanism import Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, cross, dot, skew, zeros
from ytheta.shapes import AnyJointsByJoint, Shaped

Composite = tuple[Any, np.ndarray, np.ndarray]


def mass_matrix(mechanism: Mechanism, motion: Motion, theta: Shaped[np.ndarray, "params"]) -> AnyJointsByJoint:
    """The joint-space mass matrix of the links."""
    places = [pose(body, motion) for body in mechanism.bodies]
    composites = [_single(theta[PER_LINK * i : PER_LINK * (i + 1)]) for i in range(len(mechanism.bodies))]
    M = zeros(mechanism.joints, mechanism.joints)
    for i in reversed(range(len(mechanism.bodies))):
        body = mechanism.bodies[i]
        if body.joint is not None:
            _column(mechanism, places, i, composites[i], M)
        if body.parent is not None:
            composites[body.parent] = _joined(composites[body.parent], _carried(composites[i], *places[i]))
    return M


def solve(mechanism: Mechanism, M: AnyJointsByJoint, b: Shaped[np.ndarray, "joints"]) -> Shaped[np.ndarray, "joints"]:
    """x with M x = b, by M = Lᵀ D L from the tips inwards: where M is zero because of branches, L is too."""
    return _solved(M, b, _joint_parents(mechanism))


def solve_dense(M: AnyJointsByJoint, b: Shaped[np.ndarray, "joints"]) -> Shaped[np.ndarray, "joints"]:
    """The same where couplings have filled the zeros that branches left: every row may meet every other."""
    return _solved(M, b, [k - 1 if k else None for k in range(len(b))])


def _solved(M: AnyJointsByJoint, b: np.ndarray, above: list[int | None]) -> np.ndarray:
    L, D, x = M.copy(), zeros(len(b)), b.copy()
    for k in reversed(range(len(b))):
        D[k] = L[k, k]
        i = above[k]
        while i is not None:
            factor = L[k, i] / D[k]
            j: int | None = i
            while j is not None:
                L[i, j] = L[i, j] - factor * L[k, j]
                j = above[j]
            x[i] = x[i] - factor * x[k]
            L[k, i] = factor
            i = above[i]
    for k in range(len(b)):
        x[k] = x[k] / D[k]
        i = above[k]
        while i is not None:
            x[k] = x[k] - L[k, i] * x[i]
            i = above[i]
    return x


def _joint_parents(mechanism: Mechanism) -> list[int | None]:
    """For every joint the next movable joint towards the base."""
    above: list[int | None] = [None] * mechanism.joints
    for i, body in enumerate(mechanism.bodies):
        if body.joint is not None:
            movable = [mechanism.bodies[k].joint for k in mechanism.path(i)[:-1]]
            above[body.joint] = next((joint for joint in reversed(movable) if joint is not None), None)
    return above


def _single(theta: Shaped[np.ndarray, "10"]) -> Composite:
    return theta[0], array(list(theta[1:4])), inertia_matrix(theta)


def _joined(one: Composite, other: Composite) -> Composite:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _carried(composite: Composite, R: np.ndarray, p: np.ndarray) -> Composite:
    """A composite body in its parent's frame."""
    m, h, inertia = composite
    turned = dot(R, h)
    # The parallel-axis rule for a body whose first moment is not zero: with c = h/m no division by m is needed.
    shifted = dot(skew(p), skew(turned))
    lever = dot(skew(p), skew(p)) * array([m])
    return m, turned + p * array([m]), dot(dot(R, inertia), R.T) - shifted - shifted.T - lever


def _column(mechanism: Mechanism, places: list[Any], i: int, composite: Composite, M: AnyJointsByJoint) -> None:
    """The forces that accelerate joint i by one, projected on it and on all joints towards the base."""
    body = mechanism.bodies[i]
    assert body.joint is not None
    m, h, inertia = composite
    z = along(body)
    if body.revolute:
        # The joint turns about its own axis, which need not pass through the frame origin.
        origin = cross(joint_point(body), z)
        f = cross(z, h) + origin * array([m])
        n = dot(inertia, z) + cross(h, origin)
    else:
        f = z * array([m])
        n = cross(h, z)
    at: int | None = i
    while at is not None:
        on = mechanism.bodies[at]
        if on.joint is not None:
            axis = along(on)
            lever = n - cross(joint_point(on), f) if on.revolute else f
            M[on.joint, body.joint] = M[body.joint, on.joint] = dot(axis[None], lever)[0]
        R, p = places[at]
        f = dot(R, f)
        n = dot(R, n) + cross(p, f)
        at = on.parent
