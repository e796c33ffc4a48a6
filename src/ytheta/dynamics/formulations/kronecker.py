"""Lagrange–Euler regressor of Fernández, Peñalver, Hernández and Tornero, by Kronecker products.

Identity      tau = Y_tau(q, qd, qdd) @ theta; with two velocities Y_S(q, qd, v, vd) @ theta = M vd + C(q, qd) v + g
Reference     [fernandez2000] secs. 3 and 4, (5)-(25), (33)-(40)
Accepts       trees of revolute and prismatic joints with any axis; loads as links of their own
Notation      code   paper      meaning                                                          shape
              U      U_jl       ∂T_l/∂q_j, see ``compute_transforms``                            4 x 4
              UU     U_kjl      ∂²T_l/∂q_k ∂q_j                                                  4 x 4
              X      -          Σ_j U_jl vd_j + Σ_jk U_kjl qd_j v_k, the second factor of ⊗      4 x 4
              Y16    Y_tau      regressor of all entries of the pseudo-inertias J_l              n x 16 bodies
Differs from  the paper in: the factor qd_j in (40), missing in print; the minus sign of (18), missing in (23); the
              block index of (25) is that of the body; U_jl is zero if joint j is not on the path to body l (trees).
              ⊗ is linear, so (13) and (16), or (36) and (40), are summed before the product, not after; U_kjl = U_jkl
              is computed once. After (25) one more linear step leads from J_l to inertia tensor entries about the
              frame origin.
C(q, qd) is the matrix of Christoffel symbols, since U_kjl = U_jkl.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.mechanism import PER_LINK, Body, Mechanism, Motion, exact_array
from ytheta.dynamics.vectors import array, dot, halve, sum_products, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyMatrix4, Shaped

Sixteen: TypeAlias = Shaped[np.ndarray, "joints entries"]
_Terms: TypeAlias = list[tuple[np.ndarray, Any]]  # matrices and their factors

ENTRIES_PER_BODY = 16


def explain_refusal(robot: Robot) -> str | None:
    """Return None if this formulation accepts the robot, else the reason why not."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops; use spatial_tree"
    if robot.floating or robot.sensor_coordinates:
        part = "a floating base" if robot.floating else "a sensor joint"
        return f"robot {robot.name!r} has {part}, which this formulation does not support; use newton_euler"
    return None


def regressor(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """Y_tau, or Y_S if the motion has a reference velocity: ten columns per body (24), (25)."""
    transforms = compute_transforms(mechanism, motion)
    products = _multiply_velocities(motion)
    terms = [_list_inertial_terms(body, motion) + _list_velocity_terms(body, products) for body in transforms]
    return to_inertia_columns(fold(_trace_rows(mechanism, transforms, terms) + _compute_gravity(mechanism, transforms)))


def inertial_part(mechanism: Mechanism, motion: Motion) -> Sixteen:
    """Y_D of (11), (13), or of (34), (36): D(q) vd = Y_D ν(J)."""
    transforms = compute_transforms(mechanism, motion)
    return _trace_rows(mechanism, transforms, [_list_inertial_terms(body, motion) for body in transforms])


def velocity_part(mechanism: Mechanism, motion: Motion) -> Sixteen:
    """Y_H of (14), (16), or of (38), (40): h(q, qd) v = Y_H ν(J)."""
    transforms, products = compute_transforms(mechanism, motion), _multiply_velocities(motion)
    return _trace_rows(mechanism, transforms, [_list_velocity_terms(body, products) for body in transforms])


def gravity_part(mechanism: Mechanism, motion: Motion) -> Sixteen:
    """Y_c of (18), with its blocks as in (21)-(23): c(q) = Y_c ν(J)."""
    return _compute_gravity(mechanism, compute_transforms(mechanism, motion))


def fold(Y16: Sixteen) -> Shaped[np.ndarray, "joints params"]:
    """16 n → 10 n columns (25): add the columns of equal entries of J; the order is xx xy xz x yy yz y zz z 1."""
    bodies = Y16.shape[1] // ENTRIES_PER_BODY
    Y = zeros(len(Y16), PER_LINK * bodies)
    for i, row in enumerate(Y16):
        for link in range(bodies):
            block = unvectorize(row[ENTRIES_PER_BODY * link : ENTRIES_PER_BODY * (link + 1)], 4)
            ten = [block[r, s] if r == s else block[r, s] + block[s, r] for r in range(4) for s in range(r, 4)]
            Y[i, PER_LINK * link : PER_LINK * (link + 1)] = array(ten)
    return Y


def to_inertia_columns(Y: Shaped[np.ndarray, "joints params"]) -> Shaped[np.ndarray, "joints params"]:
    """Change from entries of the pseudo-inertias J to the ten parameters: J_ab = tr(I)/2 δ_ab - I_ab."""
    result = zeros(*Y.shape)
    for k in range(0, Y.shape[1], PER_LINK):
        xx, xy, xz, x, yy, yz, y, zz, z, mass = (Y[:, k + place] for place in range(PER_LINK))
        mean = halve(xx + yy + zz)
        ten = (mass, x, y, z, mean - xx, -xy, mean - yy, -xz, -yz, mean - zz)
        for place, values in enumerate(ten):
            result[:, k + place] = values
    return result


def _list_inertial_terms(body: HomogeneousTransform, motion: Motion) -> _Terms:
    """U_jl and its factor vd_j in (13), (36)."""
    return [(U, motion.vd[j]) for j, U in body.U.items()]


def _list_velocity_terms(body: HomogeneousTransform, products: np.ndarray) -> _Terms:
    """U_kjl = U_jkl and its factor in the sums over j and k of (16), (40)."""
    return [(UU, products[pair]) for pair, UU in body.UU.items()]


def _multiply_velocities(motion: Motion) -> Shaped[np.ndarray, "joints joints"]:
    """qd_j v_j on the diagonal, and qd_j v_k + qd_k v_j for other pairs of joints."""
    qd, v = motion.qd, motion.v
    products = zeros(len(qd), len(qd))
    for j in range(len(qd)):
        products[j, j] = sum_products((qd[j], v[j]))
        for k in range(j):
            product = sum_products((qd[j], v[k]))
            other = product if motion.ordinary else sum_products((qd[k], v[j]))
            products[j, k] = products[k, j] = product + other
    return products


def _trace_rows(mechanism: Mechanism, transforms: Sequence[HomogeneousTransform], terms: Sequence[_Terms]) -> Sixteen:
    """rtr(U_il ⊗ X_l) for every joint i and body l, where X_l is given by its terms: (11), (14), (34), (38)."""
    Y = zeros(mechanism.joints, ENTRIES_PER_BODY * len(mechanism.bodies))
    for link, (body, pairs) in enumerate(zip(transforms, terms, strict=True)):
        block = slice(ENTRIES_PER_BODY * link, ENTRIES_PER_BODY * (link + 1))
        X = combine([matrix for matrix, _ in pairs], [factor for _, factor in pairs]) if pairs else zeros(4, 4)
        for i, U in body.U.items():
            B = multiply_kronecker(U, X)  # (13), (16), (36), (40)
            Y[i, block] = trace_columns(B)
    return Y


def _compute_gravity(mechanism: Mechanism, transforms: Sequence[HomogeneousTransform]) -> Sixteen:
    """-gᵀ U_il J_l e_4 = -(e_4ᵀ ⊗ gᵀ U_il) ν(J_l): (18), with the zeros of (22) as those of e_4."""
    g, e4 = array([[*mechanism.gravity, 0]]), array([[0, 0, 0, 1]])
    Y = zeros(mechanism.joints, ENTRIES_PER_BODY * len(mechanism.bodies))
    for link, body in enumerate(transforms):
        block = slice(ENTRIES_PER_BODY * link, ENTRIES_PER_BODY * (link + 1))
        for i, U in body.U.items():
            Y[i, block] = -multiply_kronecker(e4, dot(g, U))[0]
    return Y


# Homogeneous transforms of the bodies of a tree, differentiated as matrices by the product rule.
#
# Identity      T_l = T_p A_l for a body l with parent p. Hence U_jl = U_jp A_l and U_kjl = U_kjp A_l for joints before
#               body l, and U_ll = T_p A_l', U_jll = U_jp A_l' and U_lll = T_p A_l'' for its own joint
# Reference     [fernandez2000] (5)-(9), where U_jl and U_kjl are taken from the Lagrange–Euler formulation
# Notation      code   paper    meaning                                                                    shape
#               A      -        transform from body l to its parent: A = P M(q) S, see ``mechanism``       4 x 4
#               Q      -        generator of the joint: M' = Q M, hence M = exp(q Q)                       4 x 4
#               T      T_l      transform from body l to the base                                          4 x 4
#               U      U_jl     ∂T_l/∂q_j, for the joints j on the path to body l                          4 x 4
#               UU     U_kjl    ∂²T_l/∂q_k ∂q_j, for k before j on the path, or k = j                      4 x 4
#
# These kinematics share no code with those of the other formulations (``pose`` in ``newton_euler`` and ``jacobians``),
# so that a comparison of regressors compares two kinematics. Both read the mechanism and the sines and cosines of the
# motion. No vector of an axis, no cross product and no angular velocity appears here: a revolute joint has Q³ = -Q,
# hence exp(q Q) = 1 + sin(q) Q + (1 - cos(q)) Q²; a prismatic joint has Q² = 0, hence exp(q Q) = 1 + q Q.


@dataclass(frozen=True, eq=False)
class HomogeneousTransform:
    """T, U and UU of one body, in the notation above. U is keyed by j, UU by (k, j)."""

    T: AnyMatrix4
    U: dict[int, np.ndarray]
    UU: dict[tuple[int, int], np.ndarray]


def compute_transforms(mechanism: Mechanism, motion: Motion) -> list[HomogeneousTransform]:
    """Compute the transforms of all bodies with their first and second derivatives."""
    base = HomogeneousTransform(exact_array(np.eye(4)), {}, {})
    transforms: list[HomogeneousTransform] = []
    for body in mechanism.bodies:
        parent = base if body.parent is None else transforms[body.parent]
        A, dA, ddA = differentiate_joint_transform(body, motion)
        U = {j: dot(matrix, A) for j, matrix in parent.U.items()}
        UU = {pair: dot(matrix, A) for pair, matrix in parent.UU.items()}
        if body.joint is not None:
            UU |= {(j, body.joint): dot(matrix, dA) for j, matrix in parent.U.items()}
            UU[body.joint, body.joint] = dot(parent.T, ddA)
            U[body.joint] = dot(parent.T, dA)
        transforms.append(HomogeneousTransform(dot(parent.T, A), U, UU))
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


# Operators on matrices: the column operator ν, the Kronecker product ⊗, traces of vectors and row-traces.
#
# Identity      ν(A B C) = (Cᵀ ⊗ A) ν(B);  tr(A ν(B)) = rtr(A) ν(B);  hence tr(B J Aᵀ) = rtr(A ⊗ B) ν(J)
# Reference     [fernandez2000] sec. 2, (2), (3), definitions 1 and 2, proposition 1
#
# Entries are scalars of any kind. Integers 0, 1 and -1 are structural, as in ``vectors.dot``: products with them cost
# nothing.


Matrix: TypeAlias = Shaped[np.ndarray, "rows columns"]


def vectorize(A: Matrix) -> Shaped[np.ndarray, " entries"]:
    """ν(A): the columns of A, stacked (2)."""
    return A.T.reshape(-1)


def unvectorize(b: Shaped[np.ndarray, " entries"], rows: int) -> Matrix:
    """ν⁻¹(b): the matrix with this number of rows (3)."""
    return b.reshape(-1, rows).T


def multiply_kronecker(A: Matrix, B: Shaped[np.ndarray, "p q"]) -> Shaped[np.ndarray, "rp cq"]:
    """A ⊗ B."""
    blocks = zeros(len(A), len(B), A.shape[1], B.shape[1])
    for i, j in np.ndindex(A.shape):
        blocks[i, :, j, :] = dot(B.reshape(-1, 1), A[i, j : j + 1]).reshape(B.shape)
    return blocks.reshape(A.shape[0] * B.shape[0], A.shape[1] * B.shape[1])


def trace_vector(b: Shaped[np.ndarray, " entries"]) -> Any:
    """tr(b) = tr(ν⁻¹(b)) of a vector with a square number of entries (definition 1)."""
    return sum(unvectorize(b, round(len(b) ** 0.5)).diagonal())


def trace_columns(A: Matrix) -> Shaped[np.ndarray, " columns"]:
    """rtr(A), the row-trace: the traces of the columns of A (definition 2)."""
    return array([trace_vector(column) for column in A.T])


def combine(matrices: Sequence[np.ndarray], factors: Sequence[Any]) -> Matrix:
    """Σ_i factor_i A_i of at least one matrix, as ν⁻¹([ν(A_1) ν(A_2) …] factors)."""
    columns = np.stack([vectorize(A) for A in matrices], axis=1)
    return unvectorize(dot(columns, array(factors)), len(matrices[0]))
