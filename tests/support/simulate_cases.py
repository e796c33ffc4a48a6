"""Closed loops to simulate: references, controllers, initial motions, runs of a PUMA."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import ytheta
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop import ClosedLoop
from ytheta.simulation.references import ReferenceTrajectory
from ytheta.simulation.result import Simulation
from ytheta.simulation.variation import Variation


def swing(robot: Robot, *, size: float = 0.4) -> ReferenceTrajectory:
    """A reference of sines that starts at home."""
    home = dict(zip(robot.coordinates, robot.home_coordinates, strict=True))
    start = np.array([home[name] for name in robot.actuated])

    def reference(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        w = 2.0 + 0.5 * np.arange(len(start))
        angle = np.outer(t, w)
        return start + size * (1.0 - np.cos(angle)), size * w * np.sin(angle), size * w**2 * np.cos(angle)

    return reference


def make_slotine_li(robot: Robot, learn: tuple[str, ...]) -> SlotineLi:
    return SlotineLi(robot, convergence=10.0, damping=8.0, adaptation=2.0, learn=learn)


PUMA = ytheta.load("lu-puma4")
LEARN = ("link4.m", "load.m")


def make_puma_loop(**settings: object) -> ClosedLoop:
    fields = {"plant": PUMA, "controller": make_slotine_li(PUMA, LEARN), **settings}
    return ClosedLoop(**fields)  # type: ignore[arg-type]


def sample_starts(robot: Robot, runs: int, *, spread: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Initial positions and velocities with random offsets from the reference."""
    rng, (q, qd, _) = np.random.default_rng(seed), swing(robot)(np.zeros(1))
    return q + spread * rng.normal(size=(runs, q.shape[1])), qd + spread * rng.normal(size=(runs, q.shape[1]))


VARIATION = Variation(spread=20.0, gain_spread=10.0, start_offset=0.05, velocity_offset=0.02, initial_error=30.0)


def simulate_puma(**settings: Any) -> Simulation:
    arguments: dict[str, Any] = {"seconds": 1.0, "reference": swing(PUMA), "every": 10, **settings}
    return ytheta.simulate(PUMA, make_slotine_li(PUMA, LEARN), **arguments)


@cache
def simulate_varied_puma(runs: int) -> Simulation:
    return simulate_puma(runs=runs, variation=VARIATION)
