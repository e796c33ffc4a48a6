"""Craig's law: its formula, the inverse of the estimated mass matrix, and the rate of its Lyapunov function."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.control_loop import simulate_continuous
from tests.support.control_samples import TORQUE_TOLERANCE, evaluate_law, random_sample
from tests.support.lyapunov import REFERENCE, UNKNOWNS, balance_error, never_grows, two_link_arm
from tests.support.pinocchio_peer import peer
from ytheta.control.controller import Reference
from ytheta.control.laws.craig import Craig
from ytheta.errors import InputError


def test_torque_and_rate_are_the_formulas_with_the_regressor() -> None:
    """H_hat is computed by steps 1 to 3 of lu1993, with Pinocchio's regressor and a wrong estimate."""
    robot = ytheta.load("ur10")
    pinocchio, s = peer(robot), random_sample(robot, 7)
    K_p, K_v, Psi = np.full(6, 90.0) + np.arange(6), np.full(6, 20.0), np.full(6, 8.0) - np.arange(6)
    law = Craig(robot, stiffness=K_p, damping=K_v, filtering=Psi, adaptation=3.0)
    x = law.init(s.q, s.qd).x * 1.1
    tau, rate = evaluate_law(law, s, x)
    bias = pinocchio.regressor(s.q, s.qd, np.zeros(6)) @ x
    H = np.stack([pinocchio.regressor(s.q, s.qd, unit) @ x - bias for unit in np.eye(6)], axis=1)
    qdd = s.reference.qdd - K_v * s.ed - K_p * s.e
    np.testing.assert_allclose(tau, H @ qdd + bias, **TORQUE_TOLERANCE)
    Y = pinocchio.regressor(s.q, s.qd, s.qdd)
    expected = -3.0 * Y.T @ np.linalg.solve(H, s.ed + Psi * s.e)
    np.testing.assert_allclose(rate, expected, rtol=1e-8, atol=1e-9 * float(abs(expected).max()))
    twin = -3.0 * Y.T @ (s.ed + Psi * s.e)
    assert abs(rate - twin).max() > 1e-2 * abs(expected).max()


def test_step_raises_if_the_estimated_mass_matrix_has_no_inverse() -> None:
    robot = ytheta.load("lu-two-link")
    law = Craig(robot, stiffness=25.0, damping=10.0, filtering=5.0, adaptation=1.0, learn=("load.m", "load.mx"))
    s = random_sample(robot, 8)
    evaluate_law(law, s, np.array([0.0, 0.0]))
    with pytest.raises(InputError, match=r"craig: at t = 1 the estimated mass matrix is not positive def.*load.m = -9"):
        evaluate_law(law, s, np.array([-9.0, 0.0]))


def test_lyapunov_function_falls_at_the_proven_rate() -> None:
    """dV/dt = -eᵀ K_p Psi e - edᵀ (K_v - Psi) ed with exact accelerations, also with unknown friction."""
    robot = two_link_arm(friction=True)
    law = Craig(robot, stiffness=49.0, damping=14.0, filtering=7.0, adaptation=0.02, learn=(*UNKNOWNS, "joint1.fv"))

    def power(_: float, q: np.ndarray, qd: np.ndarray, r: Reference) -> float:
        e, ed = q - r.q, qd - r.qd
        return float(49.0 * 7.0 * e @ e + (14.0 - 7.0) * ed @ ed)

    estimate = [1.8, 1.0, 0.15, 0.04, 0.0]
    run = simulate_continuous(law, REFERENCE, plant=robot, seconds=2.0, estimate=estimate, power=power)
    assert never_grows(run)
    assert balance_error(run) < 1e-7
    assert balance_error(replace(run, dissipated=run.dissipated * 0.9)) > 1e-3


def test_step_without_accelerations_is_refused() -> None:
    q, reference = np.zeros(2), Reference(np.zeros(2), np.zeros(2), np.zeros(2))
    law = Craig(two_link_arm(), stiffness=25.0, damping=10.0, filtering=5.0, adaptation=0.5)
    with pytest.raises(InputError, match="needs measured accelerations"):
        law.step(law.init(q, q), 0.0, q, q, reference)


def test_gains_without_a_proof_are_refused() -> None:
    with pytest.raises(InputError, match="damping 5 of 'joint1' is not greater than filtering 5"):
        Craig(two_link_arm(), stiffness=10.0, damping=5.0, filtering=5.0, adaptation=1.0)
    with pytest.raises(InputError, match="stiffness couples joints"):
        Craig(two_link_arm(), stiffness=np.eye(2) + 0.1, damping=5.0, filtering=1.0, adaptation=1.0)
