"""Logs of small catalog robots, computed by inverse dynamics, and an arm identified from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ytheta as yt
from ytheta.identification.result import Identification
from ytheta.logs.log import Log
from ytheta.robot.robot import Robot

# The planar arm of Lu and Meng with friction, which its description in the catalog does not have.
WITH_FRICTION = """
format = 1
extends = "lu-two-link"

[[joint]]
name = "joint1"
drive = { viscous = 0.8, coulomb = 1.5, offset = 0.3 }

[[joint]]
name = "joint2"
drive = { viscous = 0.5, coulomb = 0.9, offset = -0.2 }
"""
RATE = 200.0


def true_arm(folder: Path) -> Robot:
    """The arm whose motion the logs contain."""
    file = folder / "true.toml"
    file.write_text(WITH_FRICTION)
    return yt.load(file)


def write_log(
    path: Path, robot: Robot, *, seed: int = 1, seconds: float = 10.0, noise: float = 0.01, still: bool = False
) -> Path:
    """Write sums of sines and their torques as NPZ or CSV; ``still``: the last joint does not move."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * RATE)) / RATE
    joints = len(robot.actuated)
    q, qd, qdd = np.zeros((3, len(t), joints))
    for frequency in (0.3, 0.7, 1.1):
        size, phase = rng.uniform(0.3, 0.8, joints), rng.uniform(0.0, 2.0 * np.pi, joints)
        if still:
            size[-1] = 0.0
        w = 2.0 * np.pi * frequency
        angle = w * t[:, None] + phase
        q += size * np.sin(angle)
        qd += size * w * np.cos(angle)
        qdd -= size * w**2 * np.sin(angle)
    tau = yt.inverse_dynamics(robot)(q, qd, qdd) + noise * rng.normal(size=q.shape)
    if path.suffix == ".npz":
        np.savez(path, t=t, q=q, tau=tau)
    else:
        names = ["t", *(f"{kind}{k + 1}" for kind in ("q", "tau") for k in range(joints))]
        np.savetxt(path, np.column_stack([t, q, tau]), delimiter=",", header=",".join(names), comments="")
    return path


def identified_arm(folder: Path) -> tuple[Identification, Log]:
    """Identify the arm from ``a.npz``, with noise that makes inertias inconsistent; return the validation log too."""
    robot, true_robot = yt.load("lu-two-link"), true_arm(folder)
    paths = [write_log(folder / f"{name}.npz", true_robot, seed=k, noise=0.5) for k, name in enumerate(("a", "b"))]
    fit_log, validation_log = (yt.read_log(path, robot) for path in paths)
    return yt.identify(robot, fit_log, validate=validation_log, rotor_inertia=True), validation_log
