"""Smooth Coulomb friction: its column follows the formula in every graph."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot, driven_robot, evaluate
from tests.support.loop_motion import close_pose, draw_motion
from tests.support.loop_robots import make_looped_robot
from tests.support.states import close, state
from tests.support.toml_robots import read
from ytheta.dynamics import graphs
from ytheta.dynamics.constraint import build_constraint
from ytheta.errors import InputError, RobotError
from ytheta.robot.parts import Drive, Loop
from ytheta.robot.robot import Robot
from ytheta.robot.toml_writer import to_toml

SPEEDS = (0.02, 0.0, 0.3, 1.5)


def add_coulomb_speeds(robot: Robot) -> Robot:
    """The same robot with different values of coulomb_speed in its drives, some of them zero."""

    def change(drive: Drive, k: int) -> Drive:
        return replace(drive, coulomb_speed=SPEEDS[k % len(SPEEDS)])

    joints = tuple(replace(joint, drive=change(joint.drive, k)) for k, joint in enumerate(robot.joints))
    motors = tuple(replace(motor, drive=change(motor.drive, k)) for k, motor in enumerate(robot.motors))
    return replace(robot, joints=joints, motors=motors)


def compute_smooth_signs(robot: Robot, velocities: np.ndarray) -> np.ndarray:
    """qd / sqrt(qd² + s²), or the sign of qd without a speed s, drive by drive."""
    speeds = np.array([drive.coulomb_speed for _, drive in robot.drives])
    return np.array([v / math.hypot(v, s) if s else np.sign(v) for v, s in zip(velocities, speeds, strict=True)])


def compute_drive_velocities(robot: Robot, xd: np.ndarray) -> np.ndarray:
    A, _ = robot.coupling_map
    M, _ = robot.motor_map
    return np.concatenate([A, M]) @ xd


@pytest.mark.parametrize("make", [lambda: driven_robot("ur10"), lambda: driven_robot("stanford"), coupled_robot])
def test_the_coulomb_column_follows_the_formula(make: object) -> None:
    robot = add_coulomb_speeds(make())  # type: ignore[operator]
    x, xd, xdd = state(len(robot.coordinates))
    names = [f"{name}.fc" for name, _ in robot.drives]
    Y = evaluate(graphs.regressor_graph(robot, parameters=names), x, xd, xdd)
    signs = compute_smooth_signs(robot, compute_drive_velocities(robot, xd))
    expected = compute_drive_velocities(robot, np.eye(len(x))).T * signs
    assert close(Y, expected, 1e-14)
    sharp = evaluate(graphs.regressor_graph(make(), parameters=names), x, xd, xdd)  # type: ignore[operator]
    assert not close(sharp, expected, 1e-3)  # the twin: a plain sign
    two_velocities = evaluate(graphs.regressor_graph(robot, parameters=names, reference=True), x, xd, -3 * xd, xdd)
    assert close(two_velocities, expected, 1e-14)  # the sign of the real velocity, not of the reference velocity


@pytest.mark.parametrize("make", [lambda: driven_robot("ur10"), coupled_robot])
def test_all_graphs_agree(make: object) -> None:
    robot = add_coulomb_speeds(make())  # type: ignore[operator]
    x, xd, xdd = state(len(robot.coordinates))
    tau = evaluate(graphs.inverse_dynamics_graph(robot), x, xd, xdd)
    for formulation in ("newton_euler", "minimal_newton_euler"):
        assert close(evaluate(graphs.inverse_dynamics_graph(robot, formulation=formulation), x, xd, xdd), tau)
    assert close(evaluate(graphs.regressor_graph(robot), x, xd, xdd) @ robot.theta, tau)
    sharp = evaluate(graphs.inverse_dynamics_graph(make()), x, xd, xdd)  # type: ignore[operator]
    assert not close(sharp, tau, 1e-4)
    M = evaluate(graphs.mass_matrix_graph(robot), x)
    assert close(evaluate(graphs.bias_graph(robot), x, xd), tau - M @ xdd)
    assert close(evaluate(graphs.forward_dynamics_graph(robot), x, xd, tau), xdd, 1e-8)
    fc = [k for k, name in enumerate(robot.parameter_names) if name.endswith(".fc")]
    Y = evaluate(graphs.regressor_graph(robot), x, xd, xdd)
    assert close(evaluate(graphs.remainder_graph(robot), x, xd)[:, fc], Y[:, fc])


def test_cut_joints_have_smooth_friction() -> None:
    robot = make_looped_robot("five-bar")
    loops = tuple(Loop(replace(loop.joint, drive=Drive(coulomb_speed=0.4))) for loop in robot.loops)
    robot = replace(robot, loops=loops)
    Q, Qd, Qdd = draw_motion("five-bar")
    x = close_pose(build_constraint(robot), Q)
    cut = next(loop.name for loop in robot.loops if loop.joint.moves)
    Y = evaluate(graphs.regressor_graph(robot, parameters=[f"{cut}.fv", f"{cut}.fc"]), x, Qd, Qdd)
    rate = evaluate(graphs.cut_motion_graph(robot), x, Qd, Qdd)[0, 1]
    assert close(Y[:, 1], Y[:, 0] / math.hypot(rate, 0.4), 1e-12)
    assert not close(Y[:, 1], Y[:, 0] / abs(rate), 1e-3)


def test_machine_code_near_rest() -> None:
    """There is no friction at rest, the column is linear near it, and machine code equals the interpreter."""
    robot = add_coulomb_speeds(driven_robot("ur10"))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 37, 6))
    qd[0] = 0.0
    qd[1] *= 1e-6
    kernels = [
        ytheta.regressor(robot, parameters=["shoulder_pan_joint.fc"], backend=b) for b in ("llvm", "interpreter")
    ]
    fast, slow = (kernel(q, qd, qdd)[:, 0, 0] for kernel in kernels)
    np.testing.assert_allclose(fast, slow, rtol=1e-14, atol=0)
    assert fast[0] == 0.0
    assert fast[1] == pytest.approx(qd[1, 0] / SPEEDS[0], rel=1e-6)
    assert np.all(np.diff(fast[np.argsort(qd[:, 0])]) >= 0.0)


def test_base_parameters_depend_on_smooth_friction() -> None:
    """Base parameters of the arm without smooth friction are refused for the arm with smooth friction."""
    robot = driven_robot("ur10")
    base = ytheta.base_parameters(robot, method="qr", friction=("coulomb",))
    assert ytheta.regressor(replace(robot, name="same"), base).shape == (6, len(base))
    with pytest.raises(InputError, match="use base_parameters of that robot"):
        ytheta.regressor(add_coulomb_speeds(robot), base)
    assert (
        len(ytheta.base_parameters(add_coulomb_speeds(robot), method="qr", friction=("viscous", "coulomb"))) == 36 + 12
    )


ONE_JOINT = """
[[link]]
name = "base"
[[link]]
name = "arm"
[[joint]]
name = "q1"
type = "revolute"
parent = "base"
child = "arm"
drive = { coulomb = 2.0, coulomb_speed = 0.05 }
"""


def test_toml_round_trip() -> None:
    robot = read(ONE_JOINT)
    assert robot.joints[0].drive == Drive(coulomb=2.0, coulomb_speed=0.05)
    assert read(to_toml(robot)) == robot
    assert read(to_toml(robot).replace("0.05", "0.06")) != robot
    assert "coulomb_speed" not in to_toml(read(ONE_JOINT.replace(", coulomb_speed = 0.05", "")))
    assert robot.parameter_names == read(ONE_JOINT.replace("0.05", "0.0")).parameter_names


@pytest.mark.parametrize("speed", [-0.1, math.inf, math.nan, 1e-200, 1e200])
def test_invalid_speeds_are_refused(speed: float) -> None:
    robot = read(ONE_JOINT)
    with pytest.raises(RobotError, match=r"joint 'q1': its coulomb_speed is .*; give the speed within which"):
        replace(robot, joints=(replace(robot.joints[0], drive=Drive(coulomb_speed=speed)),))
