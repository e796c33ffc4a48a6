"""PD control with gravity compensation: its formula, and its Lyapunov function."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.control_loop import constant, simulate_continuous
from tests.support.control_samples import TORQUE_TOLERANCE, evaluate_law, random_sample
from tests.support.lyapunov import REFERENCE, never_grows, two_link_arm
from tests.support.pinocchio_peer import peer
from ytheta.control.laws.pd_gravity import PDGravity
from ytheta.errors import InputError


def test_torque_is_the_formula_with_pinocchio() -> None:
    robot, zeros = ytheta.load("ur10"), np.zeros(6)
    pinocchio, s = peer(robot), random_sample(robot, 5)
    law = PDGravity(robot, stiffness=s.Lambda, damping=s.K)
    tau, _ = evaluate_law(law, s, np.zeros(0))
    feedback = s.Lambda @ s.e + s.K @ s.ed
    np.testing.assert_allclose(tau, pinocchio.torque(s.q, zeros, zeros) - feedback, **TORQUE_TOLERANCE)
    assert abs(tau - pinocchio.torque(s.q, s.qd, zeros) + feedback).max() > 1e-3  # the twin


def test_lyapunov_function_falls_for_a_reference_at_rest() -> None:
    robot = two_link_arm()
    law = PDGravity(robot, stiffness=200.0, damping=30.0)
    at_rest = simulate_continuous(law, constant([0.4, -0.3]), plant=robot, seconds=3.0)
    assert never_grows(at_rest)
    assert abs(at_rest.error[-1]).max() < 1e-3
    moving = simulate_continuous(law, REFERENCE, plant=robot, seconds=2.0)
    assert not never_grows(moving)  # no proof for moving references


def test_gains_of_wrong_size_are_refused() -> None:
    with pytest.raises(InputError, match=r"stiffness has shape \(1,\)"):
        PDGravity(two_link_arm(), stiffness=[1.0], damping=1.0)
