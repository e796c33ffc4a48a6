"""Slotine–Li: the law compared with its formula, and the rate of its Lyapunov function."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.control_loop import simulate_continuous
from tests.support.control_samples import (
    TORQUE_TOLERANCE,
    add_friction,
    evaluate_law,
    perturb,
    random_positive_definite,
    random_sample,
)
from tests.support.lyapunov import INITIAL_ESTIMATE, REFERENCE, UNKNOWNS, balance_error, never_grows, two_link_arm
from ytheta.control.controller import Reference
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.dynamics import kernels
from ytheta.robot.parameters import find_absent_parameters
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

CATALOG = ("ha-scara", "iiwa14", "palletiser", "panda", "puma560-mdh", "puma560", "rx90", "stanford", "walker")
ROBOTS = ("lu-two-link", "lu-puma4", "ur10", "five-bar")


@cache
def load_with_friction(name: str) -> Robot:
    return add_friction(ytheta.load(name))


def remove_drives(robot: Robot) -> Robot:
    loops = [replace(loop, joint=replace(loop.joint, drive=Drive())) for loop in robot.loops]
    return replace(robot, joints=tuple(replace(j, drive=Drive()) for j in robot.joints), loops=tuple(loops))


@pytest.mark.parametrize("name", ROBOTS)
def test_torque_is_the_formula_with_M_C_and_g(name: str) -> None:
    """(28) with separate kernels. Friction is computed here for serial arms, whose drives move with the joints."""
    robot = load_with_friction(name)
    robot = remove_drives(robot) if robot.loops else robot
    s = random_sample(robot)
    law = SlotineLi(robot, convergence=s.Lambda, damping=s.K, adaptation=1.0)
    tau, _ = evaluate_law(law, s, law.init(s.q, s.qd).x)
    v, vd = s.reference.qd - s.Lambda @ s.e, s.reference.qdd - s.Lambda @ s.ed
    M, C = kernels.mass_matrix(robot).one(s.q), kernels.coriolis_matrix(robot).one(s.q, s.qd)
    friction = np.zeros(len(s.q))
    if not robot.loops:
        drives = [drive for _, drive in robot.drives]
        smooth_sign = s.qd / np.sqrt(s.qd**2 + 0.05**2)
        friction = np.array([d.viscous for d in drives]) * v + 0.3 * smooth_sign + 0.1
    expected = M @ vd + C @ v + kernels.gravity(robot).one(s.q) + friction - s.K @ (s.qd - v)
    np.testing.assert_allclose(tau, expected, **TORQUE_TOLERANCE)
    assert abs(tau - (expected + C @ (s.qd - v))).max() > 1e-3  # the twin has C qd


@pytest.mark.parametrize("name", ROBOTS + CATALOG)
def test_torque_and_rate_are_the_formulas_with_the_regressor(name: str) -> None:
    """(31) and (32) with a wrong estimate; friction is among the unknown parameters."""
    robot = load_with_friction(name)
    s = random_sample(robot, 2)
    endings = (".m", ".mx", ".Izz", ".Ia", ".fv", ".fc", ".fo")
    absent = find_absent_parameters(robot)  # rotors of joints without actuators
    learn = tuple(n for n in robot.parameter_names if n.endswith(endings) and n not in absent)
    Gamma = random_positive_definite(np.random.default_rng(3), len(learn))
    law = SlotineLi(robot, convergence=s.Lambda, damping=s.K, adaptation=Gamma, learn=learn)
    assert law.unknown_names == learn
    x = perturb(law.init(s.q, s.qd).x)
    tau, rate = evaluate_law(law, s, x)
    v, vd = s.reference.qd - s.Lambda @ s.e, s.reference.qdd - s.Lambda @ s.ed
    columns = [robot.parameter_names.index(n) for n in learn]
    theta = robot.theta.copy()
    theta[columns] = x
    Y = kernels.regressor(robot, reference=True).one(s.q, s.qd, v, vd)
    np.testing.assert_allclose(tau, Y @ theta - s.K @ (s.qd - v), **TORQUE_TOLERANCE)
    expected = -Gamma @ Y[:, columns].T @ (s.qd - v)
    scale = float(abs(expected).max())
    np.testing.assert_allclose(rate, expected, rtol=1e-9, atol=1e-11 * scale)
    assert abs(rate - expected[::-1]).max() > 1e-3 * scale  # the twin has its columns in reverse order


@pytest.mark.parametrize("friction", [False, True])
def test_lyapunov_function_falls_at_the_proven_rate(friction: bool) -> None:
    """dV/dt = -rᵀ (K_D + F_v) r, also with unknown friction. With 10 % less dissipation, the balance does not hold."""
    robot, learn = two_link_arm(friction=friction), UNKNOWNS + (("joint1.fv", "joint2.fc") if friction else ())
    Lambda, K = np.diag([4.0, 6.0]), np.array([[5.0, 1.0], [1.0, 3.0]])
    law = SlotineLi(robot, convergence=Lambda, damping=K, adaptation=2.0, learn=learn)
    F = np.diag([drive.viscous for _, drive in robot.drives])

    def power(_: float, q: np.ndarray, qd: np.ndarray, reference: Reference) -> float:
        r = qd - reference.qd + Lambda @ (q - reference.q)
        return float(r @ (K + F) @ r)

    estimate = np.concatenate([INITIAL_ESTIMATE, [0.0, 0.0]]) if friction else INITIAL_ESTIMATE
    run = simulate_continuous(law, REFERENCE, plant=robot, seconds=2.0, estimate=estimate, power=power)
    assert never_grows(run)
    assert balance_error(run) < 1e-7
    assert balance_error(replace(run, dissipated=run.dissipated * 0.9)) > 1e-3  # the twin
