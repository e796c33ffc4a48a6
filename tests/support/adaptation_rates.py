"""Rates of an adaptation law at random samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

from tests.support.control_loop import ReferenceFunction
from tests.support.lyapunov import MASSES, arm
from ytheta.control import SlotineLi
from ytheta.control.adaptation.adaptation import Adaptation, Seen
from ytheta.control.laws.law import Law
from ytheta.control.symbols import traced
from ytheta.control.unknowns import select_unknowns
from ytheta.dynamics import kernels
from ytheta.dynamics.loops.constraint import column
from ytheta.dynamics.motion import scalars
from ytheta.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Sampled:
    """A closed loop at the controller's instants."""

    t: np.ndarray
    error: np.ndarray
    x: np.ndarray


def sampled(
    law: Law,
    course: ReferenceFunction,
    *,
    plant: Robot,
    seconds: float,
    period: float = 2e-3,
    estimate: Any = None,
    offset: Any = 0.0,
    noise: float = 0.0,
    push: Callable[[float], Any] = lambda _: 0.0,
) -> Sampled:
    """The law steps and holds its torque; noise is on the measured rates, evenly within these limits."""
    n, rng, accelerations = len(plant.actuated), np.random.default_rng(0), kernels.forward_dynamics(plant)
    start = course(0.0)
    q, qd = start.q + np.broadcast_to(offset, n), start.qd.copy()
    state = law.init(q, qd, estimate=None if estimate is None else np.asarray(estimate, dtype=float))
    errors, states = [], []
    times = period * np.arange(round(seconds / period))
    for t in times.tolist():
        reference = course(t)
        tau, state = law.step(state, t, q, qd + rng.uniform(-noise, noise, n), reference)
        errors.append(q - reference.q)
        states.append(state.x)
        tau = tau + push(t)
        # The midpoint rule: the plant's errors are far below those looked at here.
        middle = qd + period / 2 * accelerations.one(q, qd, tau)
        qdd = accelerations.one(q + period / 2 * qd, middle, tau)
        q, qd = q + period * middle, qd + period * qdd
    return Sampled(times, np.array(errors), np.array(states))


def rates(adaptation: Adaptation, robot: Robot, learn: tuple[str, ...]) -> Callable[..., np.ndarray]:
    """(estimate, slope, error) → d estimate/dt and d memory/dt, whatever law they come from."""
    of, n = select_unknowns(robot, None, learn), len(robot.actuated)
    adaptation.check(robot, of)
    inputs, symbols = traced(robot, of, {}, more=adaptation.states(robot, of))
    error, slope = casadi.SX.sym("error", n), casadi.SX.sym("slope", len(of.names))
    found = adaptation.rate(Seen(symbols, scalars(error), scalars(slope), scalars(casadi.SX.zeros(n))))
    moving = [symbol for given, symbol in inputs if given.name != "x"]
    function = casadi.Function("rates", [symbols.x, slope, error, *moving], [column(np.concatenate(found))])
    still = [np.full(symbol.numel(), 0.3) for symbol in moving]
    return lambda x, slope, error: np.array(function(x, slope, error, *still))[:, 0]


def law(adaptation: Any, **settings: Any) -> SlotineLi:
    given: dict[str, Any] = {"convergence": 5.0, "damping": 10.0, "learn": MASSES, **settings}
    return SlotineLi(arm(), adaptation=adaptation, **given)
