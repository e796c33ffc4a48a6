"""Every law against its formula, with pieces from elsewhere: M, C and g, the regressors, Pinocchio; and its step."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.control_samples import TORQUE_TOLERANCE, answer, random_positive_definite, sample, shaken, add_friction
from tests.support.pinocchio_peer import peer
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi, QuasiComputedTorque
from ytheta.control.laws.pd_gravity import PDGravity
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.dynamics import kernels
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

CATALOG = ("ha-scara", "iiwa14", "palletiser", "panda", "puma560-mdh", "puma560", "rx90", "stanford", "walker")
ROBOTS = ("lu-two-link", "lu-puma4", "ur10", "five-bar")


@cache
def robot_of(name: str) -> Robot:
    return add_friction(ytheta.load(name))


def without_friction(robot: Robot) -> Robot:
    loops = [replace(loop, joint=replace(loop.joint, drive=Drive())) for loop in robot.loops]
    return replace(robot, joints=tuple(replace(j, drive=Drive()) for j in robot.joints), loops=tuple(loops))


@pytest.mark.parametrize("name", ROBOTS)
def test_slotine_li_is_its_formula_with_M_C_and_g(name: str) -> None:
    """(28) with separate kernels; friction of v is written out here for arms, where rates of drives are those of q."""
    robot = robot_of(name)
    robot = without_friction(robot) if robot.loops else robot
    s = sample(robot)
    law = SlotineLi(robot, convergence=s.Lambda, damping=s.K, adaptation=1.0)
    tau, _ = answer(law, s, law.init(s.q, s.qd).x)
    v, vd = s.reference.qd - s.Lambda @ s.e, s.reference.qdd - s.Lambda @ s.ed
    M, C = kernels.mass_matrix(robot).one(s.q), kernels.coriolis_matrix(robot).one(s.q, s.qd)
    friction = np.zeros(len(s.q))
    if not robot.loops:
        drives = [drive for _, drive in robot.drives]
        smooth = s.qd / np.sqrt(s.qd**2 + 0.05**2)
        friction = np.array([d.viscous for d in drives]) * v + 0.3 * smooth + 0.1
    expected = M @ vd + C @ v + kernels.gravity(robot).one(s.q) + friction - s.K @ (s.qd - v)
    np.testing.assert_allclose(tau, expected, **TORQUE_TOLERANCE)
    assert abs(tau - (expected + C @ (s.qd - v))).max() > 1e-3  # the twin has C qd


@pytest.mark.parametrize("name", ROBOTS + CATALOG)
def test_slotine_li_is_its_formula_with_the_regressor(name: str) -> None:
    """(31) and (32) with an estimate that is wrong, friction among the unknown."""
    robot = robot_of(name)
    s = sample(robot, 2)
    learn = tuple(n for n in robot.parameter_names if n.endswith((".m", ".mx", ".Izz", ".Ia", ".fv", ".fc", ".fo")))
    Gamma = random_positive_definite(np.random.default_rng(3), len(learn))
    law = SlotineLi(robot, convergence=s.Lambda, damping=s.K, adaptation=Gamma, learn=learn)
    assert law.unknown_names == learn
    x = shaken(law.init(s.q, s.qd).x)
    tau, rate = answer(law, s, x)
    v, vd = s.reference.qd - s.Lambda @ s.e, s.reference.qdd - s.Lambda @ s.ed
    places = [robot.parameter_names.index(n) for n in learn]
    theta = robot.theta.copy()
    theta[places] = x
    Y = kernels.regressor(robot, reference=True).one(s.q, s.qd, v, vd)
    np.testing.assert_allclose(tau, Y @ theta - s.K @ (s.qd - v), **TORQUE_TOLERANCE)
    expected = -Gamma @ Y[:, places].T @ (s.qd - v)
    scale = float(abs(expected).max())
    np.testing.assert_allclose(rate, expected, rtol=1e-9, atol=1e-11 * scale)
    assert abs(rate - expected[::-1]).max() > 1e-3 * scale  # the twin has its columns the wrong way round


@pytest.mark.parametrize("name", ROBOTS + CATALOG)
def test_base_parameters_do_what_standard_ones_do(name: str) -> None:
    robot = robot_of(name)
    base, s = base_parameters(robot), sample(robot, 4)
    standard, minimal = (SlotineLi(robot, b, convergence=4.0, damping=2.0, adaptation=1.0) for b in (None, base))
    theta = robot.theta.copy()
    places = list(standard.unknowns.indices)
    theta[places] = shaken(theta[places])
    beta = base.K @ theta
    tau, rate = answer(standard, s, theta[places])
    base_tau, base_rate = answer(minimal, s, beta)
    np.testing.assert_allclose(base_tau, tau, **TORQUE_TOLERANCE)
    heads = [standard.unknown_names.index(n) for n in minimal.unknown_names]
    np.testing.assert_allclose(base_rate, rate[heads], rtol=1e-9, atol=1e-9 * float(abs(rate).max()))
    assert abs(answer(minimal, s, 1.1 * beta)[0] - tau).max() > 1e-3  # the twin


def test_the_ordinary_laws_are_pinocchios() -> None:
    """(92), (95), (96): Pinocchio's inverse dynamics for qdd_r and qdd*, its regressor for the rates."""
    robot = ytheta.load("ur10")
    other, s = peer(robot), sample(robot, 5)
    law = ModifiedSlotineLi(robot, convergence=s.Lambda, damping=s.K, adaptation=2.0)
    tau, rate = answer(law, s, law.init(s.q, s.qd).x)
    sliding, qdd_r = s.ed + s.Lambda @ s.e, s.reference.qdd - s.Lambda @ s.ed
    np.testing.assert_allclose(tau, other.torque(s.q, s.qd, qdd_r) - s.K @ sliding, **TORQUE_TOLERANCE)
    np.testing.assert_allclose(rate, -2.0 * other.regressor(s.q, s.qd, qdd_r).T @ sliding, rtol=1e-9, atol=1e-7)

    quasi = QuasiComputedTorque(robot, convergence=7.0, adaptation=2.0)
    tau, rate = answer(quasi, s, quasi.init(s.q, s.qd).x)
    wanted = s.reference.qdd - 14.0 * s.ed - 49.0 * s.e
    np.testing.assert_allclose(tau, other.torque(s.q, s.qd, wanted), **TORQUE_TOLERANCE)
    expected = -2.0 * other.regressor(s.q, s.qd, wanted).T @ (s.ed + 7.0 * s.e)
    np.testing.assert_allclose(rate, expected, rtol=1e-9, atol=1e-7)
    printed = s.reference.qd - 14.0 * s.ed - 49.0 * s.e  # the twin: (96) as the scan has it
    assert abs(tau - other.torque(s.q, s.qd, printed)).max() > 1e-2

    computed = ComputedTorque(robot, stiffness=s.Lambda, damping=s.K)
    tau, _ = answer(computed, s, np.zeros(0))
    wanted = s.reference.qdd - s.K @ s.ed - s.Lambda @ s.e
    np.testing.assert_allclose(tau, other.torque(s.q, s.qd, wanted), **TORQUE_TOLERANCE)

    held = PDGravity(robot, stiffness=s.Lambda, damping=s.K)
    tau, _ = answer(held, s, np.zeros(0))
    still = np.zeros(6)
    np.testing.assert_allclose(tau, other.torque(s.q, still, still) - s.Lambda @ s.e - s.K @ s.ed, **TORQUE_TOLERANCE)
    assert abs(tau - other.torque(s.q, s.qd, still) + s.Lambda @ s.e + s.K @ s.ed).max() > 1e-3  # the twin


def test_quasi_computed_torque_is_the_modified_law_with_its_own_mass_matrix_as_gain() -> None:
    """K = lambda H_hat in (88), at one pose where it is a number."""
    robot, lam = ytheta.load("lu-puma4"), 6.0
    s = sample(robot, 6)
    K = lam * kernels.mass_matrix(robot).one(s.q)
    one = QuasiComputedTorque(robot, convergence=lam, adaptation=1.0)
    other = ModifiedSlotineLi(robot, convergence=lam, damping=K, adaptation=1.0)
    x = one.init(s.q, s.qd).x
    np.testing.assert_allclose(answer(one, s, x)[0], answer(other, s, x)[0], **TORQUE_TOLERANCE)
