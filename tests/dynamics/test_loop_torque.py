"""Torques and regressors of robots with loops: compared with Lagrange multipliers, MuJoCo and the energy balance."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.cut_joint_matrices import compute_positions_by_matrices, compute_residuals_by_matrices
from tests.support.loop_motion import (
    DIFFERENCE_TOLERANCE,
    ROUNDING_TOLERANCE,
    close_pose,
    differentiate_motion,
    draw_motion,
    evaluate,
    get_constraint,
    get_regressor,
    is_close,
)
from tests.support.loop_robots import NAMES, make_looped_robot
from tests.support.mujoco_peer import tree_torque
from tests.support.pinocchio_peer import peer
from ytheta.dynamics import rigid_body
from ytheta.dynamics.constraint import LoopConstraint
from ytheta.dynamics.formulations import kronecker, lagrange, newton_euler, spatial_tree
from ytheta.dynamics.graphs import declare_inputs, inverse_dynamics_graph, regressor_graph
from ytheta.dynamics.mechanism import build_mechanism, casadi_motion, numeric_motion
from ytheta.dynamics.symbolic_model import LinkRegressor, full_regressor
from ytheta.native.graph import Graph, Input, trace
from ytheta.robot.parts import Coupling, Drive, Loop, Motor
from ytheta.robot.robot import Robot


def differentiate_residuals(robot: Robot, x: np.ndarray) -> np.ndarray:
    return differentiate(lambda at: compute_residuals_by_matrices(robot, at), x)


def differentiate_cut_positions(robot: Robot, x: np.ndarray) -> np.ndarray:
    """Derivatives of the positions of revolute and prismatic cut joints by the coordinates."""
    A, b = robot.coupling_map
    return differentiate(lambda at: compute_positions_by_matrices(robot, A @ at + b), x)


def differentiate(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """Derivatives by central differences, one column for each coordinate."""
    return np.stack([(function(x + 1e-5 * e) - function(x - 1e-5 * e)) / 2e-5 for e in np.eye(len(x))], axis=1)


def compute_torque_by_multipliers(name: str, robot: Robot, seed: int = 0, *, left_out: int | None = None) -> np.ndarray:
    """tau from S^T tau + J^T lambda = rho, with generalized forces of the coordinates x.

    ``left_out`` is the index of a loop whose constraint forces are left out.
    """
    robot = robot.numeric.merged
    x, xd, xdd = differentiate_motion(name, seed)
    A, b = robot.coupling_map
    q, qd, qdd = A @ x + b, A @ xd, A @ xdd
    mech = build_mechanism(robot)
    bodies = 10 * len(mech.bodies)
    rho = A.T @ newton_euler.inverse_dynamics(mech, numeric_motion(q, qd, qdd), robot.theta[:bodies]).astype(float)
    gradients = np.concatenate(
        [
            A,
            differentiate_cut_positions(robot, x),
            np.eye(len(x))[[robot.coordinates.index(motor.name) for motor in robot.motors]],
        ]
    )
    after, before = (differentiate_cut_positions(robot, x + t * xd) for t in (1e-4, -1e-4))
    cut_accelerations = (after - before) @ xd / 2e-4
    rates, accelerations = gradients @ xd, gradients @ xdd
    accelerations[len(A) : len(A) + len(cut_accelerations)] += cut_accelerations
    drives = robot.theta[bodies:].reshape(-1, 4)
    drive_torques = drives[:, 0] * accelerations + drives[:, 1] * rates + drives[:, 2] * np.sign(rates) + drives[:, 3]
    rho = rho + gradients.T @ drive_torques
    J = differentiate_residuals(robot, x)
    if left_out is not None:
        per_loop = len(J) // len(robot.loops)
        J = np.delete(J, slice(per_loop * left_out, per_loop * (left_out + 1)), axis=0)
    S = np.eye(len(x))[[robot.coordinates.index(name) for name in robot.actuated]]
    forces, *_ = np.linalg.lstsq(np.concatenate([S, J]).T, rho, rcond=1e-7)
    return forces[: len(S)]


@pytest.mark.parametrize("name", NAMES)
def test_torque_by_lagrange_multipliers(name: str) -> None:
    robot = make_looped_robot(name)
    graph = inverse_dynamics_graph(robot)
    for seed in (0, 1):
        Q, Qd, Qdd = draw_motion(name, seed)
        x = close_pose(get_constraint(name), Q)
        expected = compute_torque_by_multipliers(name, robot, seed)
        Y = evaluate(get_regressor(name), x, Qd, Qdd)
        assert Y.shape == (len(robot.actuated), len(robot.parameter_names))
        assert is_close(Y @ robot.numeric.theta, expected, 10 * DIFFERENCE_TOLERANCE)
        tau = evaluate(graph, x, Qd, Qdd)
        assert is_close(tau, Y @ robot.numeric.theta, ROUNDING_TOLERANCE)


def test_multipliers_reveal_errors() -> None:
    robot = make_looped_robot("walker")
    Q, Qd, Qdd = draw_motion("walker")
    x = close_pose(get_constraint("walker"), Q)
    tau = evaluate(get_regressor("walker"), x, Qd, Qdd) @ robot.theta
    assert not is_close(tau, compute_torque_by_multipliers("walker", robot, left_out=1), 0.01)
    upside_down = replace(robot, gravity=(0.0, 0.0, 9.8))
    assert not is_close(tau, compute_torque_by_multipliers("walker", upside_down), 0.01)
    frictionless = replace(robot, loops=tuple(Loop(replace(loop.joint, drive=Drive())) for loop in robot.loops))
    assert not is_close(tau, compute_torque_by_multipliers("walker", frictionless), 1e-4)


def test_an_opened_loop_changes_the_torque() -> None:
    robot = make_looped_robot("walker")
    opened = replace(robot, loops=robot.loops[:1], actuated=(*robot.actuated, "q2", "q6"))
    _, Qd, Qdd = draw_motion("walker")
    x, xd, xdd = differentiate_motion("walker")
    actuated = [robot.coordinates.index(name) for name in opened.actuated]
    tau = evaluate(inverse_dynamics_graph(robot), x, Qd, Qdd)
    opened_tau = evaluate(inverse_dynamics_graph(opened), x, xd[actuated], xdd[actuated])[:3]
    assert abs(opened_tau[1] - tau[1]) > 0.1 * abs(tau[1])  # of the cylinder in the opened loop


@pytest.mark.parametrize("name", [name for name in NAMES if name != "slide"])
def test_torque_by_mujoco(name: str) -> None:
    """The torque of MuJoCo's tree, projected onto the motions that MuJoCo's loop constraints allow, without drives."""
    robot = make_looped_robot(name).numeric.merged
    links = 10 * (len(robot.links) - 1)
    for seed in (0, 1):
        _, Qd, Qdd = draw_motion(name, seed)
        x, xd, xdd = differentiate_motion(name, seed)
        A, b = robot.coupling_map
        rho, J = tree_torque(robot, A @ x + b, A @ xd, A @ xdd)
        _, values, right = np.linalg.svd(J @ A)
        allowed = right[np.count_nonzero(values > 1e-9 * values[0]) :].T
        assert allowed.shape[1] == len(robot.actuated)
        actuated = allowed[[robot.coordinates.index(name) for name in robot.actuated]]
        expected = np.linalg.solve(actuated.T, allowed.T @ A.T @ rho)
        Y = evaluate(get_regressor(name), x, Qd, Qdd)
        assert is_close(Y[:, :links] @ robot.theta[:links], expected, DIFFERENCE_TOLERANCE)
        theta = robot.theta[:links].copy()
        theta[-10:] *= 1.01  # the twin: the last link is 1 % heavier
        assert not is_close(Y[:, :links] @ theta, expected, DIFFERENCE_TOLERANCE)


@pytest.mark.parametrize("name", NAMES)
def test_power_equals_energy_rate_and_friction(name: str) -> None:
    """tau^T Qd = d/dt (kinetic + potential energy) + friction power, with rotors and cut joints."""
    robot = make_looped_robot(name).numeric.merged
    mech, loops = build_mechanism(robot), get_constraint(name)
    Q, Qd, Qdd = draw_motion(name, 3)
    bodies = 10 * len(mech.bodies)
    drives = robot.theta[bodies:].reshape(-1, 4)
    compute_rates = make_drive_rates(loops)

    def compute_energy(t: float) -> float:
        rate = Qd + t * Qdd
        x = close_pose(loops, Q + t * Qd + t * t / 2 * Qdd)
        A, b = robot.coupling_map
        motion = numeric_motion(A @ x + b, A @ np.array(loops.tangent(x)) @ rate, 0 * (A @ x))
        links = rigid_body.kinetic_energy(mech, motion, robot.theta[:bodies])
        links += rigid_body.potential_energy(mech, motion, robot.theta[:bodies])
        return float(links + drives[:, 0] @ compute_rates(x, rate) ** 2 / 2)

    h = 1e-4
    x = close_pose(loops, Q)
    rates = compute_rates(x, Qd)
    friction = rates @ (drives[:, 1] * rates + drives[:, 2] * np.sign(rates) + drives[:, 3])
    tau = evaluate(get_regressor(name), x, Qd, Qdd) @ robot.theta
    energies = [compute_energy(step * h) for step in (-2, -1, 1, 2)]
    energy_rate = np.array([1.0, -8.0, 8.0, -1.0]) @ energies / (12 * h)
    assert tau @ Qd == pytest.approx(energy_rate + friction, rel=1e-5, abs=1e-5)
    assert tau @ Qd != pytest.approx(energy_rate, rel=1e-3, abs=1e-3)


def make_drive_rates(loops: LoopConstraint):  # type: ignore[no-untyped-def]
    """Return the function (x, Qd) → velocities of all drives, from differences of positions along the motion."""
    robot = loops.robot
    A, b = robot.coupling_map

    def compute_positions(x: np.ndarray) -> np.ndarray:
        cuts = compute_positions_by_matrices(robot, A @ x + b)
        return np.array([*(A @ x + b), *cuts, *(x[robot.coordinates.index(motor.name)] for motor in robot.motors)])

    def compute_rates(x: np.ndarray, Qd: np.ndarray) -> np.ndarray:
        Q = x[list(loops.actuated)]
        after, before = (compute_positions(close_pose(loops, Q + t * Qd)) for t in (1e-5, -1e-5))
        rates: np.ndarray = (after - before) / 2e-5
        return rates

    return compute_rates


@pytest.mark.parametrize("name", NAMES)
def test_friction_columns_do_virtual_work(name: str) -> None:
    """Qd times the column of a drive parameter is the velocity of the drive times the factor of that parameter."""
    loops = get_constraint(name)
    Q, Qd, Qdd = draw_motion(name, 4)
    x = close_pose(loops, Q)
    rates = make_drive_rates(loops)(x, Qd)
    columns = Qd @ evaluate(get_regressor(name), x, Qd, Qdd)[:, 10 * len(loops.mechanism.bodies) :]
    Ia, fv, fc, fo = columns.reshape(-1, 4).T
    assert is_close(fv, rates**2, DIFFERENCE_TOLERANCE)
    assert is_close(fc, np.abs(rates), DIFFERENCE_TOLERANCE)
    assert is_close(fo, rates, DIFFERENCE_TOLERANCE)
    assert not is_close(fv[:-1], rates[1:] ** 2, 1e-3)
    h = 1e-4
    before, after = (
        make_drive_rates(loops)(close_pose(loops, Q + t * Qd + t * t / 2 * Qdd), Qd + t * Qdd) for t in (-h, h)
    )
    assert is_close(Ia, rates * (after - before) / (2 * h), 1e-4)


def test_theta_as_an_input() -> None:
    robot = make_looped_robot("walker")
    graph = inverse_dynamics_graph(robot, theta_input=True)
    assert [entry.shared for entry in graph.inputs] == [False, False, False, True]
    assert [entry.name for entry in graph.inputs] == ["x", "qd", "qdd", "theta"]
    Q, Qd, Qdd = draw_motion("walker")
    x = close_pose(get_constraint("walker"), Q)
    theta = np.random.default_rng(0).normal(size=len(robot.parameter_names))
    assert is_close(
        evaluate(graph, x, Qd, Qdd, theta), evaluate(get_regressor("walker"), x, Qd, Qdd) @ theta, ROUNDING_TOLERANCE
    )


def make_regressor_graph(robot: Robot, links: LinkRegressor) -> Graph:
    """The full regressor of a robot, with the regressor of its links from any formulation."""
    inputs = declare_inputs(robot, "qd", "qdd")
    Y = full_regressor(inputs.loops, links, inputs.vector("qd"), inputs.vector("qdd"))
    return inputs.trace_output("regressor", Y)


@pytest.mark.parametrize("name", ["walker", "slide"])
def test_every_formulation_gives_the_same_regressor(name: str) -> None:
    Q, Qd, Qdd = draw_motion(name)
    x = close_pose(get_constraint(name), Q)
    expected = evaluate(get_regressor(name), x, Qd, Qdd)
    for links in (spatial_tree.regressor, lagrange.regressor, kronecker.regressor):
        assert is_close(
            evaluate(make_regressor_graph(make_looped_robot(name), links), x, Qd, Qdd), expected, ROUNDING_TOLERANCE
        )


@pytest.mark.parametrize("name", ["walker", "palletiser", "ring", "slide"])
def test_reference_velocity(name: str) -> None:
    """s^T (Y(Qd, Qdd) - Y(Qd, V, Vd)) theta = d/dt (s^T M s / 2) for s = Qd - V, if M, C and Edot are consistent."""
    robot = make_looped_robot(name).numeric.merged
    mech, loops = build_mechanism(robot), get_constraint(name)
    graph = regressor_graph(robot, reference=True)
    assert [entry.name for entry in graph.inputs] == ["x", "qd", "v", "vd"]
    Q, Qd, Qdd = draw_motion(name)
    x = close_pose(loops, Q)
    ordinary = evaluate(get_regressor(name), x, Qd, Qdd)
    assert is_close(evaluate(graph, x, Qd, Qd, Qdd), ordinary, ROUNDING_TOLERANCE)
    V, Vd = np.random.default_rng(9).uniform(-1.0, 1.0, (2, len(Q)))
    links = 10 * len(mech.bodies)
    theta = robot.theta.copy()
    theta[links:].reshape(-1, 4)[:, 1:] = 0.0
    Y = evaluate(graph, x, Qd, V, Vd)
    compute_rates = make_drive_rates(loops)

    def compute_energy(t: float) -> float:
        s = Qd - V + t * (Qdd - Vd)
        at = close_pose(loops, Q + t * Qd + t * t / 2 * Qdd)
        A, b = robot.coupling_map
        motion = numeric_motion(A @ at + b, A @ np.array(loops.tangent(at)) @ s, 0 * (A @ at))
        rotors = theta[links::4] @ compute_rates(at, s) ** 2 / 2
        return float(rigid_body.kinetic_energy(mech, motion, theta[:links]) + rotors)

    change = (compute_energy(1e-4) - compute_energy(-1e-4)) / 2e-4
    assert (Qd - V) @ (ordinary - Y) @ theta == pytest.approx(change, rel=1e-5, abs=1e-6)
    assert Qd @ (ordinary - Y) @ theta != pytest.approx(change, rel=1e-2)
    viscous = Y[:, links:].reshape(len(Q), -1, 4)[:, :, 1]
    assert is_close(Qd @ viscous, compute_rates(x, Qd) * compute_rates(x, V), DIFFERENCE_TOLERANCE)
    coulomb = Y[:, links:].reshape(len(Q), -1, 4)[:, :, 2]
    assert is_close(Qd @ coulomb, np.abs(compute_rates(x, Qd)), DIFFERENCE_TOLERANCE)


# --- robots without loops ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ur10", "stanford", "panda"])
def test_serial_arms_need_no_additional_operations(name: str) -> None:
    """The graph contains only the operations of the formulation and one sign function per joint."""
    import casadi

    robot = ytheta.load(name)
    graph = regressor_graph(robot)
    n = len(robot.movable)
    symbols = [casadi.SX.sym(s, n) for s in ("q", "qd", "qdd")]
    inputs = [(Input(s, n), v) for s, v in zip(("q", "qd", "qdd"), symbols, strict=True)]
    links = newton_euler.regressor(build_mechanism(robot), casadi_motion(*symbols))
    drives = np.zeros((n, 4 * n), dtype=object)
    for k in range(n):
        drives[k, 4 * k : 4 * k + 4] = [symbols[2][k], symbols[1][k], casadi.sign(symbols[1][k]), 1]
    expected = trace("regressor", inputs, np.concatenate([links, drives], axis=1))
    assert graph.inputs == expected.inputs
    assert graph.places == expected.places
    assert graph.function.n_instructions() == expected.function.n_instructions()
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, n))
    assert is_close(evaluate(graph, q, qd, qdd), evaluate(expected, q, qd, qdd), ROUNDING_TOLERANCE)


@cache
def load_dvrk_master(folder: Path) -> tuple[Robot, np.ndarray]:
    """The master arm of the dVRK, a tree of nine joints moved by seven motors, and its coupling matrix A."""
    robot = ytheta.load(folder / "mtm_tree.urdf")
    with (folder / "tree_mdh.csv").open() as file:
        rows = {f"joint_{row['link']}": [float(row[f"c_q{k}"]) for k in range(1, 8)] for row in csv.DictReader(file)}
    couplings = tuple(
        Coupling(name, tuple((f"q{k}", c) for k, c in enumerate(row, start=1) if c)) for name, row in rows.items()
    )
    motors = tuple(Motor(f"q{k}", drive=Drive(0.01 * k, viscous=0.2)) for k in range(1, 8))
    coupled = replace(robot, couplings=couplings, motors=motors, actuated=())
    return coupled, np.array([rows[joint.name] for joint in robot.movable])


def test_couplings_of_the_dvrk(shared_data: Path) -> None:
    folder = shared_data / "dvrk_mtm"
    if not folder.is_dir():
        pytest.skip("the dVRK description is not in the shared data folder")
    robot, A = load_dvrk_master(folder)
    assert robot.coordinates == tuple(f"q{k}" for k in range(1, 8))
    q, qd, qdd = np.random.default_rng(1).uniform(-1.0, 1.0, (3, 7))
    Y = evaluate(regressor_graph(robot), q, qd, qdd)
    tree = peer(robot).regressor(A @ q, A @ qd, A @ qdd)
    assert is_close(Y[:, :90], A.T @ tree, ROUNDING_TOLERANCE)
    joints = Y[:, 90:126].reshape(7, 9, 4)
    for k, value in enumerate((A @ qdd, A @ qd, np.sign(A @ qd), np.ones(9))):
        assert is_close(joints[:, :, k], A.T * value, ROUNDING_TOLERANCE)
    motors = Y[:, 126:].reshape(7, 7, 4)
    assert is_close(motors[:, :, 0], np.diag(qdd), ROUNDING_TOLERANCE)
    assert not is_close(Y[:, :90], A.T @ peer(robot).regressor(A @ q, A @ qd, 0 * (A @ qdd)), 0.01)
