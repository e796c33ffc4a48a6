"""Logs written in every file format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import ytheta
from ytheta.findings import Severity
from ytheta.logs.log import Log
from ytheta.robot.parts import Coupling, Motor
from ytheta.robot.robot import Robot


def made_log(robot: Robot, *, rows: int = 3000, rate: float = 100.0, seed: int = 0) -> Log:
    """A clean log: sums of sines of about a radian, exact velocities, torques with one percent of noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(rows) / rate
    n = len(robot.actuated)
    q, qd = np.zeros((rows, n)), np.zeros((rows, n))
    for j in range(n):
        for _ in range(3):
            size, speed, phase = rng.uniform(0.2, 0.6), rng.uniform(0.5, 3.0), rng.uniform(0.0, 6.0)
            q[:, j] += size * np.sin(speed * t + phase)
            qd[:, j] += size * speed * np.cos(speed * t + phase)
    tau = 10.0 * np.sin(q) + 2.0 * qd + 0.1 * rng.standard_normal((rows, n))
    return Log(robot.actuated, t, q, tau, qd, source="made")


def kinds(log: Log) -> set[str]:
    """The kinds of findings that are more than notes."""
    return {finding.code for finding in log.findings if finding.severity is not Severity.NOTE}


def shared_robot(folder: Path, name: str) -> Robot:
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
