"""Newton–Euler and what follows from it, against Pinocchio and against physics."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

from tests.support.formulation_cases import load
from tests.support.pinocchio_peer import peer
from tests.support.random_robots import robots
from tests.support.states import close, state
from ytheta.dynamics import composite_body, rigid_body
from ytheta.dynamics.formulations import lagrange, newton_euler
from ytheta.dynamics.formulations.sixteen import L, sixteen_parameters
from ytheta.dynamics.mechanism import Mechanism, mechanism
from ytheta.dynamics.motion import Motion, numeric_motion
from ytheta.robot.catalog import list_names
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot

URDFS = (
    "ur10_robot.urdf", "panda.urdf", "kinova.urdf", "xarm7.urdf", "tiago.urdf", "baxter.urdf", "talos_full_v2.urdf",
    "icub.urdf", "solo12.urdf", "allegro_right_hand.urdf", "pr2.urdf", "double_pendulum.urdf",
)  # fmt: skip


ALL = (*list_names(), *URDFS)


def link_parameters(mech: Mechanism) -> np.ndarray:
    return np.concatenate([link.inertia.vector for link in mech.robot.links[1:]])


@pytest.mark.parametrize("name", ALL)
def test_regressor_equals_pinocchio(name: str) -> None:
    robot = load(name)
    mech, other = mechanism(robot), peer(robot)
    q, qd, qdd = state(mech.joints)
    Y = newton_euler.regressor(mech, numeric_motion(q, qd, qdd)).astype(float)
    assert close(Y, other.regressor(q, qd, qdd))
    theta = link_parameters(mech)
    tau = other.torque(q, qd, qdd)
    assert close(Y @ theta, tau)
    assert close(newton_euler.inverse_dynamics(mech, numeric_motion(q, qd, qdd), theta), tau)
    assert close(composite_body.mass_matrix(mech, numeric_motion(q, qd, qdd), theta), other.mass_matrix(q))


@pytest.mark.parametrize("name", ["panda", "stanford", "talos_full_v2.urdf"])
def test_twins_that_must_fail(name: str) -> None:
    robot = load(name)
    mech, other = mechanism(robot), peer(robot)
    q, qd, qdd = state(mech.joints)
    expected = other.regressor(q, qd, qdd)
    motion = numeric_motion(q, qd, qdd)
    flipped = newton_euler.regressor(replace(mech, gravity=-mech.gravity), motion)
    assert not close(flipped, expected)
    swapped = newton_euler.regressor(mech, motion)
    swapped[:, [11, 12]] = swapped[:, [12, 11]]
    assert not close(swapped, expected)


@given(robots(loops=False, symbols=False))
def test_random_trees_equal_pinocchio(robot: Robot) -> None:
    mech = mechanism(robot)
    if not mech.joints:
        return
    other = peer(robot)
    q, qd, qdd = state(mech.joints, seed=5)
    assert close(newton_euler.regressor(mech, numeric_motion(q, qd, qdd)), other.regressor(q, qd, qdd), 1e-9)
    theta = np.random.default_rng(1).normal(size=10 * len(mech.bodies))  # linear in theta: any numbers will do
    Y = newton_euler.regressor(mech, numeric_motion(q, qd, qdd)).astype(float)
    assert close(newton_euler.inverse_dynamics(mech, numeric_motion(q, qd, qdd), theta), Y @ theta, 1e-9)


def pendulum() -> Robot:
    """A rod of 1 m and 2 kg that hangs along -z at q = 0 and turns about y."""
    rod = Inertia.about_center(2.0, (0.0, 0.0, -0.5), ((1 / 6, 0.0, 0.0), (0.0, 1 / 6, 0.0), (0.0, 0.0, 0.0)))
    return Robot(
        "pendulum",
        links=(Link("base"), Link("rod", rod)),
        joints=(Joint("q", JointKind.REVOLUTE, "base", "rod", axis=(0.0, 1.0, 0.0)),),
    )


def test_the_hanging_pendulum_has_its_sign() -> None:
    """Turned about +y the rod swings to -x; holding it there needs a positive torque, and inertia resists."""
    mech = mechanism(pendulum())
    theta = link_parameters(mech)
    still = rigid_body.gravity(mech, numeric_motion([0.3], [0.0], [0.0]), theta)
    assert still[0] == pytest.approx(2.0 * 9.81 * 0.5 * math.sin(0.3))
    moving = newton_euler.inverse_dynamics(mech, numeric_motion([0.0], [1.0], [1.0]), theta)
    assert moving[0] == pytest.approx(2.0 / 3.0)


@pytest.mark.parametrize("name", ["ur10", "stanford", "lu-two-link", "tiago.urdf"])
def test_turning_base_and_gravity_together_changes_nothing(name: str) -> None:
    robot = load(name)
    turned = replace(robot, mounting=Frame.from_rpy(0.4, -0.7, 1.9))
    tilted = replace(turned, gravity=tuple(np.array(turned.mounting.rotation) @ np.array(robot.gravity)))
    mech, other, wrong = mechanism(robot), mechanism(tilted), mechanism(turned)
    motion = numeric_motion(*state(mech.joints))
    Y = newton_euler.regressor(mech, motion)
    assert close(newton_euler.regressor(other, motion), Y)
    assert not close(newton_euler.regressor(wrong, motion), Y)


@pytest.mark.parametrize("name", ["panda", "stanford", "puma560", "lu-puma4", "tiago_no_hand.urdf"])
def test_two_velocities(name: str) -> None:
    robot = load(name)
    mech = mechanism(robot)
    theta = link_parameters(mech)
    q, qd, qdd = state(mech.joints)
    v = state(mech.joints, seed=9)[0]
    ordinary, same, two = (
        numeric_motion(q, qd, qdd),
        numeric_motion(q, qd, qdd, qd.copy()),
        numeric_motion(q, qd, qdd, v),
    )
    Y = newton_euler.regressor(mech, two).astype(float)
    assert close(newton_euler.regressor(mech, same), newton_euler.regressor(mech, ordinary))
    assert close(Y @ theta, newton_euler.inverse_dynamics(mech, two, theta))
    M = composite_body.mass_matrix(mech, ordinary, theta).astype(float)
    C = rigid_body.coriolis_matrix(mech, ordinary, theta).astype(float)
    g = rigid_body.gravity(mech, ordinary, theta).astype(float)
    assert close(Y @ theta, M @ qdd + C @ v + g)
    assert close(C @ qd, _coriolis(robot, q, qd))
    # Mdot - 2 C is skew, Mdot along qd by central differences.
    step = 1e-6
    ahead, behind = (
        composite_body.mass_matrix(mech, numeric_motion(q + s * qd, qd, qdd), theta).astype(float)
        for s in (step, -step)
    )
    skewness = (ahead - behind) / (2 * step) - 2 * C
    assert abs(skewness + skewness.T).max() < 1e-6 * max(1.0, abs(C).max())


def _coriolis(robot: Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    other = peer(robot)
    return other.torque(q, qd, 0 * q) - other.torque(q, 0 * q, 0 * q)


@pytest.mark.parametrize("name", ["panda", "stanford", "iiwa14", "lu-two-link", "talos_left_arm.urdf"])
def test_energy_is_balanced(name: str) -> None:
    """d(T + U)/dt = tau qd along a motion, by central differences; momentum is dT/dqd."""
    mech = mechanism(load(name))
    theta = link_parameters(mech)
    q, qd, qdd = state(mech.joints, seed=3)

    def energy(motion: Motion) -> float:
        return float(rigid_body.kinetic_energy(mech, motion, theta) + rigid_body.potential_energy(mech, motion, theta))

    step = 1e-5
    ahead, behind = (energy(numeric_motion(q + s * qd + s * s / 2 * qdd, qd + s * qdd, qdd)) for s in (step, -step))
    power = float(newton_euler.inverse_dynamics(mech, numeric_motion(q, qd, qdd), theta) @ qd)
    assert (ahead - behind) / (2 * step) == pytest.approx(power, rel=1e-7)
    units = step * np.eye(mech.joints)
    slope = [
        (energy(numeric_motion(q, qd + u, qdd)) - energy(numeric_motion(q, qd - u, qdd))) / (2 * step) for u in units
    ]
    assert close(rigid_body.momentum(mech, numeric_motion(q, qd, qdd), theta), np.array(slope), 1e-6)


@pytest.mark.parametrize("name", ["ur10", "panda", "stanford", "lu-puma4", "baxter.urdf", "talos_full_v2.urdf"])
def test_forward_dynamics_both_ways(name: str) -> None:
    robot = load(name)
    mech, other = mechanism(robot), peer(robot)
    theta = link_parameters(mech)
    q, qd, tau = state(mech.joints, seed=4)
    motion = numeric_motion(q, qd, 0 * q)
    expected = pin.aba(other.model, other.model.createData(), q, qd, tau)
    assert close(rigid_body.forward_dynamics(mech, motion, theta, tau.astype(object)), expected, 1e-8)
    assert close(rigid_body.forward_dynamics_by_steps(mech, motion, theta, tau.astype(object)), expected, 1e-8)
    assert not close(rigid_body.forward_dynamics(mech, motion, 1.01 * theta, tau.astype(object)), expected, 1e-8)


@pytest.mark.parametrize("name", ["panda", "stanford", "lu-two-link"])
def test_sixteen_parameters_by_newton_euler(name: str) -> None:
    """Y16 = Y10 L, and with theta_16 of every link the same torque."""
    mech = mechanism(load(name))
    motion = numeric_motion(*state(mech.joints, seed=8))
    ten = newton_euler.regressor(mech, motion).astype(float)
    sixteen = newton_euler.regressor_sixteen(mech, motion).astype(float)
    bodies = len(mech.bodies)
    assert close(sixteen, (ten.reshape(-1, bodies, 10) @ L).reshape(sixteen.shape))
    theta = np.concatenate([sixteen_parameters(link.inertia) for link in mech.robot.links[1:]])
    assert close(sixteen @ theta, ten @ link_parameters(mech))
    assert close(sixteen, lagrange.regressor_sixteen(mech, motion))
