"""Wrapped adaptation laws on the two-link arm: bounds, random inputs, and sampled runs at rest and in motion."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tests.support.adaptation_rates import SampledRun, simulate_sampled, two_link_law
from tests.support.control_loop import constant
from tests.support.lyapunov import INITIAL_ESTIMATE, REFERENCE, two_link_arm
from ytheta.control import DeadZone, Gradient, Leakage, Projection, SlotineLi
from ytheta.control.adaptation.adaptation import Adaptation

LOWER, UPPER = np.array([0.4, 0.24, -0.1, 0.007]), np.array([6.0, 3.6, 0.54, 0.12])
AT_REST = constant([0.4, -0.3])
NOISE = 0.3


def wrap(inner: Adaptation) -> list[Adaptation]:
    """Return one wrapper of each kind."""
    return [DeadZone(inner, 0.8), Leakage(inner, 0.5), Projection(inner, LOWER, UPPER)]


def random_inputs(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return an estimate within the bounds, a slope and an error."""
    rng = np.random.default_rng(seed)
    return rng.uniform(LOWER, UPPER), rng.normal(size=4) * 10.0 ** rng.uniform(-2, 2), rng.normal(size=2)


@cache
def law_with(kind: str) -> SlotineLi:
    """Laws that several tests simulate, compiled once."""
    gradient = Gradient(1.0)
    return two_link_law(
        {
            "gradient": gradient,
            "leakage": Leakage(gradient, 0.5),
            "dead zone": DeadZone(gradient, 0.7),
            "projection": Projection(gradient, LOWER, UPPER, step=2e-3),
        }[kind]
    )


def simulate_noise_at_rest(kind: str) -> SampledRun:
    return simulate_sampled(law_with(kind), AT_REST, plant=two_link_arm(), seconds=10.0, noise=NOISE)


def late_tracking_error(adaptation: Any, disturbance: Callable[[float], Any] = lambda _: 0.0) -> float:
    """Return the largest error in the last second of four, from a wrong initial estimate."""
    run = simulate_sampled(
        two_link_law(adaptation),
        REFERENCE,
        plant=two_link_arm(),
        seconds=4.0,
        estimate=INITIAL_ESTIMATE,
        disturbance=disturbance,
    )
    return float(abs(run.error[-500:]).max())
