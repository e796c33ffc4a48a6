"""Closed loops in continuous time: a robot under a control law without sampling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.integrate import solve_ivp

from ytheta.control.controller import Reference, State
from ytheta.control.laws.law import Law
from ytheta.dynamics import kernels
from ytheta.robot.robot import Robot

ReferenceFunction = Callable[[float], Reference]


@dataclass(frozen=True, eq=False)
class ContinuousRun:
    """The trajectory of a closed loop; ``dissipated`` is the integral of the given power."""

    law: Law
    reference: ReferenceFunction
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    x: np.ndarray
    dissipated: np.ndarray

    @property
    def error(self) -> np.ndarray:
        return self.q - np.array([self.reference(t).q for t in self.t])

    def lyapunov(self, truth: np.ndarray) -> np.ndarray:
        rows = zip(self.t, self.q, self.qd, self.x, strict=True)
        return np.array([self.law.lyapunov(State(t, x), q, qd, self.reference(t), truth) for t, q, qd, x in rows])

    def settling_time(self, tolerance: float) -> float:
        """The time after which every joint stays within the tolerance; infinite if one is outside at the end."""
        return settling_time(self.t, np.asarray((abs(self.error) > tolerance).any(axis=1)))


def settling_time(t: np.ndarray, outside: np.ndarray) -> float:
    last = np.flatnonzero(outside)
    if not len(last):
        return 0.0
    return float(t[last[-1] + 1]) if last[-1] + 1 < len(t) else np.inf


def sines(amplitudes: Any, rates: Any, centers: Any) -> ReferenceFunction:
    """centers + amplitudes sin(rates t)."""
    a, w, c = (np.asarray(x, dtype=float) for x in (amplitudes, rates, centers))
    return lambda t: Reference(c + a * np.sin(w * t), a * w * np.cos(w * t), -a * w * w * np.sin(w * t))


def constant(q: Any) -> ReferenceFunction:
    reference = Reference(np.asarray(q, dtype=float), np.zeros(len(q)), np.zeros(len(q)))
    return lambda _: reference


def simulate_continuous(
    law: Law,
    reference: ReferenceFunction,
    *,
    plant: Robot,
    seconds: float,
    offset: Any = 0.1,
    estimate: Any = None,
    power: Callable[[float, np.ndarray, np.ndarray, Reference], float] = lambda *_: 0.0,
    points: int = 201,
    rtol: float = 1e-9,
    method: Literal["DOP853", "LSODA"] = "DOP853",
) -> ContinuousRun:
    """Integrate plant and controller as one differential equation: torque and rates are those of the law's graph."""
    n = len(plant.actuated)
    forward, controller = kernels.forward_dynamics(plant), law.compile(law.graph).one
    start = reference(0.0)
    state = law.init(start.q, start.qd, estimate=None if estimate is None else np.asarray(estimate, dtype=float))
    size = len(state.x)

    def evaluate(q: np.ndarray, qd: np.ndarray, r: Reference, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not law.needs_acceleration:
            output = controller(q, qd, r.q, r.qd, r.qdd, x)
            return output, forward.one(q, qd, output[:n])
        # The torque does not depend on the measured acceleration, so a second evaluation gives the rates.
        tau = controller(q, qd, np.zeros(n), r.q, r.qd, r.qdd, x)[:n]
        qdd = forward.one(q, qd, tau)
        return controller(q, qd, qdd, r.q, r.qd, r.qdd, x), qdd

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, qd, x, r = y[:n].copy(), y[n : 2 * n].copy(), y[2 * n : 2 * n + size].copy(), reference(t)
        output, qdd = evaluate(q, qd, r, x)
        return np.concatenate([qd, qdd, output[n:], [power(t, q, qd, r)]])

    y = np.concatenate([start.q + np.broadcast_to(offset, n), start.qd, state.x, [0.0]])
    t = np.linspace(0.0, seconds, points)
    solution = solve_ivp(rates, (0.0, seconds), y, method=method, t_eval=t, rtol=rtol, atol=1e-3 * rtol)
    assert solution.success, solution.message
    rows = np.ascontiguousarray(solution.y.T)
    q, qd, x = (np.ascontiguousarray(rows[:, cut]) for cut in (slice(n), slice(n, 2 * n), slice(2 * n, 2 * n + size)))
    return ContinuousRun(law, reference, t, q, qd, x, rows[:, -1])
