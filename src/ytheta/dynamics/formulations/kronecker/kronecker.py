"""Lagrange–Euler regressor of Fernández, Peñalver, Hernández and Tornero, by Kronecker products.

Identity      tau = Y_tau(q, qd, qdd) @ theta; with two velocities Y_S(q, qd, v, vd) @ theta = M vd + C(q, qd) v + g
Reference     [fernandez2000] secs. 3 and 4, (5)-(25), (33)-(40)
Accepts       trees of revolute and prismatic joints with any axis; loads as links of their own
Notation      code   paper      meaning                                                          shape
              U      U_jl       ∂T_l/∂q_j, see ``transforms``                                    4 x 4
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
from typing import Any, TypeAlias

import numpy as np

from ytheta.dynamics.formulations.kronecker.operators import combine, multiply_kronecker, trace_columns, unvectorize
from ytheta.dynamics.formulations.kronecker.transforms import Transform, compute_transforms
from ytheta.dynamics.mechanism import PER_LINK, Mechanism
from ytheta.dynamics.motion import Motion
from ytheta.dynamics.vectors import array, dot, halve, sum_products, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped

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


def _list_inertial_terms(body: Transform, motion: Motion) -> _Terms:
    """U_jl and its factor vd_j in (13), (36)."""
    return [(U, motion.vd[j]) for j, U in body.U.items()]


def _list_velocity_terms(body: Transform, products: np.ndarray) -> _Terms:
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


def _trace_rows(mechanism: Mechanism, transforms: Sequence[Transform], terms: Sequence[_Terms]) -> Sixteen:
    """rtr(U_il ⊗ X_l) for every joint i and body l, where X_l is given by its terms: (11), (14), (34), (38)."""
    Y = zeros(mechanism.joints, ENTRIES_PER_BODY * len(mechanism.bodies))
    for link, (body, pairs) in enumerate(zip(transforms, terms, strict=True)):
        block = slice(ENTRIES_PER_BODY * link, ENTRIES_PER_BODY * (link + 1))
        X = combine([matrix for matrix, _ in pairs], [factor for _, factor in pairs]) if pairs else zeros(4, 4)
        for i, U in body.U.items():
            B = multiply_kronecker(U, X)  # (13), (16), (36), (40)
            Y[i, block] = trace_columns(B)
    return Y


def _compute_gravity(mechanism: Mechanism, transforms: Sequence[Transform]) -> Sixteen:
    """-gᵀ U_il J_l e_4 = -(e_4ᵀ ⊗ gᵀ U_il) ν(J_l): (18), with the zeros of (22) as those of e_4."""
    g, e4 = array([[*mechanism.gravity, 0]]), array([[0, 0, 0, 1]])
    Y = zeros(mechanism.joints, ENTRIES_PER_BODY * len(mechanism.bodies))
    for link, body in enumerate(transforms):
        block = slice(ENTRIES_PER_BODY * link, ENTRIES_PER_BODY * (link + 1))
        for i, U in body.U.items():
            Y[i, block] = -multiply_kronecker(e4, dot(g, U))[0]
    return Y
