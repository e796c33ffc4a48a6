"""The regressor of Fernández et al. by Kronecker products: against its definitions, physics and Newton–Euler."""

from __future__ import annotations

from collections import Counter

import casadi
import numpy as np
import pytest

import ytheta
from tests.support.formulation_cases import (
    close,
    fork,
    identical,
    link_parameters,
    load,
    robot_without_joints,
    state,
    with_gravity_flipped,
    with_symbols,
)
from ytheta.dynamics import rigid_body
from ytheta.dynamics.formulations import kronecker, newton_euler
from ytheta.dynamics.formulations.kronecker import trace_columns, vectorize
from ytheta.dynamics.mechanism import Body, Mechanism, build_mechanism, casadi_motion, numeric_motion, sympy_motion
from ytheta.dynamics.rigid_body import mass_matrix
from ytheta.native.graph import Input, trace
from ytheta.robot.robot import Robot


def test_no_joints() -> None:
    motion = numeric_motion([], [], [])
    assert kronecker.regressor(build_mechanism(robot_without_joints()), motion).shape == (0, 10)
    assert kronecker.regressor(build_mechanism(Robot("base", robot_without_joints().links[:1])), motion).shape == (0, 0)


def test_columns_of_other_branches_are_structural_zeros() -> None:
    Y = kronecker.regressor(build_mechanism(fork()), numeric_motion(*state(3)[:3]))
    assert all(type(y) is int for y in Y[2, 10:20])
    assert all(type(y) is int for y in Y[1, 20:])


def test_accepts() -> None:
    assert kronecker.explain_refusal(ytheta.load("walker")) == "robot 'walker' has closed loops; use spatial_tree"
    assert kronecker.explain_refusal(ytheta.load("stanford")) is None


def test_folding() -> None:
    """(25) with the index of the paper: z = 10 (l - 1) + 4 (r - 1) - r (r - 1) / 2 + s."""
    rng = np.random.default_rng(0)
    Y16, square = rng.normal(size=(3, 32)), rng.normal(size=(4, 4))
    Y10 = kronecker.fold(Y16.astype(object)).astype(float)
    for link in (1, 2):
        for r in range(1, 5):
            for s in range(r, 5):
                z = 10 * (link - 1) + 4 * (r - 1) - r * (r - 1) // 2 + s
                upper, lower = (16 * (link - 1) + a + 4 * (b - 1) for a, b in ((r, s), (s, r)))
                expected = Y16[:, upper - 1] + (Y16[:, lower - 1] if r != s else 0.0)
                assert Y10[:, z - 1] == pytest.approx(expected)
    symmetric = square + square.T
    entries = symmetric[np.triu_indices(4)]
    assert Y10[:, :10] @ entries == pytest.approx(Y16[:, :16] @ vectorize(symmetric))


# --- sections 3 and 4 by their definitions ----------------------------------------------------------------------------


def compute_joint_transform(body: Body, q: float, order: int) -> np.ndarray:
    """The 4 x 4 transform of a joint, differentiated ``order`` times with respect to its position."""
    T = np.eye(4) if order == 0 else np.zeros((4, 4))
    axis = body.axis.astype(float)
    if not body.revolute:
        if order < 2:
            T[:3, 3] = axis if order else q * axis
        return T
    S = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    sine, cosine = ((np.sin(q), np.cos(q)), (np.cos(q), -np.sin(q)), (-np.sin(q), -np.cos(q)))[order]
    T[:3, :3] = (np.eye(3) + S @ S if order == 0 else 0) + sine * S - cosine * S @ S
    return T


def compute_body_transform(mech: Mechanism, q: np.ndarray, link: int, *by: int) -> np.ndarray:
    """T of a body, differentiated with respect to joints ``by``: U_jl and U_kjl, without formulas of the module."""
    orders = Counter(by)
    T = np.eye(4)
    path = [mech.bodies[k] for k in mech.path(link)]
    if not set(by) <= {body.joint for body in path}:
        return np.zeros((4, 4))
    for body in path:
        placement, seat = np.eye(4), np.eye(4)
        placement[:3, :3], placement[:3, 3] = body.P.astype(float), body.p.astype(float)
        seat[:3, :3], seat[:3, 3] = body.S.astype(float), body.s.astype(float)
        motion = np.eye(4) if body.joint is None else compute_joint_transform(body, q[body.joint], orders[body.joint])
        T = T @ placement @ motion @ seat
    return T


@pytest.mark.parametrize("name", ["lu-puma4", "stanford", "fork"])
def test_parts_by_their_definitions(name: str) -> None:
    """Y_D (13), (36), Y_H (16), (40) and Y_c (18) from full Kronecker products of differentiated transforms."""
    mech = build_mechanism(fork() if name == "fork" else load(name))
    n = mech.joints
    q, qd, vd, v = state(n)
    ordinary, two = numeric_motion(q, qd, vd), numeric_motion(q, qd, vd, v)
    gravity = np.array([*mech.gravity, 0.0], dtype=float)
    Y_D, Y_H, Y_S, Y_S_printed, Y_c = (np.zeros((n, 16 * len(mech.bodies))) for _ in range(5))
    for link in range(len(mech.bodies)):
        block = slice(16 * link, 16 * (link + 1))
        U = [compute_body_transform(mech, q, link, j) for j in range(n)]
        UU = [[compute_body_transform(mech, q, link, k, j) for j in range(n)] for k in range(n)]
        acceleration = sum(U[j] * vd[j] for j in range(n))
        velocity, reference, printed = (
            sum(UU[k][j] * a[j] * b[k] for j in range(n) for k in range(n))
            for a, b in ((qd, qd), (qd, v), (np.ones(n), v))
        )
        for i in range(n):
            Y_D[i, block] = trace_columns(np.kron(U[i], acceleration))
            Y_H[i, block] = trace_columns(np.kron(U[i], velocity))
            Y_S[i, block] = trace_columns(np.kron(U[i], reference))
            Y_S_printed[i, block] = trace_columns(np.kron(U[i], printed))
            Y_c[i, 16 * link + 12 : 16 * (link + 1)] = -gravity @ U[i]
    assert close(kronecker.inertial_part(mech, ordinary), Y_D)
    assert close(kronecker.velocity_part(mech, ordinary), Y_H)
    assert close(kronecker.velocity_part(mech, two), Y_S)
    assert close(kronecker.gravity_part(mech, ordinary), Y_c)
    assert not close(kronecker.velocity_part(mech, two), Y_S_printed)  # (40) as printed, without qd_j
    assert not close(kronecker.gravity_part(mech, ordinary), -Y_c)  # (23) as printed, without the minus of (18)
    whole = kronecker.to_inertia_columns(kronecker.fold((Y_D + Y_S + Y_c).astype(object)))
    assert close(kronecker.regressor(mech, two), whole)


@pytest.mark.parametrize("name", ["puma560", "lu-two-link", "kinova.urdf"])
def test_parts_on_pseudo_inertias(name: str) -> None:
    """Y_D ν(J) = M qdd, Y_H ν(J) = C v, Y_c ν(J) = g with J the pseudo-inertias of the links."""
    mech = build_mechanism(load(name))
    theta = link_parameters(mech)
    q, qd, vd, v = state(mech.joints)
    motion = numeric_motion(q, qd, vd, v)
    J = np.concatenate([vectorize(link.inertia.pseudo) for link in mech.robot.links[1:]])
    M = mass_matrix(mech, motion, theta).astype(float)
    C = rigid_body.coriolis_matrix(mech, motion, theta).astype(float)
    assert close(kronecker.inertial_part(mech, motion).astype(float) @ J, M @ vd)
    assert close(kronecker.velocity_part(mech, motion).astype(float) @ J, C @ v)
    assert not close(kronecker.velocity_part(mech, motion).astype(float) @ J, C @ qd)
    assert close(kronecker.gravity_part(mech, motion).astype(float) @ J, rigid_body.gravity(mech, motion, theta))


def test_the_traced_graph_equals_the_computed_regressor() -> None:
    mech = build_mechanism(load("stanford"))
    n = mech.joints
    values = state(n)
    symbols = [casadi.SX.sym(name, n) for name in ("q", "qd", "vd", "v")]
    graph = trace(
        "Y",
        [(Input(str(k), n), symbol) for k, symbol in enumerate(symbols)],
        kronecker.regressor(mech, casadi_motion(*symbols)),
    )
    Y = np.zeros(graph.size)
    Y[list(graph.places)] = graph.function(*values).full().ravel()
    assert close(Y.reshape(graph.shape), kronecker.regressor(mech, numeric_motion(*values[:3], values[3])))


def test_symbolic_equations_equal_those_of_newton_euler() -> None:
    mech = with_symbols(build_mechanism(ytheta.load("lu-two-link")))
    motion = sympy_motion(2)
    expected = newton_euler.regressor(mech, motion)
    assert identical(kronecker.regressor(mech, motion), expected)
    assert not identical(with_gravity_flipped(kronecker.regressor)(mech, motion), expected)
