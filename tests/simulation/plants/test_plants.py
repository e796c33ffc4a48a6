"""Our plant against MuJoCo and against an adaptive method; energy; loads that are grasped."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.loop_robots import driven
from ytheta.dynamics.loops.builder import build_constraint
from ytheta.dynamics.loops.solver import closure_state
from ytheta.errors import InputError, MissingExtraError, UnknownNameError
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import with_parameters
from ytheta.robot.parts import Drive, JointKind, Motor
from ytheta.robot.robot import Robot
from ytheta.simulation.parameter_changes import grasp
from ytheta.simulation.plants.equations_of_motion import EquationsOfMotion
from ytheta.simulation.plants.integration import integrate_adaptively, advance, rk4_step
from ytheta.simulation.plants.mujoco_plant import MujocoPlant
from ytheta.simulation.plants.own_plant import OwnPlant
from ytheta.simulation.plants.plant import Plant

SECONDS, STEP = 2.0, 1e-3
Q = np.array([0.3, -1.1, 0.9, -0.4, 0.7, 0.2])


def _moved(plant: Plant, q: np.ndarray, qd: np.ndarray, *, seconds: float = SECONDS, step: float = STEP) -> np.ndarray:
    """Positions of the actuated coordinates every 50 steps, under torques that swing."""
    state, found = plant.init(q, qd), []
    for k in range(round(seconds / step)):
        tau = np.sin(3.0 * step * k + np.arange(len(q)))
        state = rk4_step(plant, state, tau, step)
        if k % 50 == 49:
            found.append(plant.motion(state)[0])
    return np.array(found)


def _with_drives(robot: Robot, drive: Drive) -> Robot:
    joints = tuple(replace(joint, drive=drive) if joint.moves else joint for joint in robot.joints)
    return replace(robot, joints=joints)


@pytest.mark.parametrize("drive", [Drive(), Drive(2e-4, 100.0, viscous=3.0, offset=0.4)], ids=["bare", "driven"])
def test_our_plant_is_mujoco_s(drive: Drive) -> None:
    robot = _with_drives(ytheta.load("ur10"), drive)
    ours, theirs = (_moved(plant, Q, 0.2 * Q) for plant in (OwnPlant.of(robot), MujocoPlant(robot)))
    assert np.ptp(ours, axis=0).min() > 0.05  # it moved
    # The same numbers by other roads: rounding alone, which a free fall of 2 s makes larger. Asked for is 1e-6.
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-8)


def test_another_mass_is_seen() -> None:
    """The twin: a hundredth more of one mass is far outside the tolerance above."""
    robot = ytheta.load("ur10")
    mass = dict(zip(robot.parameter_names, robot.theta, strict=True))["forearm_link.m"]
    heavier = OwnPlant.of(robot).with_parameters({"forearm_link.m": 1.01 * mass})
    difference = _moved(heavier, Q, 0.2 * Q) - _moved(MujocoPlant(robot), Q, 0.2 * Q)
    assert np.abs(difference).max() > 1e-4


def test_fixed_steps_against_adaptive_ones() -> None:
    plant = OwnPlant.of(_with_drives(ytheta.load("ur10"), Drive(0.5, viscous=2.0, coulomb=1.0, coulomb_speed=0.2)))
    state, tau = plant.init(Q, 0.1 * Q), np.zeros(6)
    exact = integrate_adaptively(plant, state, lambda _t, _q, _qd: tau, np.array([0.0, 0.5]))
    assert exact.complete
    errors = [np.abs(advance(plant, state, tau, 0.5, n) - exact.states[-1]).max() for n in (250, 500, 1000)]
    assert errors[2] < 1e-9
    # Order four: halving the step divides the error by sixteen.
    assert 12.0 < errors[0] / errors[1] < 20.0


def test_energy_is_kept() -> None:
    robot = ytheta.load("ur10")
    energy, plant = ytheta.energy(robot), OwnPlant.of(robot)
    before = energy.one(Q, 0.3 * Q).sum()
    state = advance(plant, plant.init(Q, 0.3 * Q), np.zeros(6), SECONDS, 4000)
    after = energy.one(*plant.motion(state)).sum()
    assert energy.one(*plant.motion(state))[0] > 1.0  # it moves
    assert abs(after - before) < 1e-6 * abs(before)  # of the order of the error of RK4
    # The twin: with friction it is not.
    rubbing = OwnPlant.of(_with_drives(robot, Drive(viscous=0.1)))
    worn = advance(rubbing, rubbing.init(Q, 0.3 * Q), np.zeros(6), SECONDS, 4000)
    assert energy.one(*rubbing.motion(worn)).sum() < before - 0.1


@pytest.mark.parametrize("name", ["five-bar", "walker", "palletiser"])
def test_loops_stay_closed_and_move_as_in_mujoco(name: str) -> None:
    robot = ytheta.load(name)
    robot = with_parameters(robot, {p: 0.0 for p in robot.parameter_names if p.endswith(".fc")})  # MuJoCo's is another
    loops = build_constraint(robot)
    q = loops.home[list(loops.actuated)]
    own, theirs = OwnPlant.of(robot), MujocoPlant(robot)
    end = advance(own, own.init(q, np.zeros(len(q))), np.zeros(len(q)), 0.2, 200)
    gaps, _, _ = closure_state(loops, end[None, : len(loops.home)])
    assert gaps.max() < 1e-12  # metres, radians
    ours, others = (_moved(plant, q, np.zeros(len(q)), seconds=0.2) for plant in (own, theirs))
    assert np.ptp(ours, axis=0).max() > 1e-2
    # MuJoCo holds loops by stiff forces that give way a little.
    np.testing.assert_allclose(ours, others, rtol=0.0, atol=1e-6)


def test_loops_without_newton_drift() -> None:
    """The twin of closing: with long steps and no settling, the loops of the five-bar open."""
    robot = ytheta.load("five-bar")
    own = OwnPlant.of(robot)
    loops = own.equations.loops
    state = own.init(loops.home[list(loops.actuated)], np.array([1.5, -1.0]))
    open_ended = state
    for _ in range(20):
        k = own.rates(open_ended, np.zeros(2))
        open_ended = open_ended + 0.01 * own.rates(open_ended + 0.005 * k, np.zeros(2))
    gaps, _, _ = closure_state(loops, open_ended[None, : len(loops.home)])
    assert gaps.max() > 1e-7
    closed, _, _ = closure_state(loops, own.settled(open_ended)[None, : len(loops.home)])
    assert closed.max() < gaps.max() ** 1.5  # a Newton step squares what is left, up to a factor


def test_a_grasped_load_is_a_robot_with_that_load() -> None:
    robot = ytheta.load("ur10")
    load = Inertia.about_center(2.0, (0.0, 0.05, 0.1), ((0.02, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.025)))
    empty, holding = robot.with_load(Inertia()), robot.with_load(load)
    values = grasp(0.0, load).values
    wanted = _moved(OwnPlant.of(holding), Q, 0.0 * Q, seconds=0.3)
    for plant in (OwnPlant.of(empty), MujocoPlant(empty)):
        loaded = _moved(plant.with_parameters(values), Q, 0.0 * Q, seconds=0.3)
        np.testing.assert_allclose(loaded, wanted, rtol=0.0, atol=1e-9)
        assert np.abs(_moved(plant, Q, 0.0 * Q, seconds=0.3) - wanted).max() > 1e-2


@pytest.mark.parametrize("name", ["ur10", "walker", "lu-puma4"])
def test_other_parameters_of_a_robot(name: str) -> None:
    robot = driven(ytheta.load(name))
    again = with_parameters(robot, dict(zip(robot.parameter_names, robot.theta.tolist(), strict=True)))
    np.testing.assert_array_equal(again.theta, robot.theta)
    assert with_parameters(robot, {robot.parameter_names[0]: 7.0}).theta[0] == 7.0
    with pytest.raises(UnknownNameError, match=r"no parameter 'load9.m'.*with_load"):
        with_parameters(robot, {"load9.m": 1.0})


@pytest.mark.parametrize("name", ["ur10", "rx90", "walker", "palletiser", "five-bar"])
def test_rates_are_those_of_forward_dynamics(name: str) -> None:
    robot = driven(ytheta.load(name))
    plant = OwnPlant.of(robot)
    loops = plant.equations.loops
    n = len(loops.actuated)
    q = loops.home[list(loops.actuated)] + 0.05
    qd, tau = np.linspace(-0.5, 1.0, n), np.linspace(5.0, -3.0, n)
    rates = plant.rates(plant.init(q, qd), tau)
    wanted = ytheta.forward_dynamics(robot).one(q, qd, tau)
    # Other operations for the same numbers, and masses of palletisers make M badly conditioned.
    np.testing.assert_allclose(plant.motion(rates)[1], wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(plant.motion(rates)[0], qd, rtol=1e-12)


def test_parameters_that_vary_are_those_of_the_description() -> None:
    robot = driven(ytheta.load("ur10"))
    state, tau = np.concatenate([Q, 0.3 * Q]), np.ones(6)
    baked, all_inputs = EquationsOfMotion(robot).rates_kernel, OwnPlant.of(robot)
    one = EquationsOfMotion(robot, ("forearm_link.m",)).rates_kernel
    mass = dict(zip(robot.parameter_names, robot.theta, strict=True))["forearm_link.m"]
    wanted = baked.one(state, tau, np.empty(0))
    np.testing.assert_allclose(all_inputs.rates(state, tau), wanted, rtol=1e-10)  # other order of operations
    np.testing.assert_allclose(one.one(state, tau, np.array([mass])), wanted, rtol=1e-10)
    assert not np.allclose(one.one(state, tau, np.array([mass + 1.0])), wanted, rtol=1e-3)


def test_what_mujoco_cannot_take(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="motors, which are not handed over"):
        MujocoPlant(replace(ytheta.load("ur10"), motors=(Motor("m", turns_with=(("elbow_joint", 1.0),)),)))
    with pytest.raises(InputError, match=r"(?s)MuJoCo refuses robot 'lu-puma4'.*own plant"):
        MujocoPlant(ytheta.load("lu-puma4")).rates(np.zeros(8), np.zeros(4))
    with pytest.raises(InputError, match=r"cut joint .* has rotor inertia"):
        MujocoPlant(driven(ytheta.load("five-bar")))
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r"ytheta\[mujoco\]"):
        MujocoPlant(ytheta.load("ur10")).rates(np.zeros(12), np.zeros(6))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("puma560", "link 'link1' has inertia or a first moment but a mass of 0 kg"),
        ("lu-puma4", r"positive eigenvalues.*\(link 'link1'\)"),
        ("stanford", r"positive eigenvalues.*\(link 'link5'\)"),
        ("rx90", r"mass and inertia .*\(link 'link1'\)"),
    ],
)
def test_bodies_that_mujoco_cannot_have(name: str, reason: str) -> None:
    """One line that names the link, nothing printed by MuJoCo and no warning of ours: warnings are errors here."""
    plant, n = MujocoPlant(ytheta.load(name)), len(ytheta.load(name).movable)
    with pytest.raises(InputError, match=f"{reason}.*use the own plant$") as refused:
        plant.rates(np.zeros(2 * n), np.zeros(n))
    assert "\n" not in str(refused.value)


def test_an_adaptive_motion_that_stops_says_so() -> None:
    plant = OwnPlant.of(ytheta.load("lu-two-link"))
    n = len(plant.robot.actuated)
    state = plant.init(np.zeros(n), np.zeros(n))
    away = integrate_adaptively(plant, state, lambda _t, _q, qd: 1e3 * (1.0 + qd * np.abs(qd)), np.array([0.0, 1.0]))
    assert not away.complete
    assert "stops at t =" in away.advice
    with pytest.raises(InputError, match="grow"):
        integrate_adaptively(plant, state, lambda _t, q, _qd: q, np.array([0.0, 0.0]))


def test_a_sliding_joint_moves_as_in_mujoco() -> None:
    robot = ytheta.load("stanford")
    assert any(joint.kind is JointKind.PRISMATIC for joint in robot.joints)
    ball = Inertia.about_center(0.0, (0.0, 0.0, 0.0), ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.01)))
    robot = robot.with_inertias({link.name: link.inertia + ball for link in robot.links[1:]})
    ours, theirs = (_moved(plant, 0.3 * Q, 0.1 * Q, seconds=0.2) for plant in (OwnPlant.of(robot), MujocoPlant(robot)))
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-9)
