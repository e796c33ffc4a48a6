"""Motors that turn with several joints: their torques, base parameters and mistakes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import ytheta
from tests.support.base_checks import is_complete_and_minimal, rank
from tests.support.command import ytheta as command
from tests.support.driven_robots import driven_robot, evaluate
from tests.support.kernel_calls import KERNELS, call, draw_samples
from tests.support.loop_motion import close_pose, draw_motion
from tests.support.loop_robots import make_looped_robot
from tests.support.motor_robots import COUPLED, PUMA, wrist
from tests.support.random_robots import robots
from tests.support.states import close, state
from tests.support.toml_robots import TWO, read
from ytheta.dynamics import graphs
from ytheta.dynamics.constraint import build_constraint
from ytheta.errors import InputError
from ytheta.robot.parts import Force
from ytheta.robot.robot import Robot
from ytheta.robot.toml_writer import to_toml

PANDA = wrist(driven_robot("panda"), ("panda_joint2", 1.0), ("panda_joint7", -1.5))  # a fixed joint follows
ROBOTS = [PUMA, COUPLED, PANDA]
IDS = ["puma560", "coupled puma560", "panda"]


def compute_motor_row(robot: Robot) -> np.ndarray:
    """The row J of the last motor: its velocity is J @ xd."""
    A, _ = robot.coupling_map
    names = [joint.name for joint in robot.movable]
    return sum((c * A[names.index(name)] for name, c in robot.motors[-1].turns_with), np.zeros(A.shape[1]))


def remove_last_motor(robot: Robot) -> Robot:
    return replace(robot, motors=robot.motors[:-1])


def compute_motor_torque(robot: Robot, xd: np.ndarray, xdd: np.ndarray, J: np.ndarray) -> np.ndarray:
    """The torque that the drive of the last motor adds at the joints, J^T times the torque of the motor."""
    ia, fv, fc, fo = robot.motors[-1].drive.parameters
    rate, speed = J @ xd, robot.motors[-1].drive.coulomb_speed
    return J * (ia * (J @ xdd) + fv * rate + fc * rate / np.hypot(rate, speed) + fo)


@pytest.mark.parametrize("robot", ROBOTS, ids=IDS)
def test_the_motor_is_not_a_coordinate(robot: Robot) -> None:
    bare = remove_last_motor(robot)
    assert (robot.coordinates, robot.actuated) == (bare.coordinates, bare.actuated)
    assert robot.moving == (*bare.moving, "m")
    assert robot.parameter_names == (*bare.parameter_names, "m.Ia", "m.fv", "m.fc", "m.fo")
    assert np.array_equal(robot.theta, [*bare.theta, 3e-5 * 32.0 * 32.0, 0.6, 1.9, 0.05])


@pytest.mark.parametrize("robot", ROBOTS, ids=IDS)
def test_motors_in_every_graph(robot: Robot) -> None:
    bare, J = remove_last_motor(robot), compute_motor_row(robot)
    x, xd, xdd = state(len(robot.coordinates))
    extra = compute_motor_torque(robot, xd, xdd, J)
    tau = evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd)
    assert close(tau, evaluate(graphs.inverse_dynamics_graph(bare), x, xd, xdd) + extra)
    alone = np.where(np.abs(J) == np.abs(J).max(), J, 0.0)  # the twin that must fail: the motor acts on one joint only
    assert not close(
        tau, evaluate(graphs.inverse_dynamics_graph(bare), x, xd, xdd) + compute_motor_torque(robot, xd, xdd, alone)
    )
    Y = evaluate(graphs.regressor_graph(robot), x, xd, xdd)
    assert close(Y @ robot.theta, tau)
    assert close(Y[:, -4:] @ robot.theta[-4:], extra)
    M = evaluate(graphs.mass_matrix_graph(robot), x)
    assert close(M, evaluate(graphs.mass_matrix_graph(bare), x) + robot.theta[-4] * np.outer(J, J))
    assert close(evaluate(graphs.bias_graph(robot), x, xd), tau - M @ xdd)
    assert close(evaluate(graphs.forward_dynamics_graph(robot), x, xd, tau), xdd, 1e-8)
    assert close(evaluate(graphs.gravity_graph(robot), x), evaluate(graphs.gravity_graph(bare), x))
    assert close(evaluate(graphs.coriolis_graph(robot), x, xd), evaluate(graphs.coriolis_graph(bare), x, xd))
    assert close(evaluate(graphs.momentum_graph(robot), x, xd), M @ xd)
    assert evaluate(graphs.energy_graph(robot), x, xd)[0] == pytest.approx(xd @ M @ xd / 2)
    W = evaluate(graphs.momentum_regressor_graph(robot), x, xd)
    assert close(W @ robot.theta, M @ xd)


def test_a_motor_couples_two_branches() -> None:
    """The motor adds entries to M that are zero without it; forward dynamics must include them."""
    text = """
[[link]]
name = "base"
[[link]]
name = "left"
mass = 1.0
inertia = { zz = 0.1 }
[[link]]
name = "right"
mass = 1.0
inertia = { zz = 0.2 }
[[joint]]
name = "q1"
type = "revolute"
parent = "base"
child = "left"
[[joint]]
name = "q2"
type = "revolute"
parent = "base"
child = "right"
[[motor]]
name = "m"
turns_with = { q1 = 1.0, q2 = -1.0 }
drive = { rotor_inertia = 0.3 }
"""
    robot = read(text)
    M = np.diag([0.1, 0.2]) + 0.3 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert close(evaluate(graphs.mass_matrix_graph(robot), np.zeros(2)), M)
    tau = np.array([0.7, -0.4])
    qdd = evaluate(graphs.forward_dynamics_graph(robot), np.zeros(2), np.zeros(2), tau)
    assert close(qdd, np.linalg.solve(M, tau))
    assert not close(qdd, tau / M.diagonal())


@pytest.mark.parametrize("quantity", KERNELS)
def test_machine_code(quantity: str) -> None:
    kernels = [KERNELS[quantity](COUPLED, backend=backend) for backend in ("llvm", "interpreter")]
    fast, slow = (call(kernel, draw_samples(COUPLED, 9)) for kernel in kernels)
    np.testing.assert_allclose(fast, slow, rtol=1e-11, atol=1e-11)


def test_loops() -> None:
    """A motor that turns with a passive and an actuated joint."""
    bare = make_looped_robot("five-bar")
    first, second = bare.movable[0].name, bare.movable[1].name
    robot = wrist(bare, (first, 1.0), (second, -2.0))
    Q, Qd, Qdd = draw_motion("five-bar")
    x = close_pose(build_constraint(robot), Q)
    names = [f"{first}.fv", f"{second}.fv", "m.fv", f"{first}.fo", f"{second}.fo", "m.fo", "m.Ia"]
    fv1, fv2, fv, fo1, fo2, fo, ia = evaluate(graphs.regressor_graph(robot, parameters=names), x, Qd, Qdd).T
    assert close(fo, fo1 - 2 * fo2)
    rate = fo @ Qd
    assert close(fv, fo * rate, 1e-9)
    h = 1e-5
    ahead, behind = (close_pose(build_constraint(robot), Q + t * Qd + t * t / 2 * Qdd) for t in (h, -h))
    factors, _ = robot.motor_map
    acceleration = (factors[-1] @ (ahead + behind - 2 * x)) / h**2
    assert close(ia, fo * acceleration, 1e-4)
    assert not close(ia, fo * (fo @ Qdd), 1e-3)  # without Edot Qd
    assert not close(fv, fv1 - 2 * fv2, 1e-3)


def test_forces_on_the_motor() -> None:
    force = Force("winch", (("m", "m**2"), ("joint5", "sin(m)")), value=2.0)
    robot = replace(COUPLED, forces=(force,))
    x, xd, xdd = state(len(robot.coordinates))
    A, b = robot.coupling_map
    q = A @ x + b
    m = -0.5 * q[4] + 2.0 * q[5]
    extra = 2.0 * (compute_motor_row(robot) * m**2 + A[4] * np.sin(m))
    tau, bare = (evaluate(graphs.inverse_dynamics_graph(r), x, xd, xdd) for r in (robot, COUPLED))
    assert close(tau, bare + extra)
    assert not close(tau, bare - extra)


def test_base_parameters() -> None:
    """The motor adds its rotor inertia, viscous and Coulomb friction to the base parameters, but not its offset."""
    robot = PUMA
    friction = ("viscous", "coulomb", "offset")
    plain, rotors, with_friction = (
        ytheta.base_parameters(robot, **kind)
        for kind in ({}, {"rotor_inertia": True}, {"rotor_inertia": True, "friction": friction})
    )
    bare = ytheta.base_parameters(remove_last_motor(robot), method="qr", rotor_inertia=True)
    assert (len(plain), len(rotors), len(with_friction)) == (36, len(bare) + 1, len(bare) + 1 + 18 + 2)
    assert len(with_friction) == rank(robot, with_friction.selected)
    assert is_complete_and_minimal(robot, with_friction)
    assert with_friction.identifiability["m.fo"].value == "only in combination"
    assert with_friction.identifiability["m.fv"].value == "known alone"


@pytest.mark.parametrize("factor", [1e-2, 45.0, 1e3])
def test_factors_of_any_size(factor: float) -> None:
    """If the factors contain the gear ratio, the number of base parameters is the same."""
    robot = wrist(driven_robot("puma560"), ("joint5", factor), ("joint6", factor))
    base = ytheta.base_parameters(robot, rotor_inertia=True, friction=("viscous", "coulomb", "offset"))
    assert len(base) == 40 + 1 + 18 + 2
    assert base.gap is not None
    assert base.gap[0] > 1e-3


def test_kernels_refuse_base_parameters_of_other_factors() -> None:
    base = ytheta.base_parameters(PUMA, rotor_inertia=True)
    different = wrist(remove_last_motor(PUMA), ("joint5", 1.0), ("joint6", -0.8))
    with pytest.raises(InputError, match="use base_parameters of that robot"):
        ytheta.regressor(different, base)


@given(robots(loops=False))
def test_round_trip(robot: Robot) -> None:
    terms = tuple((joint.name, 0.5 + k) for k, joint in enumerate(robot.movable))
    if not terms:
        return
    with_motor = wrist(robot, *terms)
    read_back = read(to_toml(with_motor))
    assert read_back == with_motor
    assert read_back.coordinates == robot.coordinates
    assert replace(read_back, motors=robot.motors) == robot


@pytest.mark.parametrize(
    ("motor", "reason"),
    [
        ("turns_with = {}", "'turns_with' is empty"),
        ("turns_with = { q3 = 1.0 }", "turns_with: 'q3' is not a movable joint"),
        ('turns_with = { q1 = "l1" }', "uses a symbolic length"),
        ('turns_with = { q1 = 1.0 }\n[[coupling]]\njoint = "q2"\nterms = { m = 1.0 }', "whose position depends on"),
    ],
)
def test_mistakes(motor: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read(TWO + '\n[[motor]]\nname = "m"\n' + motor)


def test_more_mistakes() -> None:
    with pytest.raises(InputError, match="the actuated coordinate 'm' does not exist"):
        read('actuated = ["q1", "q2", "m"]' + TWO + '\n[[motor]]\nname = "m"\nturns_with = { q1 = 1.0 }')
    with pytest.raises(InputError, match="turns_with names 'joint5' more than once"):
        wrist(driven_robot("puma560"), ("joint5", 1.0), ("joint5", 1.0))
    with pytest.raises(InputError, match="turns_with: its factors should be finite"):
        wrist(driven_robot("puma560"), ("joint5", float("inf")))


def test_inspect_checks_the_limits_of_motors(tmp_path: Path) -> None:
    joint = ytheta.load("five-bar").movable[0].name
    for limit, outside in ((0.001, True), (10.0, False)):
        motor = f'[[motor]]\nname = "m"\nturns_with = {{ {joint} = 2.0 }}\nlimits = {{ position = [0, {limit}] }}'
        (tmp_path / "ours.toml").write_text(f'extends = "five-bar"\n{motor}')
        result = command("inspect", str(tmp_path / "ours.toml"))
        assert result.returncode == 0, result.stderr
        assert ("m = " in result.stdout + result.stderr) == outside
