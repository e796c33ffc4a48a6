"""ytheta's own plant is compared with MuJoCo and forward dynamics; energy and loads are checked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.loop_robots import add_drives
from ytheta.dynamics.constraint import build_constraint
from ytheta.dynamics.loop_solver import compute_closure_state
from ytheta.errors import UnknownNameError
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import with_parameters
from ytheta.robot.parts import Drive, JointKind
from ytheta.robot.robot import Robot
from ytheta.simulation.mujoco_plant import MujocoPlant
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import Plant, advance, take_rk4_step
from ytheta.simulation.variation import grasp

SECONDS, STEP = 2.0, 1e-3
Q = np.array([0.3, -1.1, 0.9, -0.4, 0.7, 0.2])


def _move(plant: Plant, q: np.ndarray, qd: np.ndarray, *, seconds: float = SECONDS, step: float = STEP) -> np.ndarray:
    """Return the positions of the actuated coordinates every 50 steps, under sinusoidal torques."""
    state, positions = plant.init(q, qd), []
    for k in range(round(seconds / step)):
        tau = np.sin(3.0 * step * k + np.arange(len(q)))
        state = take_rk4_step(plant, state, tau, step)
        if k % 50 == 49:
            positions.append(plant.get_motion(state)[0])
    return np.array(positions)


def _with_drives(robot: Robot, drive: Drive) -> Robot:
    joints = tuple(replace(joint, drive=drive) if joint.moves else joint for joint in robot.joints)
    return replace(robot, joints=joints)


@pytest.mark.parametrize("drive", [Drive(), Drive(2e-4, 100.0, viscous=3.0, offset=0.4)], ids=["bare", "driven"])
def test_it_moves_as_in_mujoco(drive: Drive) -> None:
    robot = _with_drives(ytheta.load("ur10"), drive)
    own, mujoco = (_move(plant, Q, 0.2 * Q) for plant in (OwnPlant.of(robot), MujocoPlant(robot)))
    assert np.ptp(own, axis=0).min() > 0.05  # it moved
    # Only rounding errors differ, which a free fall of 2 s amplifies. The requirement is 1e-6.
    np.testing.assert_allclose(own, mujoco, rtol=0.0, atol=1e-8)


def test_another_mass_moves_differently() -> None:
    """The twin: if one mass is 1 % larger, the difference is far outside the tolerance above."""
    robot = ytheta.load("ur10")
    mass = dict(zip(robot.parameter_names, robot.theta, strict=True))["forearm_link.m"]
    heavier = OwnPlant.of(robot).with_parameters({"forearm_link.m": 1.01 * mass})
    difference = _move(heavier, Q, 0.2 * Q) - _move(MujocoPlant(robot), Q, 0.2 * Q)
    assert np.abs(difference).max() > 1e-4


def test_a_prismatic_joint_moves_as_in_mujoco() -> None:
    robot = ytheta.load("stanford")
    assert any(joint.kind is JointKind.PRISMATIC for joint in robot.joints)
    ball = Inertia.about_center(0.0, (0.0, 0.0, 0.0), ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01)))
    robot = robot.with_inertias({link.name: link.inertia + ball for link in robot.links[1:]})
    own, mujoco = (_move(plant, 0.3 * Q, 0.1 * Q, seconds=0.2) for plant in (OwnPlant.of(robot), MujocoPlant(robot)))
    np.testing.assert_allclose(own, mujoco, rtol=0.0, atol=1e-9)


def test_energy_is_conserved() -> None:
    robot = ytheta.load("ur10")
    energy, plant = ytheta.energy(robot), OwnPlant.of(robot)
    before = energy.one(Q, 0.3 * Q).sum()
    state = advance(plant, plant.init(Q, 0.3 * Q), np.zeros(6), SECONDS, 4000)
    after = energy.one(*plant.get_motion(state)).sum()
    assert energy.one(*plant.get_motion(state))[0] > 1.0  # it moves
    assert abs(after - before) < 1e-6 * abs(before)  # the order of magnitude of the error of RK4
    # The twin: with friction it is not conserved.
    damped = OwnPlant.of(_with_drives(robot, Drive(viscous=0.1)))
    end = advance(damped, damped.init(Q, 0.3 * Q), np.zeros(6), SECONDS, 4000)
    assert energy.one(*damped.get_motion(end)).sum() < before - 0.1


@pytest.mark.parametrize("name", ["ur10", "rx90", "walker", "palletiser", "five-bar"])
def test_rates_agree_with_forward_dynamics(name: str) -> None:
    robot = add_drives(ytheta.load(name))
    plant = OwnPlant.of(robot)
    loops = plant.equations.loops
    n = len(loops.actuated)
    q = loops.home[list(loops.actuated)] + 0.05
    qd, tau = np.linspace(-0.5, 1.0, n), np.linspace(5.0, -3.0, n)
    rates = plant.compute_rates(plant.init(q, qd), tau)
    expected = ytheta.forward_dynamics(robot).one(q, qd, tau)
    # The operations differ, and the masses of the palletiser make M badly conditioned.
    np.testing.assert_allclose(plant.get_motion(rates)[1], expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(plant.get_motion(rates)[0], qd, rtol=1e-12)


@pytest.mark.parametrize("name", ["five-bar", "walker", "palletiser"])
def test_loops_stay_closed_and_move_as_in_mujoco(name: str) -> None:
    robot = ytheta.load(name)
    # Remove Coulomb friction, for which MuJoCo has its own law.
    robot = with_parameters(robot, {p: 0.0 for p in robot.parameter_names if p.endswith(".fc")})
    loops = build_constraint(robot)
    q = loops.home[list(loops.actuated)]
    plant = OwnPlant.of(robot)
    end = advance(plant, plant.init(q, np.zeros(len(q))), np.zeros(len(q)), 0.2, 200)
    gaps, _, _ = compute_closure_state(loops, end[None, : len(loops.home)])
    assert gaps.max() < 1e-12  # metres, radians
    own, mujoco = (_move(compared, q, np.zeros(len(q)), seconds=0.2) for compared in (plant, MujocoPlant(robot)))
    assert np.ptp(own, axis=0).max() > 1e-2
    # The stiff forces with which MuJoCo closes loops yield a little.
    np.testing.assert_allclose(own, mujoco, rtol=0.0, atol=1e-6)


def test_a_grasped_load_moves_like_a_robot_with_that_load() -> None:
    robot = ytheta.load("ur10")
    load = Inertia.about_center(2.0, (0.0, 0.05, 0.1), ((0.02, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.025)))
    empty, holding = robot.with_load(Inertia()), robot.with_load(load)
    values = grasp(load, name="load").change.values
    expected = _move(OwnPlant.of(holding), Q, 0.0 * Q, seconds=0.3)
    for plant in (OwnPlant.of(empty), MujocoPlant(empty)):
        loaded = _move(plant.with_parameters(values), Q, 0.0 * Q, seconds=0.3)
        np.testing.assert_allclose(loaded, expected, rtol=0.0, atol=1e-9)
        assert np.abs(_move(plant, Q, 0.0 * Q, seconds=0.3) - expected).max() > 1e-2


@pytest.mark.parametrize("name", ["ur10", "walker", "lu-puma4"])
def test_parameters_of_a_robot_are_replaced_by_name(name: str) -> None:
    robot = add_drives(ytheta.load(name))
    again = with_parameters(robot, dict(zip(robot.parameter_names, robot.theta.tolist(), strict=True)))
    np.testing.assert_array_equal(again.theta, robot.theta)
    assert with_parameters(robot, {robot.parameter_names[0]: 7.0}).theta[0] == 7.0
    with pytest.raises(UnknownNameError, match=r"no parameter 'load9.m'.*with_load"):
        with_parameters(robot, {"load9.m": 1.0})
