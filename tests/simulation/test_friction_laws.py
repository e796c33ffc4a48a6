"""Plants with root and load-dependent friction: both plants against each other and against formulas."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from tests.support.damped_robots import MASS, POSE, one_joint
from tests.support.friction_robots import (
    add_friction_laws,
    draw_drives,
    make_branched_arm,
    make_random_generator,
)
from ytheta.control import ComputedTorque
from ytheta.errors import RobotError
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import compute_friction
from ytheta.robot.robot import Robot
from ytheta.simulation.mujoco_plant import MujocoPlant
from ytheta.simulation.own_plant import OwnPlant
from ytheta.simulation.plain_loop import advance, integrate_adaptively
from ytheta.simulation.substeps import (
    choose_substeps,
    compute_load_friction,
    find_chattering_drives,
    find_nonsmooth_drives,
    with_smooth_friction,
)
from ytheta.simulation.variation import ParameterChange


def test_a_slowing_joint_follows_the_solution_in_closed_form() -> None:
    """M dv/dt = -root sqrt(v) without smoothing has sqrt(v) = sqrt(v0) - root t / (2 M)."""
    plant = OwnPlant.of(one_joint(root=0.02))
    state = plant.init(np.zeros(1), np.array([4.0]))
    after = advance(plant, state, np.zeros(1), 1.0, 200)
    expected = (2.0 - 0.02 * 1.0 / (2.0 * MASS)) ** 2
    assert after[1] == pytest.approx(expected, rel=1e-9)
    bounded = OwnPlant.of(one_joint(root=0.02, friction_speed=1.0))
    assert advance(bounded, state, np.zeros(1), 1.0, 200)[1] == pytest.approx(4.0 - 0.02 / MASS, rel=1e-9)


def make_pendulum(load: float) -> Robot:
    """One horizontal axis with a mass beside it, and friction in proportion to the transmitted torque."""
    robot = one_joint(load=load, coulomb_speed=1e-3)
    link = replace(robot.links[1], inertia=Inertia((1.0, 0.5, 0.0, 0.0, 0.3, 0.0, 0.3, 0.0, 0.0, 0.3)))
    return replace(robot, links=(robot.links[0], link), gravity=(9.81, 0.0, 0.0))


def test_load_friction_slows_a_pendulum_as_by_hand() -> None:
    """I qdd + m c g sin(q) = tau / (1 + load sign(v) sign(tau)): the drive transmits less than its motor gives."""
    robot, load = make_pendulum(0.4), 0.4
    plant = OwnPlant.of(robot)
    for q, v, tau in ((0.3, 1.0, 5.0), (0.3, -1.0, 5.0), (1.1, 1.0, -2.0), (1.1, -1.0, -2.0)):
        d = v / math.hypot(v, 1e-3)
        transmitted = tau / (1.0 + load * d * np.sign(tau))
        expected = (transmitted - 0.5 * 9.81 * math.sin(q)) / 0.3
        rates = plant.compute_rates(np.array([q, v]), np.array([tau]))
        assert rates[1] == pytest.approx(expected, rel=1e-9)
        assert abs(rates[1] - (tau - 0.5 * 9.81 * math.sin(q)) / 0.3) > 0.5  # the twin: without friction


def test_parameters_of_the_plant_may_change_within_bounds() -> None:
    plant = OwnPlant.of(make_pendulum(0.4))
    state, tau = np.array([0.3, 1.0]), np.array([5.0])
    changed = plant.with_parameters({"q1.fl": 0.1})
    expected = OwnPlant.of(make_pendulum(0.1)).compute_rates(state, tau)
    np.testing.assert_allclose(changed.compute_rates(state, tau), expected, rtol=1e-12)
    with pytest.raises(RobotError, match=r"load-dependent friction q1\.fl is 1\.2 times"):
        plant.with_parameters({"q1.fl": 1.2})
    robot = make_pendulum(0.4)
    law = ComputedTorque(robot, stiffness=100.0, damping=20.0)
    with pytest.raises(RobotError, match=r"q1\.fl is 1 times"):
        yt.simulate(robot, law, seconds=0.2, parameter_changes=[ParameterChange(0.1, {"q1.fl": 1.0})])
    with pytest.raises(RobotError, match=r"q1\.fl is"):
        yt.simulate(make_pendulum(0.95), law, seconds=0.2, runs=20, variation=yt.Variation(spread=50.0))


def test_mujoco_has_the_same_root_friction() -> None:
    """Without Coulomb friction, whose law MuJoCo has its own, both plants have the same accelerations."""
    robot = add_friction_laws(yt.load("ur10"), load=False).with_drives(lambda _, d: replace(d, coulomb=0.0))
    own, peer = OwnPlant.of(robot), MujocoPlant(robot)
    rng = np.random.default_rng(2)
    for _ in range(5):
        q, qd, tau = rng.normal(size=(3, 6))
        ours, theirs = (plant.compute_rates(plant.init(q, qd), tau) for plant in (own, peer))
        np.testing.assert_allclose(theirs, ours, rtol=1e-6, atol=1e-6)
        without = OwnPlant.of(robot.with_drives(lambda _, d: replace(d, root=0.0)))
        assert abs(without.compute_rates(without.init(q, qd), tau) - theirs).max() > 1e-2


def test_mujoco_has_the_root_friction_of_cut_joints() -> None:
    robot = yt.load("five-bar").with_drives(lambda _, d: replace(d, viscous=0.2, root=0.7, coulomb_speed=0.1))
    robot = robot.with_drives(lambda _, d: replace(d, rotor_inertia=0.0, coulomb=0.0))
    own, peer = OwnPlant.of(robot), MujocoPlant(robot)
    q = np.array([dict(robot.home).get(name, 0.0) for name in robot.actuated])
    qd, tau = np.array([0.6, -0.4]), np.array([0.3, 0.1])
    ours = own.compute_rates(own.init(q, qd), tau)[-2:]
    names = [joint.name for joint in robot.movable]
    theirs = peer.compute_rates(peer.init(q, qd), tau)[len(names) :]
    np.testing.assert_allclose(theirs[[names.index(n) for n in robot.actuated]], ours, rtol=2e-2)
    plain = OwnPlant.of(robot.with_drives(lambda _, d: replace(d, root=0.0)))
    assert abs(plain.compute_rates(plain.init(q, qd), tau)[-2:] / ours - 1.0).max() > 0.1


def test_mujoco_has_the_same_load_friction() -> None:
    """All friction of a drive with load-dependent friction is ours, so that the accelerations are the same."""
    robot = add_friction_laws(yt.load("ur10"))
    own, peer = OwnPlant.of(robot), MujocoPlant(robot)
    without = OwnPlant.of(robot.with_drives(lambda _, d: replace(d, load=0.0)))
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, qd, tau = rng.normal(size=(3, 6)) * np.array([[1.0], [1.0], [20.0]])
        ours, theirs, twin = (plant.compute_rates(plant.init(q, qd), tau) for plant in (own, peer, without))
        np.testing.assert_allclose(theirs, ours, rtol=1e-6, atol=1e-6)
        assert abs(twin - theirs).max() > 0.1


def test_mujoco_refuses_load_friction_that_blocks_a_joint() -> None:
    robot = yt.load("ur10").with_drives(lambda name, d: replace(d, load=1.0) if name == "elbow_joint" else d)
    with pytest.raises(RobotError, match=r"elbow_joint\.fl is 1 times"):
        MujocoPlant(robot)


def test_both_plants_follow_the_same_trajectory() -> None:
    """An arm with a sliding joint and a branch, with random friction, under constant torques."""
    rng = make_random_generator()
    robot = draw_drives(make_branched_arm(rng), rng, rotor_inertia=0.2)
    q, qd, tau = rng.uniform(-1.0, 1.0, (3, 4)) * np.array([[1.0], [1.0], [5.0]])
    without = robot.with_drives(lambda _, d: replace(d, root=0.0, load=0.0))
    plants = OwnPlant.of(robot), MujocoPlant(robot), OwnPlant.of(without)
    own, peer, twin = (advance(plant, plant.init(q, qd), tau, 0.3, 300) for plant in plants)
    np.testing.assert_allclose(peer, own, rtol=1e-6, atol=1e-6)
    assert abs(twin - own).max() > 1e-2


def test_both_laws_need_smoothing() -> None:
    for robot in (one_joint(root=0.1), one_joint(load=0.1), one_joint(coulomb=0.1)):
        assert find_nonsmooth_drives(robot) == ("q1",)
        assert find_nonsmooth_drives(with_smooth_friction(robot)) == ()
    assert find_nonsmooth_drives(one_joint(root=0.0, load=0.0, viscous=1.0)) == ()
    pendulum = make_pendulum(0.4)
    q = np.full((3, 1), math.pi / 2)
    assert compute_load_friction(pendulum, q)[0] == pytest.approx(0.4 * 0.5 * 9.81)
    sharp = pendulum.with_drives(lambda _, d: replace(d, coulomb_speed=0.0))
    limit = 0.01 / (0.4 * 0.5 * 9.81 / 0.3)  # s, of which the change of speed is 0.01 rad/s
    assert find_chattering_drives(sharp, q, 1.01 * limit) == ("q1",)
    assert find_chattering_drives(sharp, q, 0.99 * limit) == ()


def test_substeps_follow_the_slopes_of_the_laws() -> None:
    s = 0.04
    robot = one_joint(root=8.0, coulomb_speed=s)
    v = np.linspace(1e-6, 1.0, 200_001)
    slope = np.gradient(compute_friction(robot.joints[0].drive, v), v).max()
    assert choose_substeps(robot, POSE, 1e-3) == math.ceil(1e-3 * slope / MASS)
    twice = one_joint(root=16.0, coulomb_speed=s)
    assert choose_substeps(twice, POSE, 1e-3, coulomb=False) == math.ceil(2e-3 * slope / MASS)  # as for MuJoCo
    q = np.full((3, 1), math.pi / 2)
    loaded = make_pendulum(0.4)
    assert choose_substeps(loaded, q, 1e-3) == math.ceil(1e-3 * 0.4 * 0.5 * 9.81 / 1e-3 / 0.3)
    assert choose_substeps(loaded, q, 1e-3, coulomb=False) == choose_substeps(loaded, q, 1e-3)  # ours in MuJoCo, too
    assert choose_substeps(loaded, 0.0 * q, 1e-3) == 1


def test_closed_loops_compensate_the_laws() -> None:
    """Computed torque with the right friction tracks; a controller without the laws is ten times worse."""
    robot = add_friction_laws(yt.load("ur10")).with_drives(lambda _, d: replace(d, root=4.0, load=0.2))
    robot = with_smooth_friction(robot)
    blind = robot.with_drives(lambda _, d: replace(d, root=0.0, load=0.0))
    gains = {"stiffness": 400.0, "damping": 40.0}
    errors = [
        yt.simulate(robot, ComputedTorque(model, **gains), seconds=1.0, rate=1000.0).tracking_rms[0]
        for model in (robot, blind)
    ]
    assert errors[1] > 10.0 * errors[0]


def test_adaptive_integration_agrees_with_fixed_steps() -> None:
    robot = add_friction_laws(yt.load("lu-two-link")).with_drives(lambda _, d: replace(d, coulomb_speed=0.05))
    plant = OwnPlant.of(robot)
    state = plant.init(np.array([0.3, -0.4]), np.array([1.0, -2.0]))
    fine = advance(plant, state, np.array([3.0, 1.0]), 0.2, 400)
    adaptive = integrate_adaptively(plant, state, lambda *_: np.array([3.0, 1.0]), np.array([0.0, 0.2]), tolerance=1e-9)
    np.testing.assert_allclose(adaptive.states[-1], fine, rtol=1e-5, atol=1e-6)
