"""The symbolic model of a robot: equal to its kernels, with numbers and with symbols for the parameters."""

from __future__ import annotations

import casadi
import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot, driven_robot
from tests.support.forced_robots import SPRING, with_forces
from tests.support.states import close, state
from ytheta.dynamics.constraint import build_constraint, column
from ytheta.dynamics.mechanism import scalars
from ytheta.dynamics.symbolic_model import SymbolicModel, multiply_transposed_regressor
from ytheta.robot.robot import Robot

ROBOTS = [driven_robot("ur10"), coupled_robot(), with_forces(driven_robot("puma560"), SPRING)]
IDS = ["ur10", "coupled puma560", "puma560 with a spring"]


def make_symbolic_model(robot: Robot) -> tuple[SymbolicModel, casadi.SX]:
    theta = casadi.SX.sym("theta", len(robot.parameter_names))
    return SymbolicModel(build_constraint(robot), scalars(theta)), theta


@pytest.mark.parametrize("robot", ROBOTS, ids=IDS)
def test_equals_the_kernels(robot: Robot) -> None:
    model, theta = make_symbolic_model(robot)
    q, qd, qdd = state(len(robot.actuated))
    torque = model.torque(qd.astype(object), qdd.astype(object))
    outputs = [column(torque), column(model.holding_torque), column(model.mass_matrix.ravel())]
    tau, held, M = casadi.Function("model", [model.loops.x, theta], outputs)(q, robot.theta)
    assert close(np.array(tau)[:, 0], ytheta.inverse_dynamics(robot).one(q, qd, qdd))
    assert close(np.array(held)[:, 0], ytheta.gravity(robot).one(q))
    inertial = ytheta.inverse_dynamics(robot).one(q, qd, qdd) - ytheta.bias(robot).one(q, qd)
    assert close(np.array(M).reshape(len(q), -1) @ qdd, inertial)
    assert not close(np.array(tau)[:, 0], ytheta.inverse_dynamics(robot).one(q, qd, 1.01 * qdd))


@pytest.mark.parametrize("robot", ROBOTS, ids=IDS)
def test_parts_of_theta_follow_the_parameter_names(robot: Robot) -> None:
    model = SymbolicModel(build_constraint(robot), np.array(robot.parameter_names, dtype=object))
    assert [*model.link_theta, *model.drive_theta.ravel(), *model.force_theta] == list(robot.parameter_names)
    assert all(name.endswith(".Ia") for name in model.drive_theta[:, 0])
    assert [name.removesuffix(".k") for name in model.force_theta] == [force.name for force in robot.forces]


@pytest.mark.parametrize("robot", ROBOTS, ids=IDS)
def test_product_with_the_transposed_regressor(robot: Robot) -> None:
    """Yᵀ w by automatic differentiation equals the regressor of two velocities, transposed, times w."""
    model, theta = make_symbolic_model(robot)
    q, qd, vd = state(len(robot.actuated))
    v, w, _ = state(len(robot.actuated), seed=1)
    torque = model.torque(*(vector.astype(object) for vector in (qd, vd, v)))
    product = multiply_transposed_regressor(torque, theta, w.astype(object))
    values = casadi.Function("product", [model.loops.x], [column(product)])(q)
    Y = ytheta.regressor(robot, reference=True).one(q, qd, v, vd)
    assert close(np.array(values)[:, 0], Y.T @ w)
    assert not close(np.array(values)[:, 0], Y.T @ (1.01 * w))


def test_without_unknowns_the_product_is_empty() -> None:
    torque = np.array([casadi.SX.sym("tau")], dtype=object)
    assert multiply_transposed_regressor(torque, casadi.SX(0, 1), np.ones(1, dtype=object)).shape == (0,)
