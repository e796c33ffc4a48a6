"""Results of a simulation: tracking and parameter errors, true values, and the Lyapunov function."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta as yt
from tests.support.simulate_cases import LEARN, PUMA, simulate_varied_puma, swing
from ytheta.control.controller import Reference, State
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.simulation.variation import Variation, grasp


def test_errors_follow_their_definitions() -> None:
    simulation = simulate_varied_puma(3)
    columns = [PUMA.parameter_names.index(name) for name in LEARN]
    np.testing.assert_array_equal(simulation.truth, simulation.theta[:, columns])
    expected = np.linalg.norm(simulation.runs.final_estimate - simulation.truth, axis=1) / np.linalg.norm(
        simulation.truth, axis=1
    )
    np.testing.assert_allclose(simulation.parameter_error, expected, rtol=1e-14)
    initial_estimate, size = simulation.runs.controller_state[:, 0, :2], np.linalg.norm(simulation.truth, axis=1)
    first = np.linalg.norm(initial_estimate - simulation.truth, axis=1) / size
    np.testing.assert_allclose(simulation.initial_parameter_error, first, rtol=1e-14)
    assert abs(first - expected).min() > 0.01
    q, _, _ = swing(PUMA)(simulation.runs.t)
    late = simulation.runs.t >= 0.8
    last = np.sqrt(np.mean((simulation.runs.q - q)[:, late] ** 2, axis=1))
    np.testing.assert_allclose(simulation.last_rms, last, rtol=1e-12)


def test_base_parameters_are_compared_with_the_truth_of_each_run() -> None:
    robot = yt.load("lu-puma4")
    base = yt.base_parameters(robot)
    law = SlotineLi(robot, base, convergence=10.0, damping=8.0, adaptation=0.5)
    simulation = yt.simulate(robot, law, seconds=0.5, reference=swing(robot), runs=3, variation=Variation(spread=20.0))
    np.testing.assert_allclose(simulation.truth, simulation.theta @ base.K.T, rtol=1e-12, atol=1e-15)
    assert abs(simulation.truth - base.beta).max() > 0.01  # the twin: the values of the description


def test_without_unknowns_there_is_no_parameter_error() -> None:
    law = ComputedTorque(PUMA, stiffness=100.0, damping=20.0)
    simulation = yt.simulate(PUMA, law, seconds=0.2, reference=swing(PUMA))
    assert np.isnan(simulation.parameter_error).all()
    assert simulation.tracking_rms[0] < 1e-3


def test_the_lyapunov_function_uses_the_truth_of_each_instant() -> None:
    load = grasp(0.5, 0.4)
    robot = load.add_load(yt.load("lu-puma4"))
    law = SlotineLi(robot, convergence=10.0, damping=8.0, adaptation=2.0, learn=("load.m", "grasped.m"))
    simulation = yt.simulate(
        robot, law, seconds=0.8, reference=swing(robot), grasp=load, variation=Variation(initial_error=20.0), every=10
    )
    truth, V = simulation.truth_of(0), simulation.lyapunov(0)
    described = robot.numeric.theta[robot.parameter_names.index("load.m")]
    np.testing.assert_array_equal(
        truth, np.where((simulation.runs.t >= 0.4 - 1e-9)[:, None], [described, 0.5], [described, 0.0])
    )
    np.testing.assert_array_equal(simulation.truth[0], [described, 0.5])
    for k in (0, 20, 39, 40, 60):
        target = Reference(simulation.reference.q[k], simulation.reference.qd[k], simulation.reference.qdd[k])
        state = State(0.0, simulation.runs.controller_state[0, k])
        expected = law.lyapunov(state, simulation.runs.q[0, k], simulation.runs.qd[0, k], target, truth[k])
        assert V[k] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert V[40] > V[39] + 0.05  # the estimate does not include the grasped load yet
    assert V[-1] < V[40]


def test_the_lyapunov_function_uses_the_gains_of_each_run() -> None:
    simulation = simulate_varied_puma(3)
    law = simulation.controller
    assert simulation.gains is not None
    factors = dict(zip(simulation.gain_names, simulation.gains[1], strict=True))
    run_law = SlotineLi(
        PUMA,
        learn=LEARN,
        convergence=10.0 * factors["convergence"],
        damping=8.0 * factors["damping"],
        adaptation=2.0 * factors["adaptation"],
    )
    k = 30
    target = Reference(simulation.reference.q[k], simulation.reference.qd[k], simulation.reference.qdd[k])
    arguments = (
        State(0.0, simulation.runs.controller_state[1, k]),
        simulation.runs.q[1, k],
        simulation.runs.qd[1, k],
        target,
        simulation.truth[1],
    )
    assert simulation.lyapunov(1)[k] == pytest.approx(run_law.lyapunov(*arguments), rel=1e-9)
    assert abs(law.lyapunov(*arguments) / run_law.lyapunov(*arguments) - 1.0) > 1e-3  # the twin


def test_a_run_that_diverged_has_no_errors() -> None:
    settings = yt.control.ControllerSettings(gains={"convergence": 1e6})
    simulation = yt.simulate(yt.load("lu-two-link"), settings, seconds=0.2)
    assert not simulation.finished.any()
    for values in (simulation.tracking_rms, simulation.parameter_error, simulation.last_rms):
        assert np.isnan(values).all()
    assert np.isfinite(simulation.runs.rms).all()  # the twin: what was recorded until then


def test_the_long_table_is_available_in_python() -> None:
    simulation = yt.simulate(yt.load("lu-puma4"), seconds=0.05)
    assert "all 22: --verbose, or simulation.to_text(verbose=True) in Python" in " ".join(str(simulation).split())
    names = simulation.controller.unknowns.base.names  # type: ignore[union-attr]
    assert all(name in simulation.to_text(verbose=True) for name in names)
    assert not all(name in simulation.to_text() for name in names)
