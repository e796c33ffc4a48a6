"""Declared forces in graphs and regressors, against MuJoCo's springs and a published counterbalance."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot, driven_robot, evaluate
from tests.support.forced_robots import CABLE, SPRING, with_forces
from tests.support.loop_motion import ROUNDING_TOLERANCE, close_pose, draw_motion
from tests.support.loop_robots import make_looped_robot
from tests.support.mjcf_models import spring_text
from tests.support.paths import ROOT
from tests.support.states import close, state
from tests.support.toml_robots import read
from ytheta.dynamics import graphs
from ytheta.dynamics.constraint import build_constraint
from ytheta.files.expressions import format_position
from ytheta.robot.forces import evaluate_shapes
from ytheta.robot.parts import Force
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot


def flip_forces(robot: Robot) -> Robot:
    """The twin that must fail: all forces with the opposite sign."""
    return replace(robot, forces=tuple(replace(force, value=-force.value) for force in robot.forces))


def compute_force_torques(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Torques of SPRING and CABLE at the joints of a six-joint arm."""
    _, q2, q3, _, q5, _ = q
    x = q2 + 0.67 * q3
    bend = x**3 - 0.2 * np.tanh(x)
    k, c = (force.value for force in robot.forces)
    return np.array([0, k * (q2 - 0.3) + 0.7 * c * bend, -c * bend * np.cos(q5), 0, c, 0])


@pytest.mark.parametrize("make", [lambda: driven_robot("puma560"), coupled_robot], ids=["puma560", "coupled puma560"])
def test_forces_in_every_graph(make: Any) -> None:
    bare = make()
    robot = with_forces(bare, SPRING, CABLE)
    x, xd, xdd = state(len(robot.coordinates))
    A, b = robot.coupling_map
    extra = A.T @ compute_force_torques(robot, A @ x + b)
    for name, arguments in (("inverse_dynamics", (x, xd, xdd)), ("bias", (x, xd)), ("gravity", (x,))):
        graph = getattr(graphs, f"{name}_graph")
        assert close(evaluate(graph(robot), *arguments), evaluate(graph(bare), *arguments) + extra)
        assert not close(evaluate(graph(flip_forces(robot)), *arguments), evaluate(graph(bare), *arguments) + extra)
    for name, arguments in (("mass_matrix", (x,)), ("coriolis", (x, xd)), ("momentum", (x, xd)), ("energy", (x, xd))):
        graph = getattr(graphs, f"{name}_graph")
        assert np.array_equal(evaluate(graph(robot), *arguments), evaluate(graph(bare), *arguments))
    tau = evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd)
    assert close(evaluate(graphs.inverse_dynamics_graph(robot, formulation="newton_euler"), x, xd, xdd), tau)
    assert close(evaluate(graphs.forward_dynamics_graph(robot), x, xd, tau), xdd, 1e-8)
    by_input = graphs.inverse_dynamics_graph(robot, theta_input=True)
    assert close(evaluate(by_input, x, xd, xdd, robot.theta), tau)
    assert close(evaluate(by_input, x, xd, xdd, 2 * robot.theta), 2 * tau)


@pytest.mark.parametrize("formulation", ["newton_euler", "lagrange", "kronecker", "spatial_tree"])
def test_columns_of_the_regressor(formulation: str) -> None:
    robot = with_forces(driven_robot("puma560"), SPRING, CABLE)
    x, xd, xdd = state(6)
    Y = evaluate(graphs.regressor_graph(robot, formulation=formulation), x, xd, xdd)
    assert close(Y @ robot.theta, evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd))
    assert close(Y[:, -2:] @ robot.theta[-2:], compute_force_torques(robot, x))
    assert not close(Y @ flip_forces(robot).theta, evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd))
    graph = graphs.regressor_graph(robot, formulation=formulation, parameters=["cable.k", "joint2.fv"])
    assert close(evaluate(graph, x, xd, xdd), Y[:, [-1, robot.parameter_names.index("joint2.fv")]])


def test_reference_regressor_and_momentum() -> None:
    """Columns of forces depend on positions only; they are zero in the momentum and complete in the remainder."""
    robot = with_forces(coupled_robot(), SPRING, CABLE)
    x, xd, xdd = state(6)
    Y = evaluate(graphs.regressor_graph(robot), x, xd, xdd)
    reference = evaluate(graphs.regressor_graph(robot, reference=True), x, xd, 3 * xd, -xdd)
    assert close(reference[:, -2:], Y[:, -2:])
    assert not evaluate(graphs.momentum_regressor_graph(robot), x, xd)[:, -2:].any()
    assert close(evaluate(graphs.remainder_graph(robot), x, xd)[:, -2:], Y[:, -2:])
    h = 1e-5
    ahead, behind = (
        evaluate(graphs.momentum_regressor_graph(robot), x + t * xd + t * t / 2 * xdd, xd + t * xdd) for t in (h, -h)
    )
    whole = evaluate(graphs.remainder_graph(robot), x, xd) + (ahead - behind) / (2 * h)
    assert close(whole, Y, 1e-7)


def test_machine_code_of_every_function() -> None:
    shape = (
        "sin(joint1) + cos(x)*tan(x) + asin(x) - acos(x) + atan2(x, y) + sqrt(abs(y)) + exp(x)*tanh(y) + sign(y)*x**7"
    )
    force = Force("all", (("joint1", shape), ("joint2", "2**x + y**-2")), (("x", "joint1/9"), ("y", "joint2")), 2.0)
    robot = with_forces(ytheta.load("lu-two-link"), force)
    q, qd, qdd = np.random.default_rng(1).uniform(-2.0, 2.0, (3, 9, 2))
    fast, slow = (ytheta.regressor(robot, backend=backend)(q, qd, qdd) for backend in ("llvm", "interpreter"))
    np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=1e-12)
    positions = {"joint1": q[:, 0], "joint2": q[:, 1]}
    for k, values in enumerate(evaluate_shapes(force, positions).values()):
        np.testing.assert_allclose(slow[:, k, -1], values, rtol=1e-12)


def test_the_power_of_a_spring_is_the_rate_of_its_energy() -> None:
    """The rate of k/2 (q - q0)^2 by central differences."""
    robot = with_forces(ytheta.load("puma560"), SPRING)
    x, xd, xdd = state(6)
    power = xd @ (
        evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd)
        - evaluate(graphs.inverse_dynamics_graph(replace(robot, forces=())), x, xd, xdd)
    )
    h = 1e-5
    stored = [25.0 / 2 * (x[1] + t * xd[1] - 0.3) ** 2 for t in (-h, h)]
    assert power == pytest.approx((stored[1] - stored[0]) / (2 * h), rel=1e-7)
    assert power != pytest.approx((stored[0] - stored[1]) / (2 * h), rel=1e-7)


def test_forces_on_motors() -> None:
    robot = with_forces(coupled_robot(), Force("winch", (("m6", "m6*joint6"), ("joint6", "1 - m6")), value=2.0))
    x, xd, xdd = state(6)
    A, b = robot.coupling_map
    q, m = A @ x + b, robot.coordinates.index("m6")
    extra = 2.0 * A[5] * (1 - x[m])
    extra[m] += 2.0 * x[m] * q[5]
    bare = replace(robot, forces=())
    tau, without = (evaluate(graphs.inverse_dynamics_graph(r), x, xd, xdd) for r in (robot, bare))
    assert close(tau, without + extra)
    assert not close(tau, without - extra)


@pytest.mark.parametrize("name", ["walker", "five-bar", "palletiser", "slide"])
def test_loops(name: str) -> None:
    """Springs on all joints, cut joints included: their torque is the slope of their energy along closed poses."""
    bare = make_looped_robot(name)
    springs = [
        Force(f"s{k}", ((j, f"{format_position(j)} - 0.{k}"),), value=k + 1.0) for k, j in enumerate(bare.moving)
    ]
    robot = with_forces(bare, *springs)
    loops = build_constraint(robot)
    Q, Qd, Qdd = draw_motion(name)
    Y = evaluate(graphs.regressor_graph(robot), close_pose(loops, Q), Qd, Qdd)
    cuts = graphs.cut_motion_graph(bare)

    def energy(Q: np.ndarray) -> float:
        x = close_pose(loops, Q)
        A, b = robot.coupling_map
        cut = evaluate(cuts, x, Qd, Qdd)[:, 0]
        motors = [x[robot.coordinates.index(motor.name)] for motor in robot.motors]
        places = (*(A @ x + b), *cut, *motors)
        return sum((k + 1.0) / 2 * (place - float(f"0.{k}")) ** 2 for k, place in enumerate(places))

    h = 1e-5
    slope = [(energy(Q + h * unit) - energy(Q - h * unit)) / (2 * h) for unit in np.eye(len(Q))]
    torque = Y[:, -len(springs) :] @ robot.theta[-len(springs) :]
    np.testing.assert_allclose(torque, slope, rtol=1e-6, atol=1e-6)
    assert not np.allclose(-torque, slope, rtol=1e-6, atol=1e-6)
    tau = evaluate(graphs.inverse_dynamics_graph(robot), close_pose(loops, Q), Qd, Qdd)
    np.testing.assert_allclose(Y @ robot.theta, tau, rtol=ROUNDING_TOLERANCE, atol=ROUNDING_TOLERANCE)
    held = evaluate(graphs.gravity_graph(robot), close_pose(loops, Q)) - evaluate(
        graphs.gravity_graph(bare), close_pose(loops, Q)
    )
    np.testing.assert_allclose(held, torque, rtol=ROUNDING_TOLERANCE, atol=ROUNDING_TOLERANCE)


SPRINGS = [
    spring_text('<joint name="j" axis="0 1 0" stiffness="5"/>'),
    spring_text('<joint name="j" axis="0 1 0" stiffness="5" springref="30" ref="10"/>'),
    spring_text('<joint name="j" axis="0 1 0" stiffness="5" springref="-0.4"/>', '<compiler angle="radian"/>'),
    spring_text('<joint type="slide" name="j" axis="0 0 1" stiffness="50" springref="0.03"/>'),
    spring_text('<joint name="j" axis="0 1 0" stiffness="5 2 1.5" springref="30"/>'),
    spring_text('<joint name="j" axis="0 1 0" stiffness="0 0 3"/>'),
    spring_text('<joint axis="1 0 0" stiffness="2"/><joint name="it\'s" axis="0 1 0" stiffness="7" springref="5"/>'),
    spring_text('<joint name="j" axis="0 1 0" stiffness="5"/>', '<option><flag spring="disable"/></option>'),
]


@pytest.mark.parametrize("text", SPRINGS)
def test_springs_of_mujoco(text: str, tmp_path: Path) -> None:
    (tmp_path / "spring.xml").write_text(text)
    robot = load(tmp_path / "spring.xml")
    assert not any(note.is_warning for note in robot.findings)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1.5, 1.5, (3, model.nv))
        data.qpos, data.qvel, data.qacc = q, qd, qdd
        mujoco.mj_inverse(model, data)
        assert close(evaluate(graphs.inverse_dynamics_graph(robot), q, qd, qdd), data.qfrc_inverse, 1e-6)
        without = evaluate(graphs.inverse_dynamics_graph(replace(robot, forces=())), q, qd, qdd)
        assert close(without - data.qfrc_passive, data.qfrc_inverse, 1e-6)
        if robot.forces:
            flip = evaluate(graphs.inverse_dynamics_graph(flip_forces(robot)), q, qd, qdd)
            assert not close(flip, data.qfrc_inverse, 1e-6)


def read_counterbalance() -> Force:
    """The counterbalance of the KR300 in the docs."""
    page = (ROOT / "docs" / "robot-format.md").read_text()
    (text,) = [block for block in re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL) if "counterbalance" in block]
    (force,) = read(text).forces
    return force


def test_counterbalance_agrees_with_the_table(shared_data: Path) -> None:
    lines = (shared_data / "kr300" / "README.md").read_text().splitlines()
    rows = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in lines if line.count("|") == 8}
    angles = np.radians([float(cell) for cell in rows["q2 [deg]"]])
    printed = np.array([float(cell) for cell in rows["tau_cb [Nm]"]])
    assert len(printed) == 6
    computed = evaluate_shapes(read_counterbalance(), {"joint_1": 0 * angles, "joint_2": angles})["joint_2"]
    np.testing.assert_allclose(computed, printed, rtol=0, atol=0.005 + 1e-9)  # half of the last printed digit
    assert not np.allclose(-computed, printed, rtol=0, atol=0.005)


@pytest.mark.parametrize("run", ["a", "b"])
def test_gravity_torque_with_counterbalance(shared_data: Path, run: str) -> None:
    """The gravity torque of the CAD model with counterbalance, which the source states with four decimals."""
    polars = pytest.importorskip("polars", reason="polars reads the Parquet files of the shared data folder")
    folder = shared_data / "kr300"
    poses = polars.read_parquet(folder / f"kr300_run_{run}_gravity_check.parquet")
    q, expected = (poses.select([f"{name}{k}" for k in range(1, 7)]).to_numpy() for name in ("q", "taug"))
    robot = with_forces(ytheta.load(folder / "kr300.urdf"), read_counterbalance())
    assert np.abs(ytheta.gravity(robot)(q) - expected).max() < 1e-3
    assert np.abs(ytheta.gravity(flip_forces(robot))(q) - expected).max() > 100.0
