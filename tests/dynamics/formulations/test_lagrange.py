"""The Lagrangian regressor of Lu and Meng: against Newton–Euler, Pinocchio, physics and the paper's own example."""

from __future__ import annotations

from dataclasses import replace

import casadi
import numpy as np
import pytest
import sympy

import ytheta
from tests.support.formulation_cases import (
    close,
    fork,
    identical,
    link_parameters,
    load,
    robot_without_joints,
    state,
    with_symbols,
)
from ytheta.dynamics import rigid_body
from ytheta.dynamics.formulations import inward_newton_euler, lagrange, newton_euler, sixteen
from ytheta.dynamics.mechanism import Mechanism, Motion, build_mechanism, casadi_motion, numeric_motion, sympy_motion
from ytheta.native.graph import Input, trace
from ytheta.robot.robot import Robot


def test_no_joints() -> None:
    mech = build_mechanism(robot_without_joints())
    motion = numeric_motion([], [], [])
    assert lagrange.regressor(mech, motion).shape == (0, 10)
    assert lagrange.regressor_sixteen(mech, motion).shape == (0, 16)
    assert lagrange.regressor(build_mechanism(Robot("base", robot_without_joints().links[:1])), motion).shape == (0, 0)


def test_columns_of_other_branches_are_structural_zeros() -> None:
    mech = build_mechanism(fork())
    Y = lagrange.regressor(mech, numeric_motion(*state(3)[:3]))
    assert [body.name for body in mech.bodies] == ["trunk", "slider", "arm", "load"]
    assert all(type(y) is int for y in Y[2, 10:20])
    assert all(type(y) is int for y in Y[1, 20:])


def test_accepts() -> None:
    assert lagrange.explain_refusal(ytheta.load("walker")) == "robot 'walker' has closed loops; use spatial_tree"
    assert lagrange.explain_refusal(ytheta.load("stanford")) is None


@pytest.mark.parametrize("name", ["stanford", "lu-two-link", "tiago_no_hand.urdf", "fork"])
def test_momentum_rate_and_remainder_add_up_to_the_regressor(name: str) -> None:
    """(47), for one velocity and for two; two equal velocities are the ordinary case."""
    mech = build_mechanism(fork() if name == "fork" else load(name))
    q, qd, qdd, v = state(mech.joints)
    ordinary = numeric_motion(q, qd, qdd)
    for motion in (ordinary, numeric_motion(q, qd, qdd, v)):
        rate, rest = lagrange.momentum_rate(mech, motion), lagrange.remainder(mech, motion)
        assert close(rate + rest, newton_euler.regressor(mech, motion))
        assert not close(rate - rest, newton_euler.regressor(mech, motion))
    # The remainder is -C(q, qd)ᵀ v + g: dM/dt = C + Cᵀ, and dM/dt v is part of the rate of the momentum M v.
    theta, two = link_parameters(mech), numeric_motion(q, qd, qdd, v)
    C = rigid_body.coriolis_matrix(mech, two, theta).astype(float)
    expected = rigid_body.gravity(mech, two, theta).astype(float) - C.T @ v
    assert close(lagrange.remainder(mech, two).astype(float) @ theta, expected, 1e-9)
    assert not close(lagrange.remainder(mech, two).astype(float) @ theta, expected + C.T @ v - C @ v, 1e-9)
    twice = numeric_motion(q, qd, qdd, qd.copy())
    for function in (lagrange.regressor, lagrange.momentum, lagrange.momentum_rate, lagrange.remainder):
        assert close(function(mech, twice), function(mech, ordinary))


@pytest.mark.parametrize("name", ["stanford", "iiwa14", "fork"])
def test_regressor_along_a_trajectory(name: str) -> None:
    """d/dt W + Yhat = Y, with d/dt W by central differences of fourth order along smooth q(t) and v(t)."""
    mech = build_mechanism(fork() if name == "fork" else load(name))
    phase = np.arange(mech.joints) + 1.0

    def motion(t: float, *, two: bool) -> Motion:
        q, qd, qdd = np.sin(phase * t + 0.3), phase * np.cos(phase * t + 0.3), -(phase**2) * np.sin(phase * t + 0.3)
        return numeric_motion(q, qd, np.cos(t + phase), np.sin(t + phase)) if two else numeric_motion(q, qd, qdd)

    step = 1e-3
    for two in (False, True):
        W = {k: lagrange.momentum(mech, motion(0.4 + k * step, two=two)).astype(float) for k in (-2, -1, 1, 2)}
        rate = (8 * (W[1] - W[-1]) - (W[2] - W[-2])) / (12 * step)
        now = motion(0.4, two=two)
        # The truncation error is step⁴ times a fifth derivative, in which frequencies up to 7 are raised to the fifth.
        assert close(rate, lagrange.momentum_rate(mech, now), 1e-6)
        assert close(rate + lagrange.remainder(mech, now).astype(float), newton_euler.regressor(mech, now), 1e-6)
        assert not close(rate - lagrange.remainder(mech, now).astype(float), newton_euler.regressor(mech, now), 1e-6)


@pytest.mark.parametrize("name", ["stanford", "panda.urdf", "lu-two-link"])
def test_momentum_is_the_gradient_of_kinetic_energy(name: str) -> None:
    mech = build_mechanism(load(name))
    theta = link_parameters(mech)
    q, qd, qdd, v = state(mech.joints)

    def energy(velocity: np.ndarray) -> float:
        return float(rigid_body.kinetic_energy(mech, numeric_motion(q, velocity, qdd), theta))

    units = np.eye(mech.joints)  # T is quadratic in qd, so central differences are exact for any step
    slope = np.array([(energy(qd + u) - energy(qd - u)) / 2 for u in units])
    W = lagrange.momentum(mech, numeric_motion(q, qd, qdd)).astype(float)
    assert close(W @ theta, slope, 1e-9)
    assert not close(W @ (1.01 * theta), slope, 1e-9)
    two = lagrange.momentum(mech, numeric_motion(q, qd, qdd, v)).astype(float)
    assert close(two, lagrange.momentum(mech, numeric_motion(q, v, qdd)))


def test_momentum_and_remainder_do_not_depend_on_accelerations() -> None:
    mech = build_mechanism(load("stanford"))
    q, qd, qdd, v = state(mech.joints)
    for reference in (None, v):
        known, unknown = (numeric_motion(q, qd, a, reference) for a in (qdd, np.full(len(q), np.nan)))
        for function in (lagrange.momentum, lagrange.remainder):
            assert (function(mech, unknown) == function(mech, known)).all()


def test_regressor_is_linear_in_v_and_vd() -> None:
    mech = build_mechanism(fork())
    q, qd, vd, v = state(mech.joints)
    other = state(mech.joints, seed=1)

    def Y(v: np.ndarray, vd: np.ndarray) -> np.ndarray:
        return lagrange.regressor(replace(mech, gravity=0 * mech.gravity), numeric_motion(q, qd, vd, v)).astype(float)

    assert close(Y(v + 2 * other[3], vd + 2 * other[2]), Y(v, vd) + 2 * Y(other[3], other[2]))


@pytest.mark.parametrize("name", ["lu-puma4", "fork"])
def test_link_jacobian(name: str) -> None:
    """(24), (25): J qd is the velocity of the frame, by differences of its pose."""
    mech = build_mechanism(fork() if name == "fork" else load(name))
    q, qd, qdd, _ = state(mech.joints)
    step = 1e-6
    for i, body in enumerate(mech.bodies):
        ahead, behind = (compute_body_pose(mech, q + s * qd, i) for s in (step, -step))
        rate = (ahead - behind) / (2 * step)
        J = lagrange.link_jacobian(mech, numeric_motion(q, qd, qdd), body.name).astype(float)
        v, w = np.split(J @ qd, 2)
        assert close(rate[:3, 3], v, 1e-8)
        assert close(rate[:3, :3], np.cross(w, compute_body_pose(mech, q, i)[:3, :3].T).T, 1e-8)


def compute_body_pose(mech: Mechanism, q: np.ndarray, i: int) -> np.ndarray:
    T = np.eye(4)
    for k in mech.path(i):
        R, p = newton_euler.pose(mech.bodies[k], numeric_motion(q, 0 * q, 0 * q))
        step = np.eye(4)
        step[:3, :3], step[:3, 3] = R.astype(float), p.astype(float)
        T = T @ step
    return T


def test_the_traced_graph_equals_the_computed_regressor() -> None:
    mech = build_mechanism(load("stanford"))
    n = mech.joints
    numbers = state(n)
    symbols = [casadi.SX.sym(name, n) for name in ("q", "qd", "vd", "v")]
    Y = lagrange.regressor(mech, casadi_motion(*symbols))
    inputs = [(Input(str(k), n), symbol) for k, symbol in enumerate(symbols)]
    graph = trace("Y", inputs, Y)
    values = np.zeros(graph.size)
    values[list(graph.places)] = graph.function(*numbers).full().ravel()
    expected = lagrange.regressor(mech, numeric_motion(*numbers[:3], numbers[3]))
    assert close(values.reshape(graph.shape), expected)


# --- the example of section III-C and IV-C, symbolic ------------------------------------------------------------------

l1, l2, g = sympy.symbols("l1 l2 g", positive=True)
q1, q2, qd1, qd2, a1, a2 = sympy.symbols("q1 q2 qd1 qd2 qdd1 qdd2", real=True)
s1, c1, s2, c2 = sympy.sin(q1), sympy.cos(q1), sympy.sin(q2), sympy.cos(q2)
s12, c12 = sympy.sin(q1 + q2), sympy.cos(q1 + q2)
# β of section IV-C. All accelerations below are printed with one dot.
B1 = l1 * s2 * a1 - l1 * c2 * qd1**2 + s12 * g - l2 * (qd1 + qd2) ** 2
B2 = l1 * c2 * a1 + l1 * s2 * qd1**2 + c12 * g + l2 * (a1 + a2)


@pytest.fixture(scope="module")
def arm() -> Mechanism:
    return with_symbols(build_mechanism(ytheta.load("lu-two-link")))


@pytest.fixture(scope="module")
def motion() -> Motion:
    return sympy_motion(2)


def reduce_load_columns(ten: np.ndarray) -> sympy.Matrix:
    """The load's columns of (m3, m3 px, m3 px², Izz) (62), from those of its ten parameters."""
    return sympy.Matrix(ten[:, 20:30]) * sympy.Matrix(sixteen.L[:, [0, 1, 4, 12]].astype(int))


Y3 = sympy.Matrix(
    [
        [
            (l1**2 + 2 * l1 * l2 * c2 + l2**2) * a1 + l2 * (l1 * c2 + l2) * a2  # c2 is missing in print
            - l1 * l2 * s2 * qd2 * (2 * qd1 + qd2) + (l1 * c1 + l2 * c12) * g,
            2 * (l1 * c2 + l2) * a1 + (l1 * c2 + 2 * l2) * a2 - l1 * s2 * qd2 * (2 * qd1 + qd2) + c12 * g,
            a1 + a2, a1 + a2,
        ],
        [
            l2 * (l1 * c2 + l2) * a1 + l2**2 * a2 + l1 * l2 * s2 * qd1**2 + l2 * c12 * g,
            (l1 * c2 + 2 * l2) * a1 + 2 * l2 * a2 + l1 * s2 * qd1**2 + c12 * g,  # 2 l2² in print
            a1 + a2, a1 + a2,
        ],
    ]
)  # fmt: skip


def test_jacobians_of_the_example(arm: Mechanism, motion: Motion) -> None:
    """(60) and the Jacobian of the load's frame."""
    J1, J2, J3 = (lagrange.link_jacobian(arm, motion, name) for name in ("link1", "link2", "load"))
    assert identical(J1[:3], sympy.zeros(3, 2))
    assert identical(J2[:3], [[-l1 * s1, 0], [l1 * c1, 0], [0, 0]])
    assert identical(J3[:3], [[-l1 * s1 - l2 * s12, -l2 * s12], [l1 * c1 + l2 * c12, l2 * c12], [0, 0]])
    assert identical(J3[3:], [[0, 0], [0, 0], [1, 1]])


def test_momentum_of_the_example(arm: Mechanism, motion: Motion) -> None:
    """W_1 by (52) and W_2 by (29)."""
    coupling = l2**2 + l1 * l2 * c2
    W1 = [
        [
            (l1**2 + l2**2 + 2 * l1 * l2 * c2) * qd1 + coupling * qd2,
            2 * (l1 * c2 + l2) * qd1 + (l1 * c2 + 2 * l2) * qd2,
            qd1 + qd2,
        ],
        [coupling * qd1 + l2**2 * qd2, (l1 * c2 + 2 * l2) * qd1 + 2 * l2 * qd2, qd1 + qd2],
    ]
    W = lagrange.momentum(arm, motion)
    assert identical(reduce_load_columns(W)[:, :3], W1)
    inertia = sympy.Matrix(W[:, 20:30]) * sympy.Matrix(sixteen.L[:, 10:16].astype(int))
    assert identical(inertia[:, :3], [[0, 0, qd1 + qd2], [0, 0, qd1 + qd2]])


def test_remainder_of_the_example(arm: Mechanism, motion: Motion) -> None:
    """Y_11 + Y_31, y_121 + y_321, y_141 by (34), (45), (56)-(59); Y_2 = 0 by (42)."""
    swing = l1 * s2 * qd1 * (qd1 + qd2)
    first = [(l1 * c1 + l2 * c12) * g, l2 * swing + l2 * c12 * g]
    second = [c12 * g, swing + c12 * g]
    rest = reduce_load_columns(lagrange.remainder(arm, motion))
    assert identical(rest, [[first[0], second[0], 0, 0], [first[1], second[1], 0, 0]])
    # The sign of (57) as printed contradicts the paper's own example.
    assert not identical(rest[:, 1], [-c12 * g, swing - c12 * g])


def test_regressor_of_the_example(arm: Mechanism, motion: Motion) -> None:
    """(63), (64) and their union (65), which is (61)."""
    Y = lagrange.regressor(arm, motion)
    assert identical(reduce_load_columns(Y), Y3)
    assert identical(Y[:, 0:1], [[0], [0]])
    assert identical(Y[:, 10:11], [[l1**2 * a1 + l1 * c1 * g], [0]])
    columns = lagrange.principal_axes_columns(arm, motion, "load", center="x")
    assert identical(columns[:, [0, 1, 2, 5]], Y3)
    assert identical(columns[:, [3, 4]], sympy.zeros(2, 2))
    assert identical(lagrange.point_mass_columns(arm, motion, "link2")[:, :1], [[l1**2 * a1 + l1 * c1 * g], [0]])


def test_the_misprints_of_the_example_are_misprints(arm: Mechanism, motion: Motion) -> None:
    ours = reduce_load_columns(lagrange.regressor(arm, motion))
    one_dot = Y3.subs({a1: qd1, a2: qd2})
    no_c2 = Y3 + sympy.Matrix([[2 * l1 * l2 * (1 - c2) * a1, 0, 0, 0], [0, 0, 0, 0]])
    l2_squared = Y3 + sympy.Matrix([[0, 0, 0, 0], [0, 2 * l2**2 * a2 - 2 * l2 * a2, 0, 0]])
    for printed in (one_dot, no_c2, l2_squared):
        assert not identical(ours, printed)


def test_conventional_approach_of_the_example(arm: Mechanism, motion: Motion) -> None:
    """(61) from H, C and G: row 1 is h11 qdd1 + h12 qdd2, row 2 is h12 qdd1 + h22 qdd2."""
    h11 = sympy.Matrix([[l1**2, l1**2 + 2 * l1 * l2 * c2 + l2**2, 2 * (l1 * c2 + l2), 1, 1]])
    h12 = sympy.Matrix([[0, l2**2 + l1 * l2 * c2, l1 * c2 + 2 * l2, 1, 1]])
    h22 = sympy.Matrix([[0, l2**2, 2 * l2, 1, 1]])
    swing = -s2 * qd2 * (2 * qd1 + qd2)
    Yc = sympy.Matrix([[0, l1 * l2 * swing, l1 * swing, 0, 0], [0, l1 * l2 * s2 * qd1**2, l1 * s2 * qd1**2, 0, 0]])
    YG = sympy.Matrix([[l1 * c1 * g, (l1 * c1 + l2 * c12) * g, c12 * g, 0, 0], [0, l2 * c12 * g, c12 * g, 0, 0]])
    Y = lagrange.regressor(arm, motion)
    ours = sympy.Matrix(Y[:, 10:11]).row_join(reduce_load_columns(Y))
    assert identical(ours, (h11 * a1 + h12 * a2).col_join(h12 * a1 + h22 * a2) + Yc + YG)
    assert not identical(ours, (h11 * a1 + h12 * a2).col_join(h12 * a1 + h11 * a2) + Yc + YG)  # h11 as printed


def test_newton_euler_example(arm: Mechanism, motion: Motion) -> None:
    """Section IV-C: A tilde and Pi tilde of link 2 and load as printed (with two dots), and the rows of Y."""
    turn, bend = (qd1 + qd2) ** 2, a1 + a2
    # Columns (m2, m3, m3 px, m3 px², Izz); the paper has one more in front for m1, which is zero.
    A3 = sympy.Matrix([[0, B1, -turn, 0, 0], [0, B2, bend, 0, 0], [0, 0, 0, 0, 0]])
    Pi3 = sympy.zeros(2, 5).col_join(sympy.Matrix([[0, 0, B2, bend, bend]]))
    p32 = l1**2 * a1 + l1 * c1 * g
    p33 = l1 * (s2 * B1 + c2 * B2) + l2 * B2
    p34 = (l2 + l1 * c2) * bend - l1 * s2 * turn + B2
    printed = sympy.Matrix([[p32, p33, p34, bend, bend], [0, l2 * B2, l2 * bend + B2, bend, bend]])
    link1, link2, load = inward_newton_euler.compute_columns(arm, motion)
    assert identical(select_columns(load, 0), A3)
    assert identical(select_columns(load, 1), Pi3)
    # In the paper, row 2 of Pi_2 has an entry -(qd1 + qd2), and beta_2 is missing below it.
    assert identical(select_columns(link2, 1), sympy.zeros(2, 5).col_join(printed[1, :]))
    assert identical(select_columns(link1, 1)[2, :], printed[0, :])
    for formulation in (lagrange.regressor, newton_euler.regressor, inward_newton_euler.regressor):
        Y = formulation(arm, motion)
        ours = sympy.Matrix(Y[:, 10:11]).row_join(reduce_load_columns(Y))
        assert identical(ours, printed)
        assert not identical(ours, printed.subs(g, -g))


def select_columns(blocks: dict[int, inward_newton_euler.LinkColumns], part: int) -> sympy.Matrix:
    """The columns (m2, m3, m3 px, m3 px², Izz) of A tilde (part 0) or Pi tilde (part 1) of a body."""
    zero = np.zeros((3, 16), dtype=int), np.zeros((3, 16), dtype=int)
    link2, load = (blocks.get(link, zero)[part] for link in (1, 2))
    return sympy.Matrix(np.concatenate([link2[:, :1], load[:, [0, 1, 4, 12]]], axis=1))
