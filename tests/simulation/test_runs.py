"""Logs of simulated runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.control_samples import add_friction
from tests.support.simulate_cases import PUMA, make_puma_loop, sample_starts, swing
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.errors import InputError


def test_a_log_contains_the_torques_of_its_motion() -> None:
    loop = make_puma_loop()
    q, qd = sample_starts(PUMA, 2)
    runs = loop.run(loop.init(q, qd), swing(PUMA), 0.5, every=1)
    log = runs.log(1)
    assert (len(log), log.joints) == (500, PUMA.actuated)
    assert log.rate == pytest.approx(1000.0)
    assert log.qd is not None
    qdd = np.gradient(log.qd, log.t, axis=0)
    tau = yt.inverse_dynamics(PUMA)(log.q, log.qd, qdd)
    assert log.tau is not None
    middle = slice(20, -20)
    assert np.abs(tau - log.tau)[middle].max() < 2e-3 * np.abs(log.tau).max()
    assert np.abs(tau - runs.tau[1])[middle].max() > 4e-3 * np.abs(log.tau).max()  # the commanded torque acts later
    with pytest.raises(InputError, match="no run 2"):
        runs.log(2)


def test_the_torque_of_a_log_belongs_to_its_time() -> None:
    """A commanded torque, the twin, is held for a period of 1 ms, and so belongs to the motion half a period later."""
    robot = add_friction(yt.load("lu-puma4"))
    law = ComputedTorque(robot, stiffness=200.0, damping=30.0)
    simulation = yt.simulate(robot, law, seconds=10.0, every=2)
    log = simulation.log()
    assert log.tau is not None
    fit = yt.identify(robot, log, estimator="weighted", friction=("viscous", "coulomb"))
    commanded_log = replace(log, tau=simulation.runs.tau[0])
    commanded = yt.identify(robot, commanded_log, estimator="weighted", friction=("viscous", "coulomb"))
    assert isinstance(fit.base, yt.BaseParameters)
    truth = fit.base.K @ robot.theta
    large = abs(truth) > 0.05
    assert float(np.median(abs(fit.beta[large] / truth[large] - 1.0))) < 2e-4
    assert fit.origin.torque_delay.value == 0.0
    assert commanded.origin.torque_delay.value == pytest.approx(-0.5e-3, rel=0.05)
