"""Fixed and adaptive integration steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from ytheta.errors import InputError
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import advance, integrate_adaptively

Q = np.array([0.3, -1.1, 0.9, -0.4, 0.7, 0.2])


def _with_drives(robot: Robot, drive: Drive) -> Robot:
    joints = tuple(replace(joint, drive=drive) if joint.moves else joint for joint in robot.joints)
    return replace(robot, joints=joints)


def test_fixed_steps_converge_to_adaptive_ones_with_order_four() -> None:
    plant = OwnPlant.of(_with_drives(ytheta.load("ur10"), Drive(0.5, viscous=2.0, coulomb=1.0, coulomb_speed=0.2)))
    state, tau = plant.init(Q, 0.1 * Q), np.zeros(6)
    exact = integrate_adaptively(plant, state, lambda _t, _q, _qd: tau, np.array([0.0, 0.5]))
    assert exact.complete
    errors = [np.abs(advance(plant, state, tau, 0.5, n) - exact.states[-1]).max() for n in (250, 500, 1000)]
    assert errors[2] < 1e-9
    # Order four: halving the step divides the error by sixteen.
    assert 12.0 < errors[0] / errors[1] < 20.0


def test_an_integration_that_stops_early_gives_advice() -> None:
    plant = OwnPlant.of(ytheta.load("lu-two-link"))
    n = len(plant.robot.actuated)
    state = plant.init(np.zeros(n), np.zeros(n))
    trajectory = integrate_adaptively(
        plant, state, lambda _t, _q, qd: 1e3 * (1.0 + qd * np.abs(qd)), np.array([0.0, 1.0])
    )
    assert not trajectory.complete
    assert "stopped at t =" in trajectory.advice
    with pytest.raises(InputError, match="increasing order"):
        integrate_adaptively(plant, state, lambda _t, q, _qd: q, np.array([0.0, 0.0]))
