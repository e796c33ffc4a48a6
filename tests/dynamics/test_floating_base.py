"""Dynamics of robots with a floating base against the free-flyer of Pinocchio, and closed loops by virtual work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ytheta
from tests.support.example_robots import urdf
from tests.support.pinocchio_peer import Peer, peer
from tests.support.random_robots import robots
from ytheta.dynamics.formulations.newton_euler import inverse_dynamics, regressor
from ytheta.dynamics.formulations.registry import explain_recursion_refusals, formulations
from ytheta.dynamics.mechanism import Motion, build_mechanism, numeric_motion
from ytheta.errors import InputError
from ytheta.robot.floating import float_base
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

ACCEPTING = ("newton_euler", "spatial_tree", "inward_newton_euler")  # formulations
URDFS = ("go2.urdf", "talos_reduced.urdf", "hyq_no_sensors.urdf", "double_pendulum.urdf")
TOLERANCE = 1e-10  # relative to the largest number; rounding errors of fast motions of heavy robots


def load_floating(name: str) -> Robot:
    robot = float_base(ytheta.load(urdf(name) if name.endswith(".urdf") else name))
    return robot.with_drives(lambda *_: Drive())


def draw_state(robot: Robot, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-1.5, 1.5, (3, len(robot.actuated)))
    return q, 2.0 * qd, 3.0 * qdd


def measure_error(result: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(result - expected).max() / max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", URDFS)
@pytest.mark.parametrize("formulation", ACCEPTING)
def test_regressor_by_pinocchio(name: str, formulation: str) -> None:
    robot = load_floating(name)
    state = draw_state(robot)
    Y = ytheta.regressor(robot, formulation=formulation, backend="interpreter").one(*state)
    links = 10 * (len(robot.merged.links) - 1)
    assert measure_error(Y[:, :links], peer(robot).regressor(*state)) < TOLERANCE
    q, qd, qdd = state
    wrong = qd.copy()
    wrong[:3], wrong[3:6] = qd[3:6], qd[:3]  # a twist that begins with the angular velocity
    assert measure_error(Y[:, :links], peer(robot).regressor(q, wrong, qdd)) > 1e-3


@pytest.mark.parametrize("name", URDFS)
def test_kernels_by_pinocchio(name: str) -> None:
    robot = load_floating(name)
    pinocchio, (q, qd, qdd) = peer(robot), draw_state(robot)
    # Machine code of a humanoid takes half a minute to compile; that it equals the interpreter is tested elsewhere.
    backend = "interpreter" if name == "talos_reduced.urdf" else "llvm"
    tau = ytheta.inverse_dynamics(robot, backend=backend).one(q, qd, qdd)
    assert measure_error(tau, pinocchio.torque(q, qd, qdd)) < TOLERANCE
    assert measure_error(ytheta.mass_matrix(robot, backend=backend).one(q), pinocchio.mass_matrix(q)) < TOLERANCE
    assert measure_error(ytheta.gravity(robot, backend=backend).one(q), pinocchio.torque(q, 0 * q, 0 * q)) < TOLERANCE
    assert measure_error(ytheta.bias(robot, backend=backend).one(q, qd), pinocchio.torque(q, qd, 0 * q)) < TOLERANCE
    forward = ytheta.forward_dynamics(robot, backend=backend)
    assert measure_error(forward.one(q, qd, tau), qdd) < 1e-8  # light feet: M is ill-conditioned
    free = tau.copy()
    free[:6] = 0.0  # nothing holds the base
    accelerations = forward.one(q, qd, free)
    assert measure_error(accelerations, pinocchio.acceleration(q, qd, free)) < 1e-8
    assert measure_error(accelerations, qdd) > 1e-3
    by_regressor = ytheta.forward_dynamics(robot, method="regressor", backend=backend).one(q, qd, free)
    assert measure_error(by_regressor, accelerations) < 1e-6


@pytest.mark.parametrize("axes", ["frame", "base"])
def test_wrenches_and_jacobians_by_pinocchio(axes: str) -> None:
    robot = load_floating("go2.urdf")
    pinocchio, (q, qd, qdd) = peer(robot), draw_state(robot)
    wrench, frame = np.array([10.0, -20.0, 30.0, 1.0, -2.0, 3.0]), "FL_foot"
    J = ytheta.jacobian(robot, frame, axes=axes).one(q)
    assert measure_error(J, pinocchio.frame_jacobian(q, frame, base_axes=axes == "base")) < TOLERANCE
    tau = ytheta.inverse_dynamics(robot, wrench_at=frame, wrench_axes=axes).one(q, qd, qdd, wrench)
    R = np.eye(3) if axes == "base" else pinocchio.rotation(q, frame)
    in_world = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    assert measure_error(tau, pinocchio.torque(q, qd, qdd, {frame: in_world})) < TOLERANCE
    assert measure_error(tau, pinocchio.torque(q, qd, qdd)) > 1e-2


@given(robots(loops=False, symbols=False), st.integers(0, 99))
@settings(max_examples=40)
def test_random_trees_by_pinocchio(robot: Robot, seed: int) -> None:
    """Branches, prismatic joints, loads, fixed links; the formulations themselves, with floats."""
    tree = replace(robot, couplings=(), motors=(), actuated=(), home=(), name="tree")
    floating = float_base(tree.with_drives(lambda *_: Drive()))
    mechanism = build_mechanism(floating)
    q, qd, qdd = draw_state(floating, seed)
    motion = numeric_motion(q, qd, qdd, floating=True)
    expected = peer(floating).regressor(q, qd, qdd)
    Y = regressor(mechanism, motion).astype(float)
    assert measure_error(Y, expected) < TOLERANCE
    theta = floating.theta[: Y.shape[1]]
    assert measure_error(inverse_dynamics(mechanism, motion, theta).astype(float), Y @ theta) < TOLERANCE


def test_a_small_rotation_is_exact_and_a_transposed_rotation_is_detected() -> None:
    robot = load_floating("go2.urdf")
    q, qd, qdd = draw_state(robot)
    kernel, pinocchio = ytheta.inverse_dynamics(robot), peer(robot)
    for size in (0.0, 1e-160, 1e-12, 1e-5, 3.2, 6.2):
        turned = q.copy()
        turned[3:6] = size * np.array([0.6, -0.64, 0.48])
        assert measure_error(kernel.one(turned, qd, qdd), pinocchio.torque(turned, qd, qdd)) < TOLERANCE
        if size > 1.0:
            turned[3:6] *= -1.0
            assert measure_error(kernel.one(turned, qd, qdd), pinocchio.torque(-turned, qd, qdd)) > 1e-3


def test_two_velocities_give_the_christoffel_form() -> None:
    """tau(qd, v) = M vd + C(q, qd) v + g is symmetric in qd and v, and equals the ordinary torque for v = qd."""
    robot = load_floating("double_pendulum.urdf")
    q, qd, qdd = draw_state(robot)
    v = draw_state(robot, 2)[1]
    both = [ytheta.regressor(robot, formulation=name, reference=True) for name in ACCEPTING]
    C = ytheta.coriolis_matrix(robot)
    M, g = ytheta.mass_matrix(robot).one(q), ytheta.gravity(robot).one(q)
    for kernel in both:
        tau = kernel.one(q, qd, v, qdd) @ robot.theta
        assert measure_error(tau, M @ qdd + C.one(q, qd) @ v + g) < TOLERANCE
        assert measure_error(kernel.one(q, v, qd, qdd) @ robot.theta, tau) < TOLERANCE
    assert measure_error(C.one(q, qd) @ qd + g, ytheta.bias(robot).one(q, qd)) < TOLERANCE


def test_power_changes_the_energy() -> None:
    """d(T + V)/dt = qd . tau, with the motion of Pinocchio's integration of the twist."""
    import pinocchio as pin

    robot = load_floating("go2.urdf")
    model = peer(robot).model
    q, qd, qdd = draw_state(robot)
    tau, step = ytheta.inverse_dynamics(robot).one(q, qd, qdd), 1e-6

    def compute_energy(sign: float) -> float:
        moved = pin.integrate(model, peer(robot).configuration(q), sign * step * (qd + 0.5 * sign * step * qdd))
        back = np.concatenate([moved[:3], pin.log3(pin.Quaternion(moved[3:7]).matrix()), moved[7:]])
        return float(ytheta.energy(robot).one(back, qd + sign * step * qdd).sum())

    power = (compute_energy(1.0) - compute_energy(-1.0)) / (2.0 * step)
    assert power == pytest.approx(qd @ tau, rel=1e-6)
    assert power != pytest.approx(qd[6:] @ tau[6:], rel=1e-2)


@pytest.mark.parametrize("name", ["five-bar", "palletiser"])
def test_loops_by_virtual_work(name: str) -> None:
    """tau = Eᵀ rho with rho of Pinocchio for the opened tree; E and its rate by differences of closed poses."""
    robot = load_floating(name)
    tree: Peer = peer(replace(robot, loops=(), couplings=(), motors=(), actuated=(), home=()))
    rng = np.random.default_rng(3)
    size = len(robot.actuated)
    Q = np.array([dict(robot.home).get(each, 0.0) for each in robot.actuated]) + rng.uniform(-0.1, 0.1, size)
    Qd, Qdd, h = *rng.uniform(-1.0, 1.0, (2, size)), 1e-4

    def close(joints: np.ndarray) -> np.ndarray:
        values = dict(zip(robot.actuated[6:], joints.tolist(), strict=True))
        return ytheta.close_loops(robot, values).q[6:]

    q = np.concatenate([Q[:6], close(Q[6:])])
    E = np.zeros((len(q), size))
    E[:6, :6] = np.eye(6)
    for k in range(6, size):
        e = np.zeros(size - 6)
        e[k - 6] = h
        E[6:, k] = (close(Q[6:] + e) - close(Q[6:] - e)) / (2.0 * h)
    ahead, behind = (close(Q[6:] + s * h * Qd[6:] + 0.5 * h * h * Qdd[6:]) for s in (1.0, -1.0))
    qd = np.concatenate([Qd[:6], (ahead - behind) / (2.0 * h)])
    qdd = np.concatenate([Qdd[:6], (ahead - 2.0 * q[6:] + behind) / h**2])
    expected = E.T @ tree.torque(q, qd, qdd)
    tau = ytheta.inverse_dynamics(robot).one(Q, Qd, Qdd)
    assert measure_error(tau, expected) < 1e-5  # second differences
    assert measure_error(tau, E.T @ tree.torque(q, qd, 0 * qdd)) > 1e-2


def test_other_formulations_refuse_a_floating_base() -> None:
    robot = load_floating("double_pendulum.urdf")
    for name, reason in {**formulations(robot), **explain_recursion_refusals(robot)}.items():
        accepted = name in ACCEPTING
        assert (reason is None) == accepted
        assert accepted or (reason is not None and "floating base" in reason and "newton_euler" in reason)
    with pytest.raises(InputError, match=r"lagrange does not accept this robot: .* has a floating base"):
        ytheta.regressor(robot, formulation="lagrange")


def test_motion_at_rest_keeps_the_rotation() -> None:
    motion = numeric_motion(np.ones(8), np.ones(8), np.ones(8), floating=True)
    assert isinstance(motion.at_rest, Motion)
    assert motion.at_rest.base_rotation is motion.base_rotation
