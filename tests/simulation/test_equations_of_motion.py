"""Varied parameters, and loops that one Newton step closes."""

from __future__ import annotations

import numpy as np

import ytheta
from tests.support.loop_robots import add_drives
from ytheta.dynamics.loop_solver import compute_closure_state
from ytheta.simulation.own_plant import EquationsOfMotion, OwnPlant

Q = np.array([0.3, -1.1, 0.9, -0.4, 0.7, 0.2])


def test_varied_parameters_with_described_values_change_nothing() -> None:
    robot = add_drives(ytheta.load("ur10"))
    state, tau = np.concatenate([Q, 0.3 * Q]), np.ones(6)
    constant, all_varied = EquationsOfMotion(robot).rates_kernel, OwnPlant.of(robot)
    one_varied = EquationsOfMotion(robot, ("forearm_link.m",)).rates_kernel
    mass = dict(zip(robot.parameter_names, robot.theta, strict=True))["forearm_link.m"]
    expected = constant.one(state, tau, np.empty(0))
    np.testing.assert_allclose(
        all_varied.compute_rates(state, tau), expected, rtol=1e-10
    )  # another order of operations
    np.testing.assert_allclose(one_varied.one(state, tau, np.array([mass])), expected, rtol=1e-10)
    assert not np.allclose(one_varied.one(state, tau, np.array([mass + 1.0])), expected, rtol=1e-3)


def test_loops_open_without_the_newton_step() -> None:
    """The twin of loops that stay closed: without the Newton step, long steps open the loops of the five-bar."""
    robot = ytheta.load("five-bar")
    plant = OwnPlant.of(robot)
    loops = plant.equations.loops
    state = plant.init(loops.home[list(loops.actuated)], np.array([1.5, -1.0]))
    for _ in range(20):
        k = plant.compute_rates(state, np.zeros(2))
        state = state + 0.01 * plant.compute_rates(state + 0.005 * k, np.zeros(2))
    gaps, _, _ = compute_closure_state(loops, state[None, : len(loops.home)])
    assert gaps.max() > 1e-7
    closed, _, _ = compute_closure_state(loops, plant.close_loops(state)[None, : len(loops.home)])
    assert closed.max() < gaps.max() ** 1.5  # a Newton step squares the error, up to a factor
