"""Root and load-dependent friction in every kernel: links by Pinocchio, the laws by hand, energy that only falls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot, evaluate
from tests.support.forced_robots import with_forces
from tests.support.friction_robots import add_friction_laws, compute_torque_by_hand
from tests.support.states import close, state
from ytheta.dynamics import graphs
from ytheta.errors import InputError, RobotError
from ytheta.robot.parts import Force, compute_friction
from ytheta.robot.robot import Robot

ROBOTS = ("ur10", "stanford", "puma560")


def make_robot(name: str) -> Robot:
    return add_friction_laws(ytheta.load(name))


def draw_states(robot: Robot, count: int = 41) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, qd, qdd = np.random.default_rng(7).normal(size=(3, count, len(robot.actuated)))
    qd[0] = 0.0
    return q, qd, 3.0 * qdd


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize(("root", "load"), [(True, True), (True, False), (False, True)])
def test_inverse_dynamics_is_the_formula_by_hand(name: str, *, root: bool, load: bool) -> None:
    robot = add_friction_laws(ytheta.load(name), root=root, load=load)
    q, qd, qdd = draw_states(robot)
    expected = np.array([compute_torque_by_hand(robot, *sample) for sample in zip(q, qd, qdd, strict=True)])
    for formulation in ("newton_euler", "minimal_newton_euler", "composite_newton_euler"):
        tau = ytheta.inverse_dynamics(robot, formulation=formulation)(q, qd, qdd)
        np.testing.assert_allclose(tau, expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(ytheta.regressor(robot)(q, qd, qdd) @ robot.theta, expected, rtol=1e-10, atol=1e-10)
    slow = ytheta.inverse_dynamics(robot, backend="interpreter")(q, qd, qdd)
    np.testing.assert_allclose(slow, expected, rtol=1e-11, atol=1e-11)
    for twin in (
        robot.with_drives(lambda _, d: replace(d, friction_speed=d.friction_speed * 1.1)),
        robot.with_drives(lambda _, d: replace(d, coulomb_speed=d.coulomb_speed * 1.1)),
        robot.with_drives(lambda _, d: replace(d, root=d.root and -d.root, load=d.load and 0.9 * d.load)),
    ):
        if root or twin.drives[1][1].friction_speed == robot.drives[1][1].friction_speed:
            assert abs(ytheta.inverse_dynamics(twin)(q, qd, qdd) - expected).max() > 1e-3


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("method", ["composite-body", "regressor"])
def test_forward_dynamics_inverts_inverse_dynamics(name: str, method: str) -> None:
    robot = make_robot(name)
    q, qd, qdd = draw_states(robot)
    tau = np.array([compute_torque_by_hand(robot, *sample) for sample in zip(q, qd, qdd, strict=True)])
    forward = ytheta.forward_dynamics(robot, method=method)
    np.testing.assert_allclose(forward(q, qd, tau), qdd, rtol=1e-9, atol=1e-9)
    unloaded = robot.with_drives(lambda _, drive: replace(drive, load=0.0))
    assert abs(ytheta.forward_dynamics(unloaded, method=method)(q, qd, tau) - qdd).max() > 0.1


def test_the_order_of_the_coordinates_does_not_matter() -> None:
    robot = make_robot("ur10")
    order = [3, 0, 5, 1, 4, 2]
    turned = replace(robot, actuated=tuple(robot.actuated[k] for k in order))
    q, qd, qdd = draw_states(robot)
    tau = ytheta.inverse_dynamics(robot)(q, qd, qdd)
    mixed = [x[:, order] for x in (q, qd, qdd)]
    np.testing.assert_allclose(ytheta.inverse_dynamics(turned)(*mixed), tau[:, order], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(ytheta.regressor(turned)(*mixed) @ turned.theta, tau[:, order], rtol=1e-10, atol=1e-10)
    back = ytheta.forward_dynamics(turned)(mixed[0], mixed[1], tau[:, order])
    np.testing.assert_allclose(back, mixed[2], rtol=1e-9, atol=1e-9)


def test_wrenches_load_the_drives() -> None:
    """The torque that a drive transmits contains that of an external wrench."""
    robot = make_robot("ur10")
    q, qd, qdd = draw_states(robot)
    w = 20.0 * np.random.default_rng(3).normal(size=(len(q), 6))
    frame = robot.links[-1].name
    plain = robot.with_drives(lambda _, d: replace(d, viscous=0.0, coulomb=0.0, offset=0.0, root=None, load=None))
    rigid = ytheta.inverse_dynamics(plain, wrench_at=frame)(q, qd, qdd, w)
    friction = [
        compute_friction(drive, qd[:, k], load_torque=rigid[:, k]) + drive.offset
        for k, (_, drive) in enumerate(robot.drives)
    ]
    tau = ytheta.inverse_dynamics(robot, wrench_at=frame)(q, qd, qdd, w)
    np.testing.assert_allclose(tau, rigid + np.transpose(friction), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(
        ytheta.forward_dynamics(robot, wrench_at=frame)(q, qd, tau, w), qdd, rtol=1e-9, atol=1e-9
    )
    bias = ytheta.bias(robot, wrench_at=frame)(q, qd, w)
    np.testing.assert_allclose(bias, ytheta.inverse_dynamics(robot, wrench_at=frame)(q, qd, 0.0 * qdd, w), atol=1e-11)


def test_declared_forces_load_the_drives() -> None:
    spring = Force("spring", (("elbow_joint", "elbow_joint - 0.3"), ("shoulder_lift_joint", "1")), value=30.0)
    robot = add_friction_laws(with_forces(ytheta.load("ur10"), spring))
    q, qd, qdd = draw_states(robot)
    plain = robot.with_drives(lambda _, d: replace(d, viscous=0.0, coulomb=0.0, offset=0.0, root=None, load=None))
    rigid = ytheta.inverse_dynamics(plain)(q, qd, qdd)
    friction = [
        compute_friction(drive, qd[:, k], load_torque=rigid[:, k]) + drive.offset
        for k, (_, drive) in enumerate(robot.drives)
    ]
    tau = ytheta.inverse_dynamics(robot)(q, qd, qdd)
    np.testing.assert_allclose(tau, rigid + np.transpose(friction), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(ytheta.regressor(robot)(q, qd, qdd) @ robot.theta, tau, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(ytheta.forward_dynamics(robot)(q, qd, tau), qdd, rtol=1e-8, atol=1e-8)


def test_the_columns_are_derivatives_by_the_parameters() -> None:
    """Central differences of the torque; the torque is linear in fs and fl, so that the step may be large."""
    robot = make_robot("ur10")
    q, qd, qdd = draw_states(robot, 5)
    kernel = ytheta.inverse_dynamics(robot, theta_input=True)
    names = [name for name in robot.parameter_names if name.endswith((".fs", ".fl"))]
    Y = ytheta.regressor(robot, parameters=names)(q, qd, qdd)
    for k, name in enumerate(names):
        unit = np.array([float(each == name) for each in robot.parameter_names])
        slope = kernel(q, qd, qdd, robot.theta + 0.5 * unit) - kernel(q, qd, qdd, robot.theta - 0.5 * unit)
        np.testing.assert_allclose(Y[:, :, k], slope, rtol=1e-9, atol=1e-9)


def test_the_column_of_load_friction_depends_on_the_values_of_the_robot() -> None:
    robot = make_robot("ur10")
    q, qd, qdd = draw_states(robot, 5)
    heavy = robot.with_load(ytheta.Inertia((5.0, *[0.0] * 9)))
    loads = [f"{name}.fl" for name in robot.actuated]
    columns = [ytheta.regressor(each, parameters=loads)(q, qd, qdd) for each in (robot, heavy)]
    assert abs(columns[0] - columns[1]).max() > 1.0
    roots = [f"{name}.fs" for name in robot.actuated]
    columns = [ytheta.regressor(each, parameters=roots)(q, qd, qdd) for each in (robot, heavy)]
    np.testing.assert_array_equal(columns[0], columns[1])


def test_reference_velocity_enters_viscous_friction_only() -> None:
    robot = make_robot("ur10")
    q, qd, qdd = draw_states(robot, 5)
    v = -2.0 * qd + 0.3
    names = [f"{name}.{symbol}" for name in robot.actuated for symbol in ("fv", "fs")]
    Y = ytheta.regressor(robot, parameters=names, reference=True)(q, qd, v, qdd)
    for k, (_, drive) in enumerate(robot.drives):
        bound = drive.friction_speed or np.inf
        np.testing.assert_allclose(Y[:, k, 2 * k], np.clip(v[:, k], -bound, bound), rtol=1e-14)
        unit = replace(drive, viscous=0.0, coulomb=0.0, root=1.0, load=None)
        np.testing.assert_allclose(Y[:, k, 2 * k + 1], compute_friction(unit, qd[:, k]), rtol=1e-13, atol=1e-14)


def test_root_friction_with_couplings_and_in_the_remainder() -> None:
    robot = add_friction_laws(coupled_robot(), load=False)
    x, xd, xdd = state(len(robot.coordinates))
    A, _ = robot.coupling_map
    D = np.concatenate([A, robot.motor_map[0]])
    names = [f"{name}.fs" for name in robot.moving]
    Y = evaluate(graphs.regressor_graph(robot, parameters=names), x, xd, xdd)
    rates = D @ xd
    units = [replace(d, viscous=0.0, coulomb=0.0, root=1.0) for _, d in robot.drives]
    factors = np.array([float(compute_friction(d, v)) for d, v in zip(units, rates, strict=True)])
    assert close(Y, D.T * factors, 1e-13)
    assert not close(Y, D.T * factors * 1.01, 1e-4)
    assert close(evaluate(graphs.remainder_graph(robot, parameters=names), x, xd), Y, 1e-13)
    tau = evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd)
    assert close(evaluate(graphs.forward_dynamics_graph(robot), x, xd, tau), xdd, 1e-8)


def test_load_friction_has_no_column_in_the_remainder() -> None:
    robot = make_robot("ur10")
    for make in (graphs.remainder_graph, graphs.momentum_regressor_graph):
        with pytest.raises(
            InputError, match=r"'shoulder_pan_joint.fl' is load-dependent friction, which depends on acc"
        ):
            make(robot)
        assert make(robot, parameters=["elbow_joint.fs", "elbow_joint.Ia"]).shape == (6, 2)


@pytest.mark.parametrize("load", [-0.01, 1.0, 7.0])
def test_forward_dynamics_refuses_unusable_load_friction(load: float) -> None:
    robot = ytheta.load("ur10").with_drives(lambda name, d: replace(d, load=load) if name == "elbow_joint" else d)
    with pytest.raises(RobotError, match=rf"load-dependent friction elbow_joint.fl is {load:g} times .* less than 1"):
        ytheta.forward_dynamics(robot)
    q, qd, qdd = draw_states(robot, 3)
    tau = ytheta.inverse_dynamics(robot)(q, qd, qdd)  # inverse dynamics of an identified robot is defined
    np.testing.assert_allclose(ytheta.regressor(robot)(q, qd, qdd) @ robot.theta, tau, rtol=1e-10, atol=1e-10)


def test_friction_takes_energy() -> None:
    """Without actuation and offsets, the energy of links and rotors falls by what friction takes, at every step."""
    robot = make_robot("ur10").with_drives(
        lambda _, d: replace(d, offset=0.0, coulomb_speed=0.05, root=None if d.root is None else abs(d.root))
    )
    forward, energy = ytheta.forward_dynamics(robot), ytheta.energy(robot)
    state_ = np.concatenate([np.full(6, 0.3), [1.0, -0.8, 1.5, -2.0, 2.0, 1.0]])[None]

    def rates(s: np.ndarray) -> np.ndarray:
        return np.concatenate([s[:, 6:], forward(s[:, :6], s[:, 6:], np.zeros((1, 6)))], axis=1)

    h, energies = 2e-4, []
    for _ in range(800):
        energies.append(float(energy(state_[:, :6], state_[:, 6:]).sum()))
        k1 = rates(state_)
        k2 = rates(state_ + 0.5 * h * k1)
        k3 = rates(state_ + 0.5 * h * k2)
        k4 = rates(state_ + h * k3)
        state_ = state_ + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    assert (np.diff(energies) < 0.0).all()
    free = robot.with_drives(lambda _, d: replace(d, viscous=0.0, coulomb=0.0, root=None, load=0.0))
    forward = ytheta.forward_dynamics(free)
    before = float(energy(state_[:, :6], state_[:, 6:]).sum())
    for _ in range(100):  # the twin: without friction, energy is constant
        k1 = rates(state_)
        k2 = rates(state_ + 0.5 * h * k1)
        state_ = state_ + h * rates(state_ + 0.5 * h * k2)
    assert float(energy(state_[:, :6], state_[:, 6:]).sum()) == pytest.approx(before, abs=1e-3)
