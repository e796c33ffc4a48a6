"""Lagrange–Euler regressor of Fernández, Peñalver, Hernández and Tornero, by Kronecker products.

Identity      tau = Y_tau(q, qd, qdd) @ theta; with two velocities Y_S(q, qd, v, vd) @ theta = M vd + C(q, qd) v + g
Reference     [fernandez2000] secs. 2-4, (2), (3), definitions 1 and 2, (5)-(25), (33)-(40)
Accepts       trees of revolute and prismatic joints with any axis; loads as links of their own
Notation      code   paper      meaning                                                          shape
              U      U_jl       ∂T_l/∂q_j, T_l the homogeneous transform of body l               3 x 4
              K      -          factors in X_l = Σ_j K_j U_jl                                    3 x 3
              X      -          Σ_j U_jl vd_j + Σ_jk U_kjl qd_j v_k, the second factor of ⊗      3 x 4
              Y16    Y_tau      regressor of all entries of the pseudo-inertias J_l              n x 16 bodies
              The last rows of U and X are zero and left out.
Differs from  the paper in: the factor qd_j in (40), missing in print; the minus sign of (18), missing in (23); the
              block index of (25) is that of the body; U_jl is zero if joint j is not on the path to body l (trees).
              ⊗ is linear, so (13) and (16), or (36) and (40), are summed before the product, not after. Of U_jl ⊗ X
              only the rows that the row-trace uses are computed: rtr(A ⊗ B) = ν(Bᵀ A)ᵀ. U_kjl = z_k × U_jl (k the joint
              nearer to the base; zero if joint k is prismatic), so the sum over k is computed once per joint,
              for all bodies.
              After (25) one more linear step leads from J_l to inertia tensor entries about the frame origin.
C(q, qd) is the matrix of Christoffel symbols, since U_kjl = U_jkl.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ytheta.dynamics.formulations.jacobians import BodyPose, Column, compute_body_poses, compute_jacobian_columns
from ytheta.dynamics.mechanism import PER_LINK, Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import dot, halve, scale, skew, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped

Matrix: TypeAlias = Shaped[np.ndarray, "rows columns"]
Sixteen: TypeAlias = Shaped[np.ndarray, "joints entries"]
_ByJoint: TypeAlias = dict[int, np.ndarray]

ENTRIES_PER_BODY = 16


def explain_refusal(robot: Robot) -> str | None:
    """Return None if this formulation accepts the robot, else the reason why not."""
    if robot.loops:
        return f"robot {robot.name!r} has closed loops; use spatial_tree"
    return None


def regressor(mechanism: Mechanism, motion: Motion) -> Shaped[np.ndarray, "joints params"]:
    """Y_tau, or Y_S if the motion has a reference velocity: ten columns per body (24), (25)."""
    poses = compute_body_poses(mechanism, motion)
    U = _compute_derivatives(mechanism, poses)
    inertial = _compute_inertial_factors(mechanism, motion)
    velocity = _compute_velocity_factors(mechanism, motion, poses)
    K = [a + b for a, b in zip(inertial, velocity, strict=True)]
    return to_inertia_columns(fold(_compute_row_traces(mechanism, U, K) + _compute_gravity_columns(mechanism, U)))


def inertial_part(mechanism: Mechanism, motion: Motion) -> Sixteen:
    """Y_D of (11), (13), or of (34), (36): D(q) vd = Y_D ν(J)."""
    U = _compute_derivatives(mechanism, compute_body_poses(mechanism, motion))
    return _compute_row_traces(mechanism, U, _compute_inertial_factors(mechanism, motion))


def velocity_part(mechanism: Mechanism, motion: Motion) -> Sixteen:
    """Y_H of (14), (16), or of (38), (40): h(q, qd) v = Y_H ν(J)."""
    poses = compute_body_poses(mechanism, motion)
    K = _compute_velocity_factors(mechanism, motion, poses)
    return _compute_row_traces(mechanism, _compute_derivatives(mechanism, poses), K)


def gravity_part(mechanism: Mechanism, motion: Motion) -> Sixteen:
    """Y_c of (18), with its blocks as in (21)-(23): c(q) = Y_c ν(J)."""
    return _compute_gravity_columns(mechanism, _compute_derivatives(mechanism, compute_body_poses(mechanism, motion)))


# --- operators of section 2 -----------------------------------------------------------------------------------------


def vectorize(A: Matrix) -> Shaped[np.ndarray, "entries"]:
    """ν(A): the columns of A, stacked (2)."""
    return A.T.reshape(-1)


def unvectorize(b: Shaped[np.ndarray, "entries"], rows: int) -> Matrix:
    """ν⁻¹(b): the matrix with this number of rows (3)."""
    return b.reshape(-1, rows).T


def kronecker(A: Matrix, B: Shaped[np.ndarray, "p q"]) -> Shaped[np.ndarray, "rp cq"]:
    """A ⊗ B: ν(A B C) = (Cᵀ ⊗ A) ν(B)."""
    blocks = zeros(len(A), len(B), A.shape[1], B.shape[1])
    for i, j in np.ndindex(A.shape):
        blocks[i, :, j, :] = dot(B.reshape(-1, 1), A[i, j : j + 1]).reshape(B.shape)
    return blocks.reshape(A.shape[0] * B.shape[0], A.shape[1] * B.shape[1])


def vector_trace(b: Shaped[np.ndarray, "entries"]) -> object:
    """tr(b) = tr(ν⁻¹(b)) of a vector with a square number of entries (definition 1)."""
    return row_trace(b[:, None])[0]


def row_trace(A: Matrix) -> Shaped[np.ndarray, "columns"]:
    """rtr(A): the traces of the columns of A (definition 2). tr(A ν(B)) = rtr(A) ν(B) (proposition 1)."""
    m = round(len(A) ** 0.5)
    total = zeros(A.shape[1])
    for k in range(0, m * m, m + 1):
        total = total + A[k]
    return total


def row_trace_of_product(A: Matrix, B: Matrix) -> Shaped[np.ndarray, "entries"]:
    """rtr(A ⊗ B) = ν(Bᵀ A)ᵀ for square A and B, without forming A ⊗ B."""
    return vectorize(dot(B.T, A))


# --- section 3 ------------------------------------------------------------------------------------------------------


def fold(Y16: Sixteen) -> Shaped[np.ndarray, "joints params"]:
    """16 n → 10 n columns (25): add the columns of equal entries of J; the order is xx xy xz x yy yz y zz z 1."""
    bodies = Y16.shape[1] // ENTRIES_PER_BODY
    Y = zeros(len(Y16), PER_LINK * bodies)
    for link in range(bodies):
        block = Y16[:, ENTRIES_PER_BODY * link : ENTRIES_PER_BODY * (link + 1)]
        z = PER_LINK * link
        for r in range(4):
            for s in range(r, 4):
                Y[:, z] = block[:, r + 4 * s] if r == s else block[:, r + 4 * s] + block[:, s + 4 * r]
                z += 1
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


def _compute_derivatives(mechanism: Mechanism, poses: list[BodyPose]) -> list[_ByJoint]:
    """For every body l, U_jl of the joints on the path to body l, keyed by the body behind joint j."""
    return [
        {J.at: _compute_derivative(place.R, J) for _, J in compute_jacobian_columns(mechanism, poses, link)}
        for link, place in enumerate(poses)
    ]


def _compute_derivative(R: np.ndarray, J: Column) -> Shaped[np.ndarray, "3 4"]:
    """U_jl without its last row, which is zero: ∂R/∂q_j = z_j × R, and the velocity column of the Jacobian."""
    U = zeros(3, 4)
    U[:, :3] = dot(skew(J.w), R)
    U[:, 3] = J.v
    return U


def _compute_inertial_factors(mechanism: Mechanism, motion: Motion) -> list[np.ndarray]:
    """K of (13) and (36) for every joint, in the order of the bodies: vd_j times the identity matrix."""
    K: list[np.ndarray] = []
    for body in mechanism.bodies:
        factor = zeros(3, 3)
        if body.joint is not None:
            for k in range(3):
                factor[k, k] = motion.vd[body.joint]
        K.append(factor)
    return K


def _compute_velocity_factors(mechanism: Mechanism, motion: Motion, poses: list[BodyPose]) -> list[np.ndarray]:
    """K_j of (16), (40): skew matrix of qd_j v_j z_j + Σ_k (qd_j v_k + v_j qd_k) z_k, for the joints k before j."""
    w = _sum_angular_velocities(mechanism, motion.qd, poses)
    u = w if motion.ordinary else _sum_angular_velocities(mechanism, motion.v, poses)
    K: list[np.ndarray] = []
    for k, body in enumerate(mechanism.bodies):
        if body.joint is None:
            K.append(zeros(3, 3))
            continue
        joint = slice(body.joint, body.joint + 1)
        if motion.ordinary:
            K.append(skew(scale(w[k], motion.qd[joint])))
        else:
            K.append(skew(halve(scale(w[k], motion.v[joint]) + scale(u[k], motion.qd[joint]))))
    return K


def _sum_angular_velocities(mechanism: Mechanism, x: np.ndarray, poses: list[BodyPose]) -> list[np.ndarray]:
    """For each joint, the sum of the angular velocities of the bodies before and behind it, in base axes."""
    behind: list[np.ndarray] = []
    sums: list[np.ndarray] = []
    for body, place in zip(mechanism.bodies, poses, strict=True):
        before = zeros(3) if body.parent is None else behind[body.parent]
        after = before
        if body.joint is not None and body.revolute:
            after = before + scale(place.z, x[body.joint : body.joint + 1])
        behind.append(after)
        sums.append(before + after)
    return sums


def _compute_row_traces(mechanism: Mechanism, U: list[_ByJoint], K: list[np.ndarray]) -> Sixteen:
    """rtr(U_il ⊗ X_l) for every joint i and body l, with X_l = Σ_j K_j U_jl."""
    Y = zeros(mechanism.joints, ENTRIES_PER_BODY * len(mechanism.bodies))
    for link, derivatives in enumerate(U):
        X = zeros(3, 4)
        for at, derivative in derivatives.items():
            X = X + dot(K[at], derivative)
        for at, derivative in derivatives.items():
            block = slice(ENTRIES_PER_BODY * link, ENTRIES_PER_BODY * (link + 1))
            Y[mechanism.bodies[at].joint, block] = row_trace_of_product(derivative, X)
    return Y


def _compute_gravity_columns(mechanism: Mechanism, U: list[_ByJoint]) -> Sixteen:
    """-gᵀ U_il in the columns that belong to the last column of J_l, the first moments and the mass: (18), (22)."""
    Y = zeros(mechanism.joints, ENTRIES_PER_BODY * len(mechanism.bodies))
    for link, derivatives in enumerate(U):
        for at, derivative in derivatives.items():
            last = slice(ENTRIES_PER_BODY * link + 12, ENTRIES_PER_BODY * (link + 1))
            Y[mechanism.bodies[at].joint, last] = -dot(mechanism.gravity[None], derivative)[0]
    return Y
