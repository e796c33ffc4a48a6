"""Synthetic logs, the files that contain them, and the robots of the shared logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.logs.reading.read import read_log
from ytheta.robot.parts import Coupling, Motor
from ytheta.robot.robot import Robot


def make_log(robot: Robot, *, rows: int = 3000, rate: float = 100.0, seed: int = 0) -> Log:
    """A clean log: sums of sines of about a radian, exact velocities, torques with one percent of noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(rows) / rate
    n = len(robot.actuated)
    q, qd = np.zeros((rows, n)), np.zeros((rows, n))
    for j in range(n):
        for _ in range(3):
            size, speed, phase = rng.uniform(0.2, 0.6), rng.uniform(0.5, 2.0), rng.uniform(0.0, 6.0)
            q[:, j] += size * np.sin(speed * t + phase)
            qd[:, j] += size * speed * np.cos(speed * t + phase)
    tau = 10.0 * np.sin(q) + 2.0 * qd + 0.1 * rng.standard_normal((rows, n))
    return Log(robot.actuated, t, q, tau, qd, source="made")


def name_columns(log: Log) -> dict[str, np.ndarray]:
    """A log as the columns t, q1 …, qd1 …, tau1 …"""
    columns = {"t": log.t}
    for name, values in (("q", log.q), ("qd", log.qd), ("tau", log.tau)):
        if values is not None:
            columns |= {f"{name}{k + 1}": values[:, k] for k in range(values.shape[1])}
    return columns


ARM = ytheta.load("lu-two-link")
ARM_LOG = make_log(ARM, rows=150)
ARM_COLUMNS = name_columns(ARM_LOG)


def format_csv(columns: dict[str, np.ndarray], *, separator: str = ",", header: bool = True, decimal: str = ".") -> str:
    """Columns as a text file with all digits, so that reading it gives the same numbers."""
    lines = [separator.join(columns)] if header else []
    rows = zip(*columns.values(), strict=True)
    lines += [separator.join(repr(float(value)).replace(".", decimal) for value in row) for row in rows]
    return "\n".join(lines) + "\n"


def write_file(folder: Path, content: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def assert_same_log(log: Log, expected: Log) -> None:
    """Equal to the last digit, since all files here are written with all digits."""
    assert log.joints == expected.joints
    np.testing.assert_array_equal(log.t, expected.t)
    for values, expected_values in ((log.q, expected.q), (log.qd, expected.qd), (log.tau, expected.tau)):
        assert (values is None) == (expected_values is None)
        if values is not None and expected_values is not None:
            np.testing.assert_array_equal(values, expected_values)


def assert_file_refused(path: Path, *words: str, robot: Robot = ARM, mapping: Any = None, strict: bool = False) -> str:
    """Assert that a file is refused with a message of one line that contains all words; return the message."""
    with pytest.raises(InputError) as caught:
        read_log(path, robot, mapping=mapping, strict=strict)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message
    return message


def codes_above_notes(log: Log) -> set[str]:
    """The codes of the findings that are more than notes."""
    return {finding.code for finding in log.findings if finding.severity is not Severity.NOTE}


def get_finding(log: Log, code: str) -> Finding:
    """The only finding of a code."""
    (finding,) = (finding for finding in log.findings if finding.code == code)
    return finding


def load_shared_robot(folder: Path, name: str) -> Robot:
    """The robot of one of the shared folders; the dVRK arm gets the couplings of its README."""
    files = {"panda": "panda_arm.urdf", "dvrk_mtm": "mtm_tree.urdf"}
    robot = ytheta.load(folder / name / files.get(name, f"{name}.urdf"))
    if name != "dvrk_mtm":
        return robot
    couplings = (
        Coupling("joint_30", (("joint_31", 1.0), ("joint_2", -1.0))),
        Coupling("joint_32", (("joint_31", -1.0), ("joint_2", 1.0))),
        Coupling("joint_4", (("joint_2", 0.6697), ("joint_31", -0.6697), ("motor_4", 1.0))),
    )
    actuated = ("joint_1", "joint_2", "joint_31", "motor_4", "joint_5", "joint_6", "joint_7")
    return replace(robot, couplings=couplings, motors=(Motor("motor_4"),), actuated=actuated)
