"""The recursive Newton-Euler regressor and inverse dynamics, against Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tests.support.formulation_cases import ALL_ROBOTS, link_parameters, load
from tests.support.pinocchio_peer import peer
from tests.support.random_robots import robots
from tests.support.states import close, state
from ytheta.dynamics.formulations import newton_euler
from ytheta.dynamics.mechanism import build_mechanism, numeric_motion
from ytheta.robot.frame import Frame
from ytheta.robot.robot import Robot


@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_regressor_equals_pinocchio(name: str) -> None:
    robot = load(name)
    mech, pinocchio = build_mechanism(robot), peer(robot)
    q, qd, qdd = state(mech.joints)
    Y = newton_euler.regressor(mech, numeric_motion(q, qd, qdd)).astype(float)
    assert close(Y, pinocchio.regressor(q, qd, qdd))
    theta = link_parameters(mech)
    tau = pinocchio.torque(q, qd, qdd)
    assert close(Y @ theta, tau)
    assert close(newton_euler.inverse_dynamics(mech, numeric_motion(q, qd, qdd), theta), tau)


@pytest.mark.parametrize("name", ["panda", "stanford", "talos_full_v2.urdf"])
def test_twins_that_must_fail(name: str) -> None:
    robot = load(name)
    mech, pinocchio = build_mechanism(robot), peer(robot)
    q, qd, qdd = state(mech.joints)
    expected = pinocchio.regressor(q, qd, qdd)
    motion = numeric_motion(q, qd, qdd)
    flipped = newton_euler.regressor(replace(mech, gravity=-mech.gravity), motion)
    assert not close(flipped, expected)
    swapped = newton_euler.regressor(mech, motion)
    swapped[:, [11, 12]] = swapped[:, [12, 11]]
    assert not close(swapped, expected)


@given(robots(loops=False, symbols=False))
def test_random_trees_equal_pinocchio(robot: Robot) -> None:
    mech = build_mechanism(robot)
    if not mech.joints:
        return
    pinocchio = peer(robot)
    q, qd, qdd = state(mech.joints, seed=5)
    assert close(newton_euler.regressor(mech, numeric_motion(q, qd, qdd)), pinocchio.regressor(q, qd, qdd), 1e-9)
    theta = np.random.default_rng(1).normal(size=10 * len(mech.bodies))  # Y theta is linear in theta: any numbers do
    Y = newton_euler.regressor(mech, numeric_motion(q, qd, qdd)).astype(float)
    assert close(newton_euler.inverse_dynamics(mech, numeric_motion(q, qd, qdd), theta), Y @ theta, 1e-9)


@pytest.mark.parametrize("name", ["ur10", "stanford", "lu-two-link", "tiago.urdf"])
def test_rotating_base_and_gravity_together_changes_nothing(name: str) -> None:
    robot = load(name)
    mounted = replace(robot, mounting=Frame.from_rpy(0.4, -0.7, 1.9))
    rotated = replace(mounted, gravity=tuple(np.array(mounted.mounting.rotation) @ np.array(robot.gravity)))
    mech, same, different = build_mechanism(robot), build_mechanism(rotated), build_mechanism(mounted)
    motion = numeric_motion(*state(mech.joints))
    Y = newton_euler.regressor(mech, motion)
    assert close(newton_euler.regressor(same, motion), Y)
    assert not close(newton_euler.regressor(different, motion), Y)
