"""Sensor joints: their wrench against point masses moved by differences, their base parameters against ranks."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from ytheta.errors import InputError, RobotError
from ytheta.robot.floating import add_wrench_sensor, float_base
from ytheta.robot.frame import Frame, Vector
from ytheta.robot.inertia import Inertia
from ytheta.robot.parts import Drive, Joint, JointKind, Link
from ytheta.robot.robot import Robot

MASSES: tuple[tuple[float, Vector], ...] = (
    (1.5, (0.02, 0.01, 0.1)),
    (0.5, (-0.05, 0.03, 0.05)),
    (0.3, (-0.05, -0.1, 0.05)),
    (0.3, (0.1, -0.1, 0.15)),
)
SENSOR = Frame.shift(0.01, 0.02, -0.03) @ Frame.from_rpy(0.3, -0.4, 0.5)


def make_arm() -> Robot:
    """A UR10 without drives that holds a tool of four point masses."""
    tool = Inertia()
    for mass, place in MASSES:
        tool = tool + Inertia.point_mass(mass, place)
    return ytheta.load("ur10").with_drives(lambda *_: Drive()).with_load(tool, name="tool")


def measure_wrench(robot: Robot, frame: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Force and moment that accelerate the masses of the tool, in a frame seen from the tool."""
    h = 1e-4

    def place(t: float) -> np.ndarray:
        pose = ytheta.link_poses(robot, q + t * qd + 0.5 * t * t * qdd)["tool"]
        return np.array([pose[:3, :3] @ np.array(p) + pose[:3, 3] for _, p in MASSES])

    accelerations = (place(h) - 2.0 * place(0.0) + place(-h)) / h**2
    pose = ytheta.link_poses(robot, q)["tool"] @ frame
    masses = np.array([mass for mass, _ in MASSES])
    forces = masses[:, None] * (accelerations - np.array(robot.gravity))
    moment = np.cross(place(0.0) - pose[:3, 3], forces).sum(axis=0)
    return np.concatenate([pose[:3, :3].T @ forces.sum(axis=0), pose[:3, :3].T @ moment])


@pytest.mark.parametrize("formulation", ["newton_euler", "spatial_tree", "inward_newton_euler"])
def test_wrench_by_point_masses(formulation: str) -> None:
    arm = make_arm()
    robot = add_wrench_sensor(arm, "tool_grasp", frame=SENSOR)
    assert robot.actuated == (*arm.actuated, *(f"tool_grasp_{each}" for each in ("fx", "fy", "fz", "nx", "ny", "nz")))
    q, qd, qdd = np.random.default_rng(0).uniform(-1.5, 1.5, (3, 6))
    zero = np.zeros(6)
    state = [np.concatenate([each, zero]) for each in (q, qd, qdd)]
    tau = ytheta.regressor(robot, formulation=formulation, backend="interpreter").one(*state) @ robot.theta
    np.testing.assert_allclose(tau[6:], measure_wrench(arm, SENSOR.matrix, q, qd, qdd), atol=2e-5)
    assert np.abs(tau[6:] - measure_wrench(arm, np.eye(4), q, qd, qdd)).max() > 0.1
    np.testing.assert_allclose(tau[:6], ytheta.inverse_dynamics(arm).one(q, qd, qdd), atol=1e-10)
    np.testing.assert_allclose(tau, ytheta.inverse_dynamics(robot).one(*state), atol=1e-10)


def test_an_external_wrench_passes_through_the_sensor() -> None:
    """A force on the tool acts on the sensor with the opposite sign; one on the arm does not act on it."""
    arm = make_arm()
    robot = add_wrench_sensor(arm, "tool_grasp")
    state = [np.concatenate([each, np.zeros(6)]) for each in np.random.default_rng(1).uniform(-1.0, 1.0, (3, 6))]
    wrench = np.array([1.0, 2.0, 3.0, 0.4, 0.5, 0.6])
    plain = ytheta.inverse_dynamics(robot).one(*state)
    for axes in ("frame", "base"):
        R = ytheta.link_poses(arm, state[0][:6])["tool"][:3, :3] if axes == "base" else np.eye(3)
        turned = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        pushed = ytheta.inverse_dynamics(robot, wrench_at="tool", wrench_axes=axes).one(*state, turned)
        np.testing.assert_allclose(plain[6:] - pushed[6:], wrench, atol=1e-10)
    other = ytheta.inverse_dynamics(robot, wrench_at="forearm_link").one(*state, wrench)
    np.testing.assert_allclose(other[6:], plain[6:], atol=1e-12)


def test_sensors_make_more_parameters_identifiable() -> None:
    arm = make_arm()
    wrist = add_wrench_sensor(arm, "tool_grasp", frame=SENSOR)
    both = add_wrench_sensor(wrist, frame=Frame.shift(z=-0.1))
    counts = [len(ytheta.base_parameters(robot)) for robot in (arm, wrist, both)]
    assert counts[:2] == [36, 46]  # all ten parameters of the tool
    for robot, count in zip((arm, wrist, both), counts, strict=True):
        assert measure_rank(robot) == count
    assert counts[2] > counts[1]


def measure_rank(robot: Robot) -> int:
    rng, size = np.random.default_rng(0), len(robot.actuated)
    states = rng.uniform(-2.0, 2.0, (3, 100, size))
    states[:, :, [name in robot.sensor_coordinates for name in robot.actuated]] = 0.0
    links = [k for k, name in enumerate(robot.parameter_names) if not name.endswith((".Ia", ".fv", ".fc", ".fo"))]
    W = ytheta.regressor(robot, backend="interpreter")(*states)[:, :, links].reshape(-1, len(links))
    W = W / np.maximum(np.linalg.norm(W, axis=0), 1e-12)
    return int(np.linalg.matrix_rank(W, tol=1e-9 * np.linalg.norm(W, 2)))


def test_a_sensor_on_a_floating_robot_and_in_files(tmp_path: object) -> None:
    robot = add_wrench_sensor(float_base(make_arm()), "tool_grasp")
    assert robot.actuated[:1] == ("base_x",)
    assert robot.actuated[-1] == "tool_grasp_nz"
    assert measure_rank(robot) == len(ytheta.base_parameters(robot)) == 10 + 7 * 6 + 10
    path = ytheta.save_robot(robot, f"{tmp_path}/robot.toml")
    assert ytheta.load(path) == robot


def test_accelerations_do_not_depend_on_a_sensor() -> None:
    """A sensor is rigid: its wrench is a result, not a cause. The acceleration of its coordinates is zero."""
    arm = make_arm()
    rng = np.random.default_rng(4)
    q, qd, tau = rng.uniform(-1.5, 1.5, (3, 6))
    expected = ytheta.forward_dynamics(arm).one(q, qd, tau)
    kernel = ytheta.forward_dynamics(add_wrench_sensor(arm, "tool_grasp"))
    for wrench in (np.zeros(6), rng.uniform(-9.0, 9.0, 6)):
        qdd = kernel.one(np.pad(q, (0, 6)), np.pad(qd, (0, 6)), np.concatenate([tau, wrench]))
        np.testing.assert_allclose(qdd[:6], expected, rtol=1e-9, atol=1e-9)
        assert not qdd[6:].any()
    pushed = kernel.one(np.pad(q, (0, 6)), np.pad(qd, (0, 6)), np.pad(tau + 1e-3, (0, 6)))
    assert not np.allclose(pushed[:6], expected, rtol=1e-9, atol=1e-9)


def test_wrong_sensors() -> None:
    arm = make_arm()
    with pytest.raises(InputError, match="joint 'elbow_joint' is revolute, but a sensor is a fixed joint"):
        add_wrench_sensor(arm, "elbow_joint")
    with pytest.raises(InputError, match="needs no sensor"):
        add_wrench_sensor(float_base(arm))
    links = (Link("a"), Link("b"))
    with pytest.raises(RobotError, match="cannot close a loop and has no drive"):
        Robot("r", links, (Joint("s", JointKind.SENSOR, "a", "b", drive=Drive(viscous=1.0)),))
    assert "sensor joint" in str(ytheta.formulations(add_wrench_sensor(arm, "tool_grasp"))["lagrange"])
