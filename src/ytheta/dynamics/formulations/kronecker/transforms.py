"""Homogeneous transforms of the bodies of a tree, differentiated as matrices by the product rule.

Identity      T_l = T_p A_l for a body l with parent p. Hence U_jl = U_jp A_l and U_kjl = U_kjp A_l for joints before
              body l, and U_ll = T_p A_l', U_jll = U_jp A_l' and U_lll = T_p A_l'' for its own joint
Reference     [fernandez2000] (5)-(9), where U_jl and U_kjl are taken from the Lagrange–Euler formulation
Notation      code   paper    meaning                                                                    shape
              A      -        transform from body l to its parent: A = P M(q) S, see ``mechanism``       4 x 4
              Q      -        generator of the joint: M' = Q M, hence M = exp(q Q)                       4 x 4
              T      T_l      transform from body l to the base                                          4 x 4
              U      U_jl     ∂T_l/∂q_j, for the joints j on the path to body l                          4 x 4
              UU     U_kjl    ∂²T_l/∂q_k ∂q_j, for k before j on the path, or k = j                      4 x 4

These kinematics share no code with those of the other formulations (``pose`` in ``newton_euler`` and ``jacobians``),
so that a comparison of regressors compares two kinematics. Both read the mechanism and the sines and cosines of the
motion. No vector of an axis, no cross product and no angular velocity appears here: a revolute joint has Q³ = -Q,
hence exp(q Q) = 1 + sin(q) Q + (1 - cos(q)) Q²; a prismatic joint has Q² = 0, hence exp(q Q) = 1 + q Q.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.dynamics.formulations.kronecker.operators import combine
from ytheta.dynamics.mechanism import Body, Mechanism, exact_array
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import dot, zeros
from ytheta.shapes import AnyMatrix4, Shaped


@dataclass(frozen=True, eq=False)
class Transform:
    """T, U and UU of one body, in the notation above. U is keyed by j, UU by (k, j)."""

    T: AnyMatrix4
    U: dict[int, np.ndarray]
    UU: dict[tuple[int, int], np.ndarray]


def compute_transforms(mechanism: Mechanism, motion: Motion) -> list[Transform]:
    """Compute the transforms of all bodies with their first and second derivatives."""
    base = Transform(exact_array(np.eye(4)), {}, {})
    transforms: list[Transform] = []
    for body in mechanism.bodies:
        parent = base if body.parent is None else transforms[body.parent]
        A, dA, ddA = differentiate_joint_transform(body, motion)
        U = {j: dot(matrix, A) for j, matrix in parent.U.items()}
        UU = {pair: dot(matrix, A) for pair, matrix in parent.UU.items()}
        if body.joint is not None:
            UU |= {(j, body.joint): dot(matrix, dA) for j, matrix in parent.U.items()}
            UU[body.joint, body.joint] = dot(parent.T, ddA)
            U[body.joint] = dot(parent.T, dA)
        transforms.append(Transform(dot(parent.T, A), U, UU))
    return transforms


def differentiate_joint_transform(body: Body, motion: Motion) -> tuple[AnyMatrix4, AnyMatrix4, AnyMatrix4]:
    """A, A' and A'' of a body: its transform to the parent, differentiated by the position of its joint."""
    P, S = make_homogeneous(body.P, body.p), make_homogeneous(body.S, body.s)
    fixed = dot(P, S)
    if body.joint is None:
        return fixed, zeros(4, 4), zeros(4, 4)
    Q = make_generator(body)
    PQS, PQQS = (exact_array(dot(dot(P, X), S)) for X in (Q, dot(Q, Q)))
    if body.prismatic:
        return combine((fixed, PQS), (1, motion.q[body.joint])), PQS, zeros(4, 4)
    c, s = motion.cos[body.joint], motion.sin[body.joint]
    A = combine((exact_array(fixed + PQQS), PQS, -PQQS), (1, s, c))
    return A, combine((PQS, PQQS), (c, s)), combine((-PQS, PQQS), (s, c))


def make_generator(body: Body) -> AnyMatrix4:
    """Q of a joint: the derivative of its homogeneous transform at q = 0, from the type and the axis of the joint."""
    x, y, z = body.axis
    Q = zeros(4, 4)
    if body.revolute:
        Q[0, 1], Q[0, 2], Q[1, 2] = -z, y, -x
        Q[1, 0], Q[2, 0], Q[2, 1] = z, -y, x
    else:
        Q[:3, 3] = x, y, z
    return Q


def make_homogeneous(R: Shaped[np.ndarray, "3 3"], p: Shaped[np.ndarray, "3"]) -> AnyMatrix4:
    """The 4 x 4 matrix of a rotation and a position."""
    result = zeros(4, 4)
    result[:3, :3] = R
    result[:3, 3] = p
    result[3, 3] = 1
    return result
