"""Graphs of whole robots: drives, friction and couplings, against Pinocchio with those terms added by hand."""

from __future__ import annotations

from dataclasses import replace

import pinocchio as pin
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot, driven_robot, evaluate, expected_torque
from tests.support.pinocchio_peer import peer
from tests.support.states import close, state
from ytheta.dynamics import graphs
from ytheta.errors import InputError
from ytheta.robot.robot import Robot


def make_reordered_robot() -> Robot:
    """The coupled robot with its motor first in the order of the coordinates."""
    return replace(coupled_robot(), actuated=("m6", "joint1", "joint2", "joint3", "joint5", "joint4"))


DRIVEN = ("ur10", "stanford", "panda", "lu-two-link")
ROBOTS = [*(driven_robot(name) for name in DRIVEN), make_reordered_robot(), coupled_robot()]
IDS = [*DRIVEN, "coupled and reordered", "coupled puma560"]


@pytest.mark.parametrize("robot", ROBOTS, ids=IDS)
def test_all_graphs_equal_pinocchio_with_drives(robot: Robot) -> None:
    x, xd, xdd = state(len(robot.coordinates))
    zero = 0 * x
    tau = evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd)
    assert close(tau, expected_torque(robot, x, xd, xdd))
    bias = evaluate(graphs.bias_graph(robot), x, xd)
    assert close(bias, expected_torque(robot, x, xd, zero))
    M = evaluate(graphs.mass_matrix_graph(robot), x)
    assert close(M @ xdd, tau - bias)
    assert close(M, M.T)
    g = evaluate(graphs.gravity_graph(robot), x)
    A, b = robot.coupling_map
    assert close(g, A.T @ peer(robot).torque(A @ x + b, 0 * (A @ x), 0 * (A @ x)))
    C = evaluate(graphs.coriolis_graph(robot), x, xd)
    frictionless = A.T @ peer(robot).torque(A @ x + b, A @ xd, A @ xdd)
    rotors = M - A.T @ peer(robot).mass_matrix(A @ x + b) @ A
    assert close(C @ xd + g + (M - rotors) @ xdd, frictionless)
    assert close(evaluate(graphs.momentum_graph(robot), x, xd), M @ xd)
    kinetic, potential = evaluate(graphs.energy_graph(robot), x, xd)
    assert kinetic == pytest.approx(xd @ M @ xd / 2)
    model = peer(robot).model
    height = pin.computePotentialEnergy(model, model.createData(), A @ x + b)
    assert potential == pytest.approx(height)
    assert close(evaluate(graphs.forward_dynamics_graph(robot), x, xd, tau), xdd, 1e-8)


@pytest.mark.parametrize("robot", ROBOTS[-2:], ids=IDS[-2:])
def test_theta_as_an_input(robot: Robot) -> None:
    graph = graphs.inverse_dynamics_graph(robot, theta_input=True)
    assert [entry.shared for entry in graph.inputs] == [False, False, False, True]
    x, xd, xdd = state(len(robot.coordinates))
    assert close(evaluate(graph, x, xd, xdd, robot.theta), expected_torque(robot, x, xd, xdd))
    assert close(evaluate(graph, x, xd, xdd, 2 * robot.theta), 2 * expected_torque(robot, x, xd, xdd))


def test_a_missing_drive_is_detected() -> None:
    robot = driven_robot("ur10")
    x, xd, xdd = state(6)
    without = evaluate(graphs.inverse_dynamics_graph(ytheta.load("ur10")), x, xd, xdd)
    assert not close(without, expected_torque(robot, x, xd, xdd))


def test_the_digest_depends_on_the_computation() -> None:
    robot = ytheta.load("stanford")
    graph, same = graphs.gravity_graph(robot), graphs.gravity_graph(robot)
    heavier = robot.with_inertias({"link3": robot.link("link3").inertia + robot.link("link3").inertia})
    assert graph.digest == same.digest
    assert graph.digest != graphs.gravity_graph(heavier).digest


@pytest.mark.parametrize("robot", [*ROBOTS[:2], ROBOTS[-1]], ids=[*IDS[:2], IDS[-1]])
def test_the_regressor_without_accelerations(robot: Robot) -> None:
    """Y = dW/dt + Yhat along a smooth motion, dW/dt by central differences; W theta is the momentum."""
    x, xd, xdd = state(len(robot.coordinates), seed=6)
    W, Yhat = graphs.momentum_regressor_graph(robot), graphs.remainder_graph(robot)
    assert [entry.name for entry in W.inputs] == ["q", "qd"]
    step = 1e-5
    ahead, behind = (evaluate(W, x + s * xd + s * s / 2 * xdd, xd + s * xdd) for s in (step, -step))
    Y = evaluate(graphs.regressor_graph(robot), x, xd, xdd)
    assert close((ahead - behind) / (2 * step) + evaluate(Yhat, x, xd), Y, 1e-7)
    assert not close((ahead - behind) / (2 * step), Y, 1e-7)
    momentum = evaluate(graphs.momentum_graph(robot), x, xd)
    assert close(evaluate(W, x, xd) @ robot.theta, momentum)


def test_the_regressor_without_accelerations_needs_a_tree() -> None:
    with pytest.raises(InputError, match=r"comes from the Lagrangian of a tree: .* use spatial_tree for Y itself"):
        graphs.remainder_graph(ytheta.load("five-bar"))
