"""Forward dynamics from regressors, against composite bodies; the comparison with Pinocchio is in conformance."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot, evaluate
from tests.support.kernel_calls import draw_samples
from tests.support.loop_robots import make_looped_robot
from tests.support.states import close, state
from ytheta.dynamics import graphs
from ytheta.errors import InputError


def test_forward_dynamics_of_a_loop_from_its_regressor() -> None:
    """With friction and rotor inertia, also of the cut joint, and a wrench."""
    robot = make_looped_robot("five-bar")
    q, qd, tau = draw_samples(robot, 5, seed=6)
    wrench = np.random.default_rng(0).uniform(-10.0, 10.0, (5, 6))
    options = {"wrench_at": "tip_point", "backend": "interpreter"}
    expected = ytheta.forward_dynamics(robot, **options)(q, qd, tau, wrench)
    from_regressor = ytheta.forward_dynamics(robot, method="regressor", **options)
    assert close(from_regressor(q, qd, tau, wrench), expected, 1e-9)
    assert not close(from_regressor(q, 1.01 * qd, tau, wrench), expected, 1e-4)


def test_parameters_as_an_input() -> None:
    """Couplings, a motor, and parameters that differ from those of the description."""
    robot = coupled_robot()
    q, qd, tau = state(len(robot.actuated), seed=8)
    theta = robot.theta * np.random.default_rng(2).uniform(0.9, 1.1, len(robot.theta))
    expected, qdd = (
        evaluate(graphs.forward_dynamics_graph(robot, theta_input=True, method=method), q, qd, tau, theta)
        for method in ("composite-body", "regressor")
    )
    assert close(qdd, expected, 1e-9)
    assert not close(qdd, evaluate(graphs.forward_dynamics_graph(robot), q, qd, tau), 1e-3)


def test_methods_of_forward_dynamics_are_checked() -> None:
    robot = ytheta.load("ur10")
    with pytest.raises(InputError, match="forward dynamics has no method 'regresor'; did you mean 'regressor'"):
        ytheta.forward_dynamics(robot, method="regresor")
    with pytest.raises(InputError, match="formulation = 'lagrange' is only used by method 'regressor'"):
        ytheta.forward_dynamics(robot, formulation="lagrange")
    for refused, theta_input in (("walker", False), ("panda", True)):
        with pytest.raises(InputError, match=r"method 'inertia-constants' .* accepts trees on a fixed base"):
            graphs.forward_dynamics_graph(ytheta.load(refused), method="inertia-constants", theta_input=theta_input)
    with pytest.raises(InputError, match=r"lagrange does not accept this robot: .* has closed loops"):
        ytheta.forward_dynamics(ytheta.load("walker"), method="regressor", formulation="lagrange")
    with pytest.raises(InputError, match="nothing that 'joint1' moves has inertia"):
        ytheta.forward_dynamics(ytheta.load("rx90"), method="regressor")
