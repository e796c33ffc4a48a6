"""Adaptation laws by themselves, and in sampled closed loops of the two-link arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

from tests.support.control_loop import ReferenceFunction
from tests.support.lyapunov import UNKNOWNS, two_link_arm
from ytheta.control import SlotineLi
from ytheta.control.adaptation.adaptation import Adaptation, AdaptationInputs
from ytheta.control.laws.law import Law
from ytheta.control.unknowns import make_symbols, select_unknowns
from ytheta.dynamics import kernels
from ytheta.dynamics.constraint import column
from ytheta.dynamics.mechanism import scalars
from ytheta.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class SampledRun:
    """A closed loop at the instants of the controller."""

    t: np.ndarray
    error: np.ndarray
    x: np.ndarray


def simulate_sampled(
    law: Law,
    reference: ReferenceFunction,
    *,
    plant: Robot,
    seconds: float,
    period: float = 2e-3,
    estimate: Any = None,
    offset: Any = 0.0,
    noise: float = 0.0,
    disturbance: Callable[[float], Any] = lambda _: 0.0,
) -> SampledRun:
    """Simulate steps of the law with held torques; uniform noise within ±noise is added to measured velocities."""
    n, rng, forward = len(plant.actuated), np.random.default_rng(0), kernels.forward_dynamics(plant)
    start = reference(0.0)
    q, qd = start.q + np.broadcast_to(offset, n), start.qd.copy()
    state = law.init(q, qd, estimate=None if estimate is None else np.asarray(estimate, dtype=float))
    errors, states = [], []
    times = period * np.arange(round(seconds / period))
    for t in times.tolist():
        r = reference(t)
        tau, state = law.step(state, t, q, qd + rng.uniform(-noise, noise, n), r)
        errors.append(q - r.q)
        states.append(state.x)
        tau = tau + disturbance(t)
        # The midpoint rule: its errors are far below the effects that are tested.
        middle = qd + period / 2 * forward.one(q, qd, tau)
        qdd = forward.one(q + period / 2 * qd, middle, tau)
        q, qd = q + period * middle, qd + period * qdd
    return SampledRun(times, np.array(errors), np.array(states))


def make_rate_function(adaptation: Adaptation, robot: Robot, learn: tuple[str, ...]) -> Callable[..., np.ndarray]:
    """Return (x, slope, error) → dx/dt of an adaptation law, independent of a control law."""
    unknowns, n = select_unknowns(robot, None, learn), len(robot.actuated)
    adaptation.check(robot, unknowns)
    inputs, symbols = make_symbols(robot, unknowns, {}, adaptation_states=adaptation.state_size(robot, unknowns))
    error, slope = casadi.SX.sym("error", n), casadi.SX.sym("slope", len(unknowns.names))
    rate = adaptation.rate(AdaptationInputs(symbols, scalars(error), scalars(slope), scalars(casadi.SX.zeros(n))))
    motion = [symbol for entry, symbol in inputs if entry.name != "x"]
    function = casadi.Function("rates", [symbols.x, slope, error, *motion], [column(np.concatenate(rate))])
    values = [np.full(symbol.numel(), 0.3) for symbol in motion]
    return lambda x, slope, error: np.array(function(x, slope, error, *values))[:, 0]


def two_link_law(adaptation: Any, **settings: Any) -> SlotineLi:
    defaults: dict[str, Any] = {"convergence": 5.0, "damping": 10.0, "learn": UNKNOWNS}
    return SlotineLi(two_link_arm(), adaptation=adaptation, **{**defaults, **settings})
