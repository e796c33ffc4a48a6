"""Closed loops to simulate: references, controllers, starts."""

from __future__ import annotations

import numpy as np

import ytheta
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.references.reference import ReferenceTrajectory


def swing(robot: Robot, *, size: float = 0.4) -> ReferenceTrajectory:
    """Sines around home."""
    home = dict(zip(robot.coordinates, robot.home_coordinates, strict=True))
    middle = np.array([home[name] for name in robot.actuated])

    def course(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        w = 2.0 + 0.5 * np.arange(len(middle))
        angle = np.outer(t, w)
        return middle + size * (1.0 - np.cos(angle)), size * w * np.sin(angle), size * w**2 * np.cos(angle)

    return course


def slotine_li(robot: Robot, learn: tuple[str, ...]) -> SlotineLi:
    return SlotineLi(robot, convergence=10.0, damping=8.0, adaptation=2.0, learn=learn)


PUMA = ytheta.load("lu-puma4")
LEARN = ("link4.m", "load.m")


def puma_loop(**settings: object) -> ClosedLoop:
    given = {"plant": PUMA, "controller": slotine_li(PUMA, LEARN), **settings}
    return ClosedLoop(**given)  # type: ignore[arg-type]


def starts(robot: Robot, runs: int, *, spread: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng, (q, qd, _) = np.random.default_rng(seed), swing(robot)(np.zeros(1))
    return q + spread * rng.normal(size=(runs, q.shape[1])), qd + spread * rng.normal(size=(runs, q.shape[1]))
