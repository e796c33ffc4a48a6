"""Computed torque: its formula, its linear error dynamics, and its Lyapunov function."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.control_loop import constant, simulate_continuous, sines
from tests.support.control_samples import TORQUE_TOLERANCE, evaluate_law, random_sample
from tests.support.lyapunov import REFERENCE, never_grows, two_link_arm
from tests.support.pinocchio_peer import peer
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.errors import InputError


def test_torque_is_the_formula_with_pinocchio() -> None:
    robot = ytheta.load("ur10")
    pinocchio, s = peer(robot), random_sample(robot, 5)
    law = ComputedTorque(robot, stiffness=s.Lambda, damping=s.K)
    tau, _ = evaluate_law(law, s, np.zeros(0))
    qdd = s.reference.qdd - s.K @ s.ed - s.Lambda @ s.e
    np.testing.assert_allclose(tau, pinocchio.torque(s.q, s.qd, qdd), **TORQUE_TOLERANCE)


def test_error_dynamics_are_linear() -> None:
    """The closed form of a critically damped error is the oracle; half the damping is its twin."""
    robot = ytheta.load("lu-two-link")
    law = ComputedTorque(robot, stiffness=25.0, damping=10.0)
    reference = sines(0.5, [2.0, 3.0], [0.3, -0.4])
    run = simulate_continuous(law, reference, plant=robot, seconds=2.0, offset=0.2)
    expected = 0.2 * (1.0 + 5.0 * run.t) * np.exp(-5.0 * run.t)
    np.testing.assert_allclose(run.error, np.stack([expected] * 2, axis=1), rtol=0.0, atol=1e-8)
    softer = ComputedTorque(robot, stiffness=25.0, damping=5.0)
    twin = simulate_continuous(softer, reference, plant=robot, seconds=2.0, offset=0.2)
    assert abs(twin.error - expected[:, None]).max() > 1e-2


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3])
def test_settling_time_is_that_of_the_closed_form(tolerance: float) -> None:
    robot = ytheta.load("lu-two-link")
    law = ComputedTorque(robot, stiffness=100.0, damping=20.0)
    run = simulate_continuous(law, constant([0.3, 0.2]), plant=robot, seconds=2.0, offset=0.2, points=2001)
    expected = 0.2 * (1.0 + 10.0 * run.t) * np.exp(-10.0 * run.t)
    assert run.settling_time(tolerance) == pytest.approx(float(run.t[np.argmax(expected < tolerance)]), abs=2e-3)


def test_lyapunov_function_falls() -> None:
    robot = two_link_arm()
    law = ComputedTorque(robot, stiffness=20.0, damping=8.0)
    assert never_grows(simulate_continuous(law, REFERENCE, plant=robot, seconds=2.0))


def test_gains_of_wrong_size_are_refused() -> None:
    with pytest.raises(InputError, match=r"stiffness has shape \(1,\)"):
        ComputedTorque(two_link_arm(), stiffness=[1.0], damping=1.0)
