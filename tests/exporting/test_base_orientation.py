"""Functions of floating robots against Pinocchio's free-flyer, for every form of the orientation of the base."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import ytheta as yt
from tests.support import pinocchio_peer
from tests.support.example_robots import urdf
from ytheta.errors import InputError
from ytheta.exporting.functions import BASE_ORIENTATIONS, GRAVITY, OBSERVER, QUATERNION, ROTATION_VECTOR, RobotFunctions
from ytheta.robot.floating import add_wrench_sensor, float_base
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot

TOLERANCE = 1e-10  # relative to the largest number


def load_floating(name: str = "hyq_no_sensors.urdf") -> Robot:
    return float_base(yt.load(urdf(name))).with_drives(lambda *_: Drive())


def evaluate(functions: RobotFunctions, name: str, *inputs: np.ndarray) -> np.ndarray:
    function = next(each for each in functions.functions if each.name == name)
    result = np.zeros(function.graph.size)
    arguments = [*inputs, functions.base.beta] if function.is_parametric else list(inputs)
    result[list(function.graph.places)] = np.asarray(function.graph.function(*arguments)).ravel()
    return result.reshape(function.graph.shape)


def list_positions(q: np.ndarray, form: str, *, length: float = 1.0) -> list[np.ndarray]:
    """The inputs in front of qd; rotations by Pinocchio."""
    R = pin.exp3(q[3:6])
    if form == ROTATION_VECTOR:
        return [q]
    if form == QUATERNION:
        return [np.concatenate([q[:3], length * pin.Quaternion(R).coeffs(), q[6:]])]
    return [R.T @ np.array([0.0, 0.0, -9.81]), q[6:]]


def measure_error(result: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(result - expected).max() / max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("form", BASE_ORIENTATIONS)
@pytest.mark.parametrize("parameters", ["baked", "passed"])
def test_functions_by_pinocchio(form: str, parameters: str) -> None:
    robot = load_floating()
    functions = RobotFunctions(robot, parameters, base_orientation=form)
    pinocchio = pinocchio_peer.peer(robot)
    q, qd, qdd = np.random.default_rng(1).uniform(-1.5, 1.5, (3, len(robot.actuated)))
    position, zero = list_positions(q, form, length=1.7), np.zeros(len(q))
    tau = pinocchio.torque(q, qd, qdd)
    assert measure_error(evaluate(functions, "inverse_dynamics", *position, qd, qdd), tau) < TOLERANCE
    weight = pinocchio.torque(q, zero, zero)
    assert measure_error(evaluate(functions, "gravity", *position), weight) < TOLERANCE
    Y = evaluate(functions, "regressor", *position, qd, qdd)
    assert measure_error(Y @ functions.base.beta, tau) < TOLERANCE
    mass_matrix = evaluate(functions, "mass_matrix", *position)
    assert measure_error(mass_matrix, pinocchio.mass_matrix(q)) < TOLERANCE
    accelerations = evaluate(functions, "forward_dynamics", *position, qd, tau)
    assert measure_error(accelerations, qdd) < 1e-8  # light feet: M is ill-conditioned
    turned = q.copy()
    turned[3] += 1e-4  # the twin: a base that is turned by a little
    wrong = evaluate(functions, "inverse_dynamics", *list_positions(turned, form), qd, qdd)
    assert measure_error(wrong, tau) > 1e-6


@pytest.mark.parametrize("form", BASE_ORIENTATIONS)
def test_momentum_has_the_rate_that_the_observer_expects(form: str) -> None:
    """dp/dt = tau - n along a motion of Pinocchio, whose base moves by the exponential of its twist."""
    robot = load_floating("double_pendulum.urdf")
    functions, peer = RobotFunctions(robot, base_orientation=form), pinocchio_peer.peer(robot)
    q, qd, qdd = np.random.default_rng(2).uniform(-1.0, 1.0, (3, len(robot.actuated)))
    n, h = len(q), 1e-5

    def observe(t: float) -> np.ndarray:
        moved = pin.integrate(peer.model, peer.configuration(q), t * qd + t * t / 2 * qdd)
        back = np.concatenate([moved[:3], pin.log3(pin.Quaternion(moved[3:7]).matrix()), moved[7:]])
        return evaluate(functions, OBSERVER, *list_positions(back, form), qd + t * qdd)

    before, now, after = (observe(t) for t in (-h, 0.0, h))
    rate = (after[:n] - before[:n]) / (2 * h)
    tau = peer.torque(q, qd, qdd)
    np.testing.assert_allclose(rate, tau - now[n:], rtol=1e-6, atol=1e-6)
    assert not np.allclose(rate, tau, rtol=1e-3)


@pytest.mark.parametrize("floating", [False, True])
def test_rows_of_sensors_follow_the_torques(floating: bool) -> None:
    """The coordinates of sensors are not inputs; results are those of the kernels, for which they are zero."""
    arm = yt.load("ur10").with_load(yt.Inertia.point_mass(2.0, (0.1, 0.0, 0.2)), name="tool")
    robot = add_wrench_sensor(float_base(arm) if floating else arm, "tool_grasp")
    functions, n = RobotFunctions(robot), len(robot.actuated) - 6
    q, qd, qdd = np.random.default_rng(3).uniform(-1.0, 1.0, (3, n))
    tau = yt.inverse_dynamics(robot).one(*(np.pad(x, (0, 6)) for x in (q, qd, qdd)))
    assert measure_error(evaluate(functions, "inverse_dynamics", q, qd, qdd), tau) < TOLERANCE
    assert measure_error(evaluate(functions, "regressor", q, qd, qdd) @ functions.base.beta, tau) < TOLERANCE
    rigid = RobotFunctions(float_base(arm) if floating else arm)
    for name, inputs in (
        ("mass_matrix", (q,)),
        ("forward_dynamics", (q, qd, tau[:n])),
        ("friction", (qd,)),
        (OBSERVER, (q, qd)),
    ):
        assert measure_error(evaluate(functions, name, *inputs), evaluate(rigid, name, *inputs)) < 1e-9
    weight = evaluate(functions, "gravity", q)
    assert np.linalg.norm(weight[n : n + 3]) == pytest.approx(2.0 * 9.81, rel=1e-9)  # that of the tool
    assert np.linalg.norm(weight[n + 3 :]) != pytest.approx(2.0 * 9.81, rel=1e-3)


def test_a_fixed_base_has_no_orientation() -> None:
    for form in (QUATERNION, GRAVITY):
        with pytest.raises(InputError, match=f"base_orientation is '{form}', but the base of 'ur10' does not float"):
            RobotFunctions(yt.load("ur10"), base_orientation=form)
