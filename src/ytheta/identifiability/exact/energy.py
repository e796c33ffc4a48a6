"""The combinations of parameters that the energy of a robot contains: their exact number, and a basis of them.

The functions h_i are represented by their span: h_iᵀ = fᵀ B with independent functions f and a matrix B of at most ten
rows. The twists V_i are represented in the same way. At the next joint, f is multiplied by the functions of that joint
(see ``EnergyMaps``), and the products are independent again. The coefficients of each product form a row, and
dependent rows are eliminated. So no polynomial in all joints is ever formed, and the work is the same for every joint,
in chains and in trees.

The energy of body j contains the part h_iᵀ Lambda_1 theta_j, which does not depend on q_j or qd_j; Lambda_1 is the
constant coefficient of Lambda. So Lambda_1 theta_j is added to the parameters of body i. The base does not move, so
its functions h are constants, and parameters that are added to it have no effect on the motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ytheta.conventions import INERTIA_ENTRIES
from ytheta.dynamics.mechanism import PER_LINK, Body, Mechanism
from ytheta.dynamics.vectors import array, cross, dot, skew, zeros
from ytheta.shapes import Shaped


def compute_energy_span(mechanism: Mechanism, *, rotors: bool) -> list[Shaped[np.ndarray, "rows columns"]]:
    """Return independent rows of coefficients for every body: ten columns per body, then one rotor inertia per joint.

    The rows of all bodies together are independent: the rows of a body are independent in its own ten columns and its
    rotor's column, and the rows of the bodies behind it are zero in these columns. The number of rows is the number of
    base parameters.
    """
    bodies = mechanism.bodies
    maps = [compute_energy_maps(body) for body in bodies]
    spans, twists = _compute_carrier_spans(mechanism, maps)
    width = PER_LINK * len(bodies) + mechanism.joints * rotors
    composites = [
        _make_unit_rows(k, width) for k in range(len(bodies))
    ]  # parameters of body k and of the bodies it carries
    result: list[np.ndarray] = [zeros(0, width)] * len(bodies)
    for k in reversed(range(len(bodies))):
        body, joint_maps = bodies[k], maps[k]
        B, V = spans[k], twists[k]
        Lambda = joint_maps.Lambda
        rows = [dot(B, L) for powers, L in Lambda.items() if powers != ONE]
        rows += [dot(dot(V, joint_maps.G), L) for L in Lambda.values()]
        rows += [dot(joint_maps.k, L) for powers, L in Lambda.items() if powers != ONE]
        quadratic = dot(joint_maps.k, Lambda[ONE])  # coefficients of qd_j² alone; rotor inertia multiplies qd_j² too
        stacked = np.concatenate([*rows, quadratic])
        if rotors and body.joint is not None:
            rotor = zeros(len(stacked), 1)
            rotor[-1, 0] = HALF
            basis = compute_row_basis(np.concatenate([stacked, rotor], axis=1))
            result[k] = dot(basis[:, :PER_LINK], composites[k])
            result[k][:, PER_LINK * len(bodies) + body.joint] = basis[:, PER_LINK]
        else:
            result[k] = dot(compute_row_basis(stacked), composites[k])
        if body.parent is not None:
            composites[body.parent] = composites[body.parent] + dot(Lambda[ONE], composites[k])
    return result


def _compute_carrier_spans(
    mechanism: Mechanism, maps: Sequence[EnergyMaps]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the matrices B of h_i and of V_i, where i is the carrier of each body."""
    ground = zeros(1, PER_LINK)
    ground[0, 1:4] = mechanism.gravity  # the Lagrangian contains + gᵀ (m p + R h)
    carrier_energies: list[np.ndarray] = []
    carrier_twists: list[np.ndarray] = []
    spans: list[tuple[np.ndarray, np.ndarray]] = []
    for body, joint_maps in zip(mechanism.bodies, maps, strict=True):
        B, V = (compute_row_basis(ground), zeros(0, 6)) if body.parent is None else spans[body.parent]
        carrier_energies.append(B)
        carrier_twists.append(V)
        factors = (B, dot(V, joint_maps.G), joint_maps.k)
        energies = [dot(rows, L) for L in joint_maps.Lambda.values() for rows in factors]
        twists = [dot(V, X.T) for X in joint_maps.X.values()]
        spans.append(
            (
                compute_row_basis(np.concatenate(energies)),
                compute_row_basis(np.concatenate([*twists, joint_maps.S[None]])),
            )
        )
    return carrier_energies, carrier_twists


def compute_row_basis(matrix: Shaped[np.ndarray, "rows columns"]) -> Shaped[np.ndarray, "rank columns"]:
    """Return the reduced row echelon form of a matrix of fractions, without rows of zeros."""
    pivots: list[tuple[int, list[Any]]] = []  # column and row of each pivot
    for row in {tuple(entries): None for entries in matrix.tolist()}:
        rest = list(row)
        for column, pivot in pivots:
            if rest[column]:
                rest = _eliminate(rest, pivot, column)
        column = next((k for k, x in enumerate(rest) if x), -1)
        if column < 0:
            continue
        rest = [x and x / Fraction(rest[column]) for x in rest]
        pivots = [(k, _eliminate(pivot, rest, column) if pivot[column] else pivot) for k, pivot in pivots]
        pivots.append((column, rest))
    pivots.sort(key=lambda item: item[0])
    return array([entries for _, entries in pivots]) if pivots else zeros(0, matrix.shape[1])


def _eliminate(row: list[Any], pivot: list[Any], column: int) -> list[Any]:
    factor = row[column]
    return [x - factor * y if y else x for x, y in zip(row, pivot, strict=True)]


def _make_unit_rows(body: int, width: int) -> Shaped[np.ndarray, "10 columns"]:
    """Return the rows of the unit matrix for the ten parameters of a body."""
    result = zeros(PER_LINK, width)
    for k in range(PER_LINK):
        result[k, PER_LINK * body + k] = 1
    return result


# Exact maps from the energy of a body to that of the body it carries, in normal form: sin² is replaced by 1 - cos².
#
# The Lagrangian of body j is h_jᵀ theta_j, ten functions times its ten parameters. If body i carries body j,
#
#     h_jᵀ = h_iᵀ Lambda(q_j) + qd_j V_iᵀ G Lambda(q_j) + qd_j² k Lambda(q_j),        V_j = X(q_j) V_i + S qd_j
#
# with
#
#     Lambda     transforms parameters from frame j to frame i
#     V          twist of a frame in its own axes: the velocity of its origin, then its angular velocity
#     S          twist of joint j for qd_j = 1
#     G theta    momentum of a body that moves with joint j alone, for qd_j = 1
#     k theta    kinetic energy of that body
#
# Lambda and X are polynomials in functions of q_j alone: 1, c, s, c², c s for a revolute joint, and 1, q, q² for a
# prismatic joint. These functions are linearly independent, and so are their products with independent functions of the
# joints before joint j. Hence all linear dependence of energies follows from constant matrices, one joint at a time.
#
# Scalars are fractions, or polynomials in unknown constants with rational coefficients.


# Exponents of (cos q, sin q, q) in a function of one joint.
Powers: TypeAlias = tuple[int, int, int]
Polynomial: TypeAlias = Mapping[Powers, np.ndarray]  # in the functions of one joint, with matrix coefficients
ONE, COS, SIN, Q = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)

HALF = Fraction(1, 2)


@dataclass(frozen=True, eq=False)
class EnergyMaps:
    """The maps of the module docstring for one joint; S is the joint's twist in frame j."""

    Lambda: Polynomial
    X: Polynomial
    S: Shaped[np.ndarray, "6"]
    G: Shaped[np.ndarray, "6 10"]
    k: Shaped[np.ndarray, "1 10"]


def compute_energy_maps(body: Body) -> EnergyMaps:
    """Return the maps of the joint that carries a body; for a fixed joint S, G, k are zero and Lambda, X constant."""
    poses = _compute_pose_polynomial(body)
    axis_i, axis_j = dot(body.P, body.axis), dot(body.S.T, body.axis)
    if body.joint is None:
        twist_i, S = zeros(6), zeros(6)
    elif body.revolute:
        twist_i = np.concatenate([cross(body.p, axis_i), axis_i])  # the joint's twist in frame i
        S = np.concatenate([dot(body.S.T, cross(body.axis, body.s)), axis_j])
    else:
        twist_i, S = np.concatenate([axis_i, zeros(3)]), np.concatenate([axis_j, zeros(3)])
    G = _make_momentum_matrix(twist_i)
    k = dot(dot(twist_i[None], G), _HALVES)
    return EnergyMaps(_compute_transport_polynomial(poses), _compute_twist_polynomial(poses), S, G, k)


def multiply_powers(first: Powers, second: Powers) -> dict[Powers, int]:
    """Return the product of two functions of one joint in normal form: sin² is replaced by 1 - cos²."""
    c, s, q = (a + b for a, b in zip(first, second, strict=True))
    return {(c, s, q): 1} if s < 2 else {(c, s - 2, q): 1, (c + 2, s - 2, q): -1}


def _compute_pose_polynomial(body: Body) -> dict[Powers, np.ndarray]:
    """Return the 4 x 4 matrix of frame j relative to frame i."""
    before, after = _make_homogeneous(body.P, body.p, 1), _make_homogeneous(body.S, body.s, 1)
    u, zero = body.axis, zeros(3)
    identity = array([[int(i == j) for j in range(3)] for i in range(3)])
    if body.joint is None:
        parts = {ONE: _make_homogeneous(identity, zero, 1)}
    elif body.revolute:
        along = dot(u[:, None], u[None])
        parts = {
            ONE: _make_homogeneous(along, zero, 1),
            COS: _make_homogeneous(identity - along, zero, 0),
            SIN: _make_homogeneous(skew(u), zero, 0),
        }
    else:
        parts = {ONE: _make_homogeneous(identity, zero, 1), Q: _make_homogeneous(zeros(3, 3), u, 0)}
    return {powers: dot(dot(before, part), after) for powers, part in parts.items()}


def _compute_transport_polynomial(poses: Polynomial) -> Polynomial:
    """Return Lambda, from the parameters of a body in frame j to those in frame i: H P Hᵀ with the pseudo-inertia P."""
    total: dict[Powers, np.ndarray] = {}
    for first, A in poses.items():
        for second, B in poses.items():
            # A P Bᵀ for ten P at once
            product = _extract_parameters(dot(B, dot(A, _UNIT_PSEUDO_INERTIAS).transpose(1, 0, 2)))
            for powers, sign in multiply_powers(first, second).items():
                total[powers] = total.get(powers, zeros(PER_LINK, PER_LINK)) + sign * product
    return {powers: matrix for powers, matrix in total.items() if matrix.any()}


def _compute_twist_polynomial(poses: Polynomial) -> Polynomial:
    """Return the matrix X with V_j = X V_i for the joint at rest: v_j = Rᵀ (v_i + w_i × p), w_j = Rᵀ w_i."""
    total: dict[Powers, np.ndarray] = {}
    for first, A in poses.items():
        for second, B in poses.items():
            X = zeros(6, 6)
            X[:3, 3:] = dot(A[:3, :3].T, -skew(B[:3, 3]))
            if second == ONE:
                X[:3, :3] = X[3:, 3:] = A[:3, :3].T
            for powers, sign in multiply_powers(first, second).items():
                total[powers] = total.get(powers, zeros(6, 6)) + sign * X
    return {powers: matrix for powers, matrix in total.items() if matrix.any()}


def _make_momentum_matrix(twist: Shaped[np.ndarray, "6"]) -> Shaped[np.ndarray, "6 10"]:
    """Return G, such that G theta is the momentum of a body with this twist: m v + w × h, then h × v + I w."""
    v, w = twist[:3], twist[3:]
    G = zeros(6, PER_LINK)
    G[:3, 0] = v
    G[:3, 1:4] = skew(w)
    G[3:, 1:4] = -skew(v)
    for column, (i, j) in enumerate(INERTIA_ENTRIES, start=4):
        G[3 + i, column] = w[j]
        G[3 + j, column] = w[i]
    return G


def _make_homogeneous(R: np.ndarray, p: np.ndarray, last: int) -> Shaped[np.ndarray, "4 4"]:
    H = zeros(4, 4)
    H[:3, :3], H[:3, 3], H[3, 3] = R, p, last
    return H


def _make_unit_pseudo_inertia(k: int) -> Shaped[np.ndarray, "4 4"]:
    """Return [[S, h], [hᵀ, m]] with S = tr(I)/2 1 - I, for parameter k equal to one and the others zero."""
    P = zeros(4, 4)
    if k < 4:
        P[3, k - 1] = P[k - 1, 3] = 1  # for the mass, k is 0, and the index -1 means 3
        return P
    i, j = INERTIA_ENTRIES[k - 4]
    P[i, j] = P[j, i] = -1
    if i == j:
        for n in range(3):
            P[n, n] = P[n, n] + HALF
    return P


def _extract_parameters(P: Shaped[np.ndarray, "4 4 n"]) -> Shaped[np.ndarray, "10 n"]:
    """Return the ten parameters of pseudo-inertias, with I = tr(S) 1 - S."""
    trace = P[0, 0] + P[1, 1] + P[2, 2]
    tensor = [trace - P[i, j] if i == j else -P[i, j] for i, j in INERTIA_ENTRIES]
    return np.stack([P[3, 3], P[3, 0], P[3, 1], P[3, 2], *tensor])


_UNIT_PSEUDO_INERTIAS = np.stack([_make_unit_pseudo_inertia(k) for k in range(PER_LINK)], axis=2)
_HALVES = array([[HALF if i == j else 0 for j in range(PER_LINK)] for i in range(PER_LINK)])
