"""Quantities that follow from Newton-Euler, against Pinocchio and against physics."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest

from tests.support.formulation_cases import link_parameters, load
from tests.support.pinocchio_peer import peer
from tests.support.states import close, state
from ytheta.dynamics import rigid_body
from ytheta.dynamics.formulations import newton_euler
from ytheta.dynamics.mechanism import Motion, build_mechanism, numeric_motion
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Joint, JointKind, Link
from ytheta.robot.robot import Robot


def make_pendulum() -> Robot:
    """A rod of 1 m and 2 kg that hangs along -z at q = 0 and rotates about y."""
    rod = Inertia.about_center(2.0, (0.0, 0.0, -0.5), ((1 / 6, 0.0, 0.0), (0.0, 1 / 6, 0.0), (0.0, 0.0, 0.0)))
    return Robot(
        "pendulum",
        links=(Link("base"), Link("rod", rod)),
        joints=(Joint("q", JointKind.REVOLUTE, "base", "rod", axis=(0.0, 1.0, 0.0)),),
    )


def test_signs_of_the_torques_of_a_pendulum() -> None:
    """A positive q moves the rod to -x; holding it there and accelerating it need positive torques."""
    mech = build_mechanism(make_pendulum())
    theta = link_parameters(mech)
    holding = rigid_body.gravity(mech, numeric_motion([0.3], [0.0], [0.0]), theta)
    assert holding[0] == pytest.approx(2.0 * 9.81 * 0.5 * math.sin(0.3))
    accelerating = newton_euler.inverse_dynamics(mech, numeric_motion([0.0], [1.0], [1.0]), theta)
    assert accelerating[0] == pytest.approx(2.0 / 3.0)


@pytest.mark.parametrize("name", ["panda", "stanford", "puma560", "lu-puma4", "tiago_no_hand.urdf"])
def test_two_velocities(name: str) -> None:
    robot = load(name)
    mech = build_mechanism(robot)
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
    M = rigid_body.mass_matrix(mech, ordinary, theta).astype(float)
    C = rigid_body.coriolis_matrix(mech, ordinary, theta).astype(float)
    g = rigid_body.gravity(mech, ordinary, theta).astype(float)
    assert close(Y @ theta, M @ qdd + C @ v + g)
    assert close(C @ qd, compute_coriolis_torque(robot, q, qd))
    # Mdot - 2 C is skew, Mdot along qd by central differences.
    step = 1e-6
    ahead, behind = (
        rigid_body.mass_matrix(mech, numeric_motion(q + s * qd, qd, qdd), theta).astype(float) for s in (step, -step)
    )
    skewness = (ahead - behind) / (2 * step) - 2 * C
    assert abs(skewness + skewness.T).max() < 1e-6 * max(1.0, abs(C).max())


def compute_coriolis_torque(robot: Robot, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    pinocchio = peer(robot)
    return pinocchio.torque(q, qd, 0 * q) - pinocchio.torque(q, 0 * q, 0 * q)


@pytest.mark.parametrize("name", ["panda", "stanford", "iiwa14", "lu-two-link", "talos_left_arm.urdf"])
def test_the_power_of_the_torques_changes_the_energy(name: str) -> None:
    """d(T + U)/dt = tauᵀ qd along a motion, by central differences; momentum is dT/dqd."""
    mech = build_mechanism(load(name))
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
def test_forward_dynamics_equals_pinocchio(name: str) -> None:
    robot = load(name)
    mech, pinocchio = build_mechanism(robot), peer(robot)
    theta = link_parameters(mech)
    q, qd, tau = state(mech.joints, seed=4)
    motion = numeric_motion(q, qd, 0 * q)
    expected = pin.aba(pinocchio.model, pinocchio.model.createData(), q, qd, tau)
    assert close(rigid_body.forward_dynamics(mech, motion, theta, tau.astype(object)), expected, 1e-8)
    assert not close(rigid_body.forward_dynamics(mech, motion, 1.01 * theta, tau.astype(object)), expected, 1e-8)
