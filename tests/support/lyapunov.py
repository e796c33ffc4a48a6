"""Lyapunov functions along simulated trajectories."""

from __future__ import annotations

from functools import cache

import numpy as np

import ytheta
from tests.support.control_loop import Run, sines
from tests.support.control_samples import add_friction
from ytheta.control.laws.law import Law
from ytheta.robot.robot import Robot

COURSE = sines([0.6, 0.8], [2.0, 3.0], [0.3, -0.4])


MASSES = ("link2.m", "load.m", "load.mx", "load.Izz")


START = np.array([1.0, 0.5, 0.0, 0.05])  # of those; the truth is 2.0, 1.2, 0.18, 0.037


@cache
def arm(*, friction: bool = False) -> Robot:
    robot = ytheta.load("lu-two-link")
    return add_friction(robot) if friction else robot


def truth(law: Law) -> np.ndarray:
    return law.unknowns.nominal


def never_grows(done: Run, *, allowed: float = 1e-9) -> bool:
    """Whether V never grows, but for the errors of integration."""
    V = done.lyapunov(truth(done.law))
    return bool((np.diff(V) <= allowed * V[0]).all())


def balance(done: Run) -> float:
    """How far V is from what it was minus what the paper says was dissipated, relative to what it was."""
    V = done.lyapunov(truth(done.law))
    return float(abs(V - V[0] + done.dissipated).max() / V[0])
