"""Inertia constants: torques do not change if the constants that a body passes on belong to its parent."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given, settings

import ytheta
from tests.support.formulation_cases import fork, load
from tests.support.random_robots import robots
from ytheta.dynamics.formulations import newton_euler
from ytheta.dynamics.formulations.composite_bodies import (
    Constants,
    compute_inertia_constants,
    compute_joint_frames,
    link_in_joint,
    pass_to_parent,
)
from ytheta.dynamics.mechanism import PER_LINK, Body, Mechanism, build_mechanism, numeric_motion
from ytheta.robot.robot import Robot


def to_link_parameters(constants: Constants, body: Body) -> np.ndarray:
    """Constants in a body's joint frame as the ten parameters of its link."""
    S, s = link_in_joint(body)
    in_link = constants.seen_from(S.T, -(S.T @ s))
    entries = [in_link.U[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    return np.array([in_link.m[0], *in_link.k, *entries], dtype=float)


def make_transferable_constants(body: Body) -> Constants:
    """Constants that a joint passes on completely: symmetric about a revolute axis, massless on a prismatic joint."""
    m, k, U = 2.0, [0.0, 0.0, 0.3], np.diag([0.7, 0.7, 0.4])
    if body.prismatic:
        m, k = 0.0, [0.0, 0.0, 0.0]
    if body.joint is None or body.prismatic:
        U = U + np.array([[0.1, 0.2, 0.3], [0.2, -0.1, 0.05], [0.3, 0.05, 0.0]])
    return Constants(np.array([m], dtype=object), np.array(k, dtype=object), U.astype(object))


def compute_torques(arm: Mechanism, theta: np.ndarray, resting: int | None) -> np.ndarray:
    """The torques of all joints but one, which is at rest."""
    q, qd, qdd = np.random.default_rng(1).uniform(-1.5, 1.5, (3, arm.joints))
    others = [k for k in range(arm.joints) if k != resting]
    if resting is not None:
        qd[resting] = qdd[resting] = 0.0
    Y = newton_euler.regressor(arm, numeric_motion(q, qd, qdd)).astype(float)
    return np.array(Y[others] @ theta)


def gives_same_torques_on_parent(arm: Mechanism, child: int, error: float = 0.0) -> bool:
    """Whether the constants of a body and those that it passes to its parent give the same torques."""
    body = arm.bodies[child]
    if body.parent is None:
        return True
    constants = make_transferable_constants(body)
    passed = pass_to_parent(body, constants, *compute_joint_frames(arm)[child])
    passed = Constants(passed.m, passed.k + error, passed.U)
    with_child, with_parent = np.zeros((2, len(arm.bodies), PER_LINK))
    with_child[child] = to_link_parameters(constants, body)
    with_parent[body.parent] = to_link_parameters(passed, arm.bodies[body.parent])
    before, after = (compute_torques(arm, theta.ravel(), body.joint) for theta in (with_child, with_parent))
    return bool(np.allclose(before, after, rtol=0.0, atol=1e-10 * max(1.0, float(np.abs(before).max(initial=0.0)))))


@pytest.mark.parametrize("name", ["stanford", "puma560", "kinova.urdf"])
def test_constants_passed_on_belong_to_the_parent(name: str) -> None:
    arm = build_mechanism(load(name))
    assert all(gives_same_torques_on_parent(arm, child) for child in range(len(arm.bodies)))
    assert not gives_same_torques_on_parent(arm, len(arm.bodies) - 1, error=1e-6)  # the twin


@given(robots(loops=False, symbols=False))
@settings(max_examples=12)
def test_constants_passed_on_belong_to_the_parent_in_random_trees(robot: Robot) -> None:
    arm = build_mechanism(robot)
    assert all(gives_same_torques_on_parent(arm, child) for child in range(len(arm.bodies)))


def test_masses_behind_a_joint_add_up() -> None:
    arm = build_mechanism(fork())
    masses = np.array([link.inertia.mass for link in arm.robot.links[1:]])
    theta = np.concatenate([link.inertia.vector for link in arm.robot.links[1:]]).astype(object)
    trunk, slider, swing, held = (float(constants.m[0]) for constants in compute_inertia_constants(arm, theta))
    assert (trunk, slider, swing, held) == pytest.approx((masses.sum(), masses[1], masses[2:].sum(), masses[3]))


def test_the_formulas_of_a_two_link_arm() -> None:
    """(10) and (12) by hand; l1 is the distance to the elbow, l2 to the load."""
    robot = ytheta.load("lu-two-link")
    l1, l2 = sympy.symbols("l1 l2")
    arm = build_mechanism(robot, lengths={"l1": l1, "l2": l2})
    symbols = sympy.symbols([f"{link}_{k}" for link in ("a", "b", "c") for k in range(PER_LINK)])
    first, second, _ = compute_inertia_constants(arm, np.array(symbols, dtype=object))
    a, b, c = (symbols[PER_LINK * k : PER_LINK * (k + 1)] for k in range(3))
    zz = b[9] + c[9] + 2 * l2 * c[1] + l2**2 * c[0]
    assert sympy.expand(second.U[2, 2] - zz) == 0
    assert sympy.expand(first.U[2, 2] - (a[9] + zz + l1**2 * (b[0] + c[0]))) == 0
    assert sympy.expand(first.k[0] - (a[1] + l1 * (b[0] + c[0]))) == 0
    assert sympy.expand(second.k[0] - (b[1] + c[1] + l2 * c[0])) == 0
    assert sympy.expand(first.k[1] - a[2]) == 0
