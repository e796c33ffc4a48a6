"""The momentum observer in C: it finds external torques of a simulated robot, and is stable for long time steps."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.c_code import Library, load_library
from tests.support.control_samples import add_friction
from ytheta.robot.robot import Robot

EXTERNAL = np.array([3.0, -1.5])  # N m
PERIOD = 0.001  # s


@pytest.fixture(scope="module")
def robot() -> Robot:
    return add_friction(yt.load("lu-two-link"))


@pytest.fixture(scope="module")
def library(robot: Robot, tmp_path_factory: pytest.TempPathFactory) -> Library:
    path = tmp_path_factory.mktemp("observer") / "arm"
    yt.export(robot, to="c", path=path, options=yt.COptions(name="arm", functions=("momentum_observer",)))
    return load_library(path, "arm")


def simulate(robot: Robot, steps: int, external: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Motion and motor torques: gravity compensation and a sine, with constant torques during each period."""
    forward, gravity = yt.forward_dynamics(robot), yt.gravity(robot)
    q, qd, rows, substeps = np.array([0.3, -0.4]), np.zeros(2), [], 10
    tau = np.zeros(2)
    for k in range(steps):
        rows.append((q.copy(), qd.copy(), tau.copy()))
        tau = gravity.one(q) + np.array([30.0, 10.0]) * np.sin(0.02 * k) - EXTERNAL
        for _ in range(substeps):  # the midpoint method
            h = PERIOD / substeps
            qdd = forward.one(q, qd, tau + external)
            middle = (q + h / 2 * qd, qd + h / 2 * qdd)
            q, qd = q + h * middle[1], qd + h * forward.one(*middle, tau + external)
    return tuple(np.array(column) for column in zip(*rows, strict=True))  # type: ignore[return-value]


def observe(library: Library, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, *, gain: float, dt: float) -> np.ndarray:
    state = ctypes.create_string_buffer(3 * 2 * 8 + 16)
    library.call("observer_init", state)
    gains, estimate, rows = np.full(2, gain), np.zeros(2), []
    for k in range(len(q)):
        library.call("observer_step", state, gains, q[k].copy(), qd[k].copy(), tau[k].copy(), dt, estimate)
        rows.append(estimate.copy())
    return np.array(rows)


def test_the_external_torque_is_found(library: Library, robot: Robot) -> None:
    q, qd, tau = simulate(robot, 300, EXTERNAL)
    estimate = observe(library, q, qd, tau, gain=50.0, dt=PERIOD)
    assert (estimate[0] == 0.0).all()
    np.testing.assert_allclose(estimate[-1], EXTERNAL, rtol=0, atol=2e-3)
    # It follows with the time constant 1/gain, here 20 steps.
    share = estimate[20] / EXTERNAL
    np.testing.assert_allclose(share, 1 - np.exp(-1), rtol=0, atol=0.02)
    assert abs(qd).max() > 0.5


def test_no_external_torque_is_found_where_there_is_none(library: Library, robot: Robot) -> None:
    q, qd, tau = simulate(robot, 300, np.zeros(2))
    assert abs(observe(library, q, qd, tau, gain=50.0, dt=PERIOD)).max() < 2e-3
    assert abs(observe(library, q, qd, tau + 0.1, gain=50.0, dt=PERIOD)).max() > 0.05


def test_large_gains_and_time_steps_are_stable(library: Library, robot: Robot) -> None:
    q, qd, tau = simulate(robot, 300, EXTERNAL)
    estimate = observe(library, q, qd, tau, gain=1e5, dt=PERIOD)  # gain times dt is 100
    np.testing.assert_allclose(estimate[50:], np.broadcast_to(EXTERNAL, (250, 2)), rtol=0, atol=0.05)


def test_the_equation_is_documented(tmp_path: Path) -> None:
    options = yt.COptions(name="arm", functions=("momentum_observer",))
    yt.export("lu-two-link", to="c", path=tmp_path / "arm", options=options)
    assert "implicit Euler" in (tmp_path / "arm" / "arm.h").read_text()
