"""Compiled C of floating robots and sensors against Pinocchio; the header says what the entries are."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import ytheta as yt
from tests.support import pinocchio_peer
from tests.support.c_code import compile_program, load_library, run
from tests.support.example_robots import urdf
from ytheta.exporting.functions import BASE_ORIENTATIONS
from ytheta.robot.floating import add_wrench_sensor, float_base
from ytheta.robot.parts import Drive
from ytheta.robot.robot import Robot


def load_quadruped() -> Robot:
    return float_base(yt.load(urdf("go2.urdf"))).with_drives(lambda *_: Drive())


@pytest.mark.parametrize("form", BASE_ORIENTATIONS)
def test_inverse_dynamics_by_pinocchio(form: str, tmp_path: Path) -> None:
    robot = load_quadruped()
    functions = ("inverse_dynamics", "gravity", "momentum_observer")
    options = yt.COptions(name="dog", functions=functions, base_orientation=form)
    yt.export(robot, to="c", path=tmp_path, options=options)
    library, peer = load_library(tmp_path, "dog"), pinocchio_peer.peer(robot)
    q, qd, qdd = np.random.default_rng(1).uniform(-1.5, 1.5, (3, 18))
    R = pin.exp3(q[3:6])
    forms = {
        "rotation-vector": [q],
        "quaternion": [np.concatenate([q[:3], pin.Quaternion(R).coeffs(), q[6:]])],
        "gravity": [R.T @ np.array([0.0, 0.0, -9.81]), q[6:]],
    }
    tau = library.compute("inverse_dynamics", (18,), *forms[form], qd, qdd)
    expected = peer.torque(q, qd, qdd)
    scale = np.abs(expected).max()
    assert np.abs(tau - expected).max() < 1e-12 * scale
    # The twin: a twist in world axes.
    wrong = np.concatenate([R @ qd[:3], R @ qd[3:6], qd[6:]])
    assert np.abs(library.compute("inverse_dynamics", (18,), *forms[form], wrong, qdd) - expected).max() > 1e-3 * scale
    result = run(compile_program(tmp_path, ["dog.c", "dog_selftest.c"]))
    assert result.returncode == 0, result.stdout
    header = (tmp_path / "dog.h").read_text()
    places = {"rotation-vector": 18, "quaternion": 19, "gravity": 12}
    assert f"#define DOG_POSITIONS {places[form]} " in header
    assert "#define DOG_COORDINATES 18 " in header
    assert "#define DOG_JOINTS 12" in header
    shifts = {"rotation-vector": "q, qd, qdd and tau.", "quaternion": "1 higher.", "gravity": "6 lower."}
    (line,) = (line for line in header.splitlines() if "Places of the joints" in line)
    assert shifts[form] in line
    assert "DOG_BASE_RX = 3, /* angular velocity about x in rad/s, moment in N m */" in header
    words = {"rotation-vector": "rotation vector", "quaternion": "quaternion x, y, z, w", "gravity": "measures -g"}
    assert [name for name, word in words.items() if word in header] == [form]


def test_the_observer_sees_a_push_on_the_base(tmp_path: Path) -> None:
    """A constant wrench on a base that is in free fall otherwise: the estimate approaches it."""
    robot = load_quadruped()
    options = yt.COptions(name="r", functions=("momentum_observer",), base_orientation="quaternion")
    yt.export(robot, to="c", path=tmp_path, options=options)
    library, peer = load_library(tmp_path, "r"), pinocchio_peer.peer(robot)
    n, dt, push = 18, 1e-3, np.pad([10.0, -20.0, 5.0, 0.3, 0.2, -0.1], (0, 12))
    configuration, qd = pin.neutral(peer.model), np.zeros(n)
    state = ctypes.create_string_buffer(8 * (3 * n + 2))
    library.call("observer_init", state)
    estimate, gain, zero = np.zeros(n), np.full(n, 50.0), np.zeros(n)
    for _ in range(200):
        library.call("observer_step", state, gain, configuration, qd, zero, dt, estimate)
        qdd = pin.aba(peer.model, peer.model.createData(), configuration, qd, push)
        configuration = pin.integrate(peer.model, configuration, dt * qd + dt * dt / 2 * qdd)
        qd = qd + dt * qdd
    assert np.abs(estimate - push).max() < 0.02 * np.abs(push).max()  # integration by steps of 1 ms
    assert np.abs(estimate).max() > 10.0


def test_sensors_are_results_only(tmp_path: Path) -> None:
    arm = yt.load("ur10").with_load(yt.Inertia.point_mass(2.0, (0.1, 0.0, 0.2)), name="tool")
    robot = add_wrench_sensor(arm, "tool_grasp")
    yt.export(robot, to="c", path=tmp_path, options=yt.COptions(name="arm"))
    assert run(compile_program(tmp_path, ["arm.c", "arm_selftest.c"])).returncode == 0
    q, qd, qdd = np.random.default_rng(1).uniform(-1.5, 1.5, (3, 6))
    tau = load_library(tmp_path, "arm").compute("inverse_dynamics", (12,), q, qd, qdd)
    expected = yt.inverse_dynamics(robot).one(*(np.pad(x, (0, 6)) for x in (q, qd, qdd)))
    np.testing.assert_allclose(tau, expected, rtol=1e-11, atol=1e-11)
    assert np.abs(tau[6:]).min() > 1e-6
    header = (tmp_path / "arm.h").read_text()
    assert "ARM_SENSOR_TOOL_GRASP_FX = 6, /* tool_grasp_fx, N */" in header
    assert "ARM_SENSOR_TOOL_GRASP_NZ = 11 /* tool_grasp_nz, N m */" in header
