"""Lyapunov functions along simulated trajectories of the two-link arm."""

from __future__ import annotations

from functools import cache

import numpy as np

import ytheta
from tests.support.control_loop import ContinuousRun, sines
from tests.support.control_samples import add_friction
from ytheta.control.laws.law import Law
from ytheta.robot.robot import Robot

REFERENCE = sines([0.6, 0.8], [2.0, 3.0], [0.3, -0.4])
UNKNOWNS = ("link2.m", "load.m", "load.mx", "load.Izz")
TRUTH = np.array([2.0, 1.2, 0.18, 0.037])  # of UNKNOWNS
INITIAL_ESTIMATE = np.array([1.0, 0.5, 0.0, 0.05])


@cache
def two_link_arm(*, friction: bool = False) -> Robot:
    robot = ytheta.load("lu-two-link")
    return add_friction(robot) if friction else robot


def true_parameters(law: Law) -> np.ndarray:
    return law.unknowns.nominal


def never_grows(run: ContinuousRun, *, tolerance: float = 1e-9) -> bool:
    """Whether V never grows, up to integration errors of the tolerance times the initial V."""
    V = run.lyapunov(true_parameters(run.law))
    return bool((np.diff(V) <= tolerance * V[0]).all())


def balance_error(run: ContinuousRun) -> float:
    """The largest difference between V and its initial value minus the dissipated energy, relative to that value."""
    V = run.lyapunov(true_parameters(run.law))
    return float(abs(V - V[0] + run.dissipated).max() / V[0])
