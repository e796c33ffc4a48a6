"""Functions of a robot, with baked and passed parameters, against Pinocchio and against the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support import pinocchio_peer
from tests.support.control_samples import add_friction
from tests.support.friction_robots import add_friction_laws
from ytheta.errors import InputError, UnknownNameError
from ytheta.exporting.functions import FUNCTIONS, OBSERVER, RobotFunctions, check_choice
from ytheta.robot.parts import compute_friction
from ytheta.robot.robot import Robot


def evaluate(functions: RobotFunctions, name: str, *inputs: np.ndarray) -> np.ndarray:
    function = next(each for each in functions.functions if each.name == name)
    result = np.zeros(function.graph.size)
    arguments = [*inputs, functions.base.beta] if function.is_parametric else list(inputs)
    result[list(function.graph.places)] = np.asarray(function.graph.function(*arguments)).ravel()
    return result.reshape(function.graph.shape)


def draw(robot: Robot) -> list[np.ndarray]:
    return list(np.random.default_rng(1).uniform(-1.5, 1.5, (3, len(robot.actuated))))


@pytest.mark.parametrize("parameters", ["baked", "passed"])
def test_functions_of_an_arm_agree_with_pinocchio(parameters: str) -> None:
    robot = yt.load("ur10")
    functions, peer = RobotFunctions(robot, parameters), pinocchio_peer.peer(robot)
    q, qd, qdd = draw(robot)
    tau, zero = peer.torque(q, qd, qdd), np.zeros(6)
    close: dict[str, Any] = {"rtol": 0.0, "atol": 1e-11 * np.linalg.norm(tau)}
    np.testing.assert_allclose(evaluate(functions, "inverse_dynamics", q, qd, qdd), tau, **close)
    np.testing.assert_allclose(evaluate(functions, "gravity", q), peer.torque(q, zero, zero), **close)
    np.testing.assert_allclose(evaluate(functions, "forward_dynamics", q, qd, tau), qdd, rtol=0, atol=1e-9)
    np.testing.assert_allclose(evaluate(functions, "regressor", q, qd, qdd) @ functions.base.beta, tau, **close)
    M = evaluate(functions, "mass_matrix", q)
    np.testing.assert_allclose(M @ qdd, tau - peer.torque(q, qd, zero), **close)
    assert not np.allclose(evaluate(functions, "inverse_dynamics", q + 1e-6, qd, qdd), tau, **close)


@pytest.mark.parametrize("parameters", ["baked", "passed"])
def test_momentum_has_the_rate_that_the_observer_expects(parameters: str) -> None:
    """dp/dt = tau - n along a motion, by central differences."""
    robot = (
        add_friction(yt.load("ha-scara", lengths={"a1": 0.4, "a2": 0.3})) if parameters == "baked" else yt.load("ur10")
    )
    functions = RobotFunctions(robot, parameters)
    q, qd, qdd = draw(robot)
    n, h = len(q), 1e-5
    values = [evaluate(functions, OBSERVER, q + t * qd + t * t / 2 * qdd, qd + t * qdd) for t in (-h, 0.0, h)]
    rate = (values[2][:n] - values[0][:n]) / (2 * h)
    tau = yt.inverse_dynamics(robot).one(q, qd, qdd)
    np.testing.assert_allclose(rate, tau - values[1][n:], rtol=1e-6, atol=1e-6)
    assert not np.allclose(rate, tau, rtol=1e-3)


def test_friction_is_that_of_the_friction_curve() -> None:
    robot = add_friction_laws(yt.load("ur10"), load=False)
    qd = np.random.default_rng(0).uniform(-2, 2, 6)
    expected = [
        float(compute_friction(drive, v)) + drive.offset for (_, drive), v in zip(robot.drives, qd, strict=True)
    ]
    for parameters in ("baked", "passed"):
        computed = evaluate(RobotFunctions(robot, parameters, ("friction",)), "friction", qd)
        np.testing.assert_allclose(computed, expected, rtol=1e-13)
    assert not np.allclose(
        evaluate(RobotFunctions(robot, "baked", ("friction",)), "friction", 1.01 * qd), expected, rtol=1e-13
    )


def test_load_friction_has_no_observer_and_cannot_be_passed() -> None:
    robot = add_friction_laws(yt.load("lu-two-link"))
    functions = RobotFunctions(robot)
    assert [each.name for each in functions.functions] == [name for name in FUNCTIONS if name != OBSERVER]
    assert "load-dependent friction" in functions.notes[0]
    q, qd, qdd = draw(robot)
    expected = yt.inverse_dynamics(robot).one(q, qd, qdd)
    np.testing.assert_allclose(evaluate(functions, "inverse_dynamics", q, qd, qdd), expected, rtol=1e-12)
    with pytest.raises(InputError, match="no momentum observer"):
        RobotFunctions(robot, "baked", (OBSERVER,))
    with pytest.raises(InputError, match="not linear in the parameters"):
        RobotFunctions(robot, "passed")


def test_nothing_moves() -> None:
    robot = yt.Robot("box", (yt.load("ur10").links[0],))
    with pytest.raises(InputError, match="no joint that moves"):
        RobotFunctions(robot)


def test_only_chosen_functions_are_traced() -> None:
    functions = RobotFunctions(yt.load("rx90"), "baked", ("gravity", "friction")).functions  # it has no masses
    assert [each.name for each in functions] == ["gravity", "friction"]


def test_an_unknown_choice_is_refused() -> None:
    check_choice("parameters", "baked", ("baked", "passed"))
    with pytest.raises(UnknownNameError, match="parameters has the value 'pased'; did you mean 'passed'"):
        check_choice("parameters", "pased", ("baked", "passed"))
