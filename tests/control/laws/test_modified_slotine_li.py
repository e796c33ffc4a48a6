"""The modified Slotine–Li law and quasi-computed torque: their formulas, and the rate of their Lyapunov functions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import ytheta
from tests.support.control_loop import ContinuousRun, simulate_continuous, sines
from tests.support.control_samples import TORQUE_TOLERANCE, evaluate_law, random_sample
from tests.support.lyapunov import INITIAL_ESTIMATE, REFERENCE, UNKNOWNS, balance_error, never_grows, two_link_arm
from tests.support.pinocchio_peer import peer
from ytheta.control.controller import Reference
from ytheta.control.laws.modified_slotine_li import ModifiedSlotineLi, QuasiComputedTorque
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.dynamics import kernels


def test_modified_law_is_the_formula_with_pinocchio() -> None:
    """(92) with Pinocchio's inverse dynamics for qdd_r, and its regressor for the rates."""
    robot = ytheta.load("ur10")
    pinocchio, s = peer(robot), random_sample(robot, 5)
    law = ModifiedSlotineLi(robot, convergence=s.Lambda, damping=s.K, adaptation=2.0)
    tau, rate = evaluate_law(law, s, law.init(s.q, s.qd).x)
    sliding, qdd_r = s.ed + s.Lambda @ s.e, s.reference.qdd - s.Lambda @ s.ed
    np.testing.assert_allclose(tau, pinocchio.torque(s.q, s.qd, qdd_r) - s.K @ sliding, **TORQUE_TOLERANCE)
    np.testing.assert_allclose(rate, -2.0 * pinocchio.regressor(s.q, s.qd, qdd_r).T @ sliding, rtol=1e-9, atol=1e-7)


def test_quasi_computed_torque_is_the_formula_with_pinocchio() -> None:
    """(95) and (96) with Pinocchio's inverse dynamics for qdd*, and its regressor for the rates."""
    robot = ytheta.load("ur10")
    pinocchio, s = peer(robot), random_sample(robot, 5)
    law = QuasiComputedTorque(robot, convergence=7.0, adaptation=2.0)
    tau, rate = evaluate_law(law, s, law.init(s.q, s.qd).x)
    qdd = s.reference.qdd - 14.0 * s.ed - 49.0 * s.e
    np.testing.assert_allclose(tau, pinocchio.torque(s.q, s.qd, qdd), **TORQUE_TOLERANCE)
    expected = -2.0 * pinocchio.regressor(s.q, s.qd, qdd).T @ (s.ed + 7.0 * s.e)
    np.testing.assert_allclose(rate, expected, rtol=1e-9, atol=1e-7)
    printed = s.reference.qd - 14.0 * s.ed - 49.0 * s.e  # the twin: (96) as the scan prints it
    assert abs(tau - pinocchio.torque(s.q, s.qd, printed)).max() > 1e-2


def test_quasi_computed_torque_is_the_modified_law_with_the_mass_matrix_as_gain() -> None:
    """K = lambda H_hat in (88), at one pose, at which K is a constant matrix."""
    robot, lam = ytheta.load("lu-puma4"), 6.0
    s = random_sample(robot, 6)
    K = lam * kernels.mass_matrix(robot).one(s.q)
    quasi = QuasiComputedTorque(robot, convergence=lam, adaptation=1.0)
    modified = ModifiedSlotineLi(robot, convergence=lam, damping=K, adaptation=1.0)
    x = quasi.init(s.q, s.qd).x
    np.testing.assert_allclose(evaluate_law(quasi, s, x)[0], evaluate_law(modified, s, x)[0], **TORQUE_TOLERANCE)


def test_lyapunov_function_of_the_modified_law_falls_at_the_proven_rate() -> None:
    """(91): dV/dt = -sᵀ (K - C) s. The twin leaves C out."""
    robot, Lambda, K = two_link_arm(), 5.0, np.diag([30.0, 10.0])
    law = ModifiedSlotineLi(robot, convergence=Lambda, damping=K, adaptation=2.0, learn=UNKNOWNS)
    C = kernels.coriolis_matrix(robot)

    def simulate(share: float) -> ContinuousRun:
        def power(_: float, q: np.ndarray, qd: np.ndarray, r: Reference) -> float:
            s = qd - r.qd + Lambda * (q - r.q)
            return float(s @ (K - share * C.one(q, qd)) @ s)

        return simulate_continuous(law, REFERENCE, plant=robot, seconds=2.0, estimate=INITIAL_ESTIMATE, power=power)

    run = simulate(1.0)
    assert never_grows(run)
    assert balance_error(run) < 1e-7
    assert balance_error(simulate(0.0)) > 1e-5


def test_lyapunov_function_of_quasi_computed_torque_falls_at_the_proven_rate() -> None:
    """(93): dV/dt = -sᵀ (lambda H - C) s with the *true* H."""
    robot, lam = two_link_arm(), 15.0
    law = QuasiComputedTorque(robot, convergence=lam, adaptation=0.05, learn=UNKNOWNS)
    H, C = kernels.mass_matrix(robot), kernels.coriolis_matrix(robot)

    def power(_: float, q: np.ndarray, qd: np.ndarray, r: Reference) -> float:
        s = qd - r.qd + lam * (q - r.q)
        return float(s @ (lam * H.one(q) - C.one(q, qd)) @ s)

    run = simulate_continuous(law, REFERENCE, plant=robot, seconds=2.0, estimate=INITIAL_ESTIMATE, power=power)
    assert never_grows(run)
    assert balance_error(run) < 1e-7
    assert balance_error(replace(run, dissipated=run.dissipated * 0.9)) > 1e-3


def test_modified_law_has_no_proof_if_its_gain_is_too_small() -> None:
    """If K < C, V grows at times. The paper asks for a K that is large enough; the original law does not need this."""
    robot, fast = two_link_arm(), sines([1.5, 1.5], [9.0, 13.0], [0.3, -0.4])
    settings: dict[str, Any] = {"convergence": 1.0, "damping": 0.02, "adaptation": 1e-3, "learn": UNKNOWNS}
    modified, original = (
        simulate_continuous(law(robot, **settings), fast, plant=robot, seconds=1.0, estimate=INITIAL_ESTIMATE)
        for law in (ModifiedSlotineLi, SlotineLi)
    )
    assert not never_grows(modified)
    assert never_grows(original)
