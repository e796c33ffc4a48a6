"""Time integration of a plant: Runge–Kutta steps of fixed length, and an adaptive method for comparison.

Reference     Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993): table II.1.2 (the classical
              method of order 4), sec. II.5 (DOP853, by scipy)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.errors import InputError
from ytheta.shapes import Float, PerJoint, PerState
from ytheta.simulation.plants.plant import Plant

Torque: TypeAlias = Callable[[float, PerJoint, PerJoint], PerJoint]


def take_rk4_step(plant: Plant, state: PerState, tau: PerJoint, h: float) -> PerState:
    """Return the state after h seconds with a constant torque; if h is much too long, the state may not be finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        k1 = _compute_rates(plant, state, tau)
        k2 = _compute_rates(plant, state + 0.5 * h * k1, tau)
        k3 = _compute_rates(plant, state + 0.5 * h * k2, tau)
        k4 = _compute_rates(plant, state + h * k3, tau)
        after = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return plant.close_loops(after) if np.isfinite(after).all() else after


def advance(plant: Plant, state: PerState, tau: PerJoint, period: float, substeps: int) -> PerState:
    """Return the state after a control period with a constant torque, integrated in ``substeps`` steps."""
    for _ in range(substeps):
        state = take_rk4_step(plant, state, tau, period / substeps)
    return state


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The states at the requested times.

    If the integration stopped early, the times after the stop are missing, and ``advice`` says why.
    """

    t: Float[np.ndarray, "instants"]
    states: Float[np.ndarray, "instants states"]
    advice: str

    @property
    def complete(self) -> bool:
        return not self.advice


def integrate_adaptively(
    plant: Plant, state: PerState, torque: Torque, t: Float[np.ndarray, "instants"], *, tolerance: float = 1e-11
) -> Trajectory:
    """Integrate from t[0] to t[-1] with adaptive steps; ``torque`` is a function of time, q and qd."""
    from scipy.integrate import solve_ivp

    if len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise InputError(
            "an integration needs at least two times in increasing order; sort them and drop repeated ones"
        )

    def rates(now: float, current: PerState) -> PerState:
        return _compute_rates(plant, current, torque(now, *plant.get_motion(current)))

    solution = solve_ivp(rates, (t[0], t[-1]), state, method="DOP853", t_eval=t, rtol=tolerance, atol=tolerance)
    advice = ""
    if not solution.success:
        advice = f"the integration stopped at t = {solution.t[-1]:.4g} s: {solution.message}; choose a shorter time"
    return Trajectory(solution.t, np.ascontiguousarray(solution.y.T), advice)


def _compute_rates(plant: Plant, state: PerState, tau: PerJoint) -> PerState:
    """Return d state / dt, or NaN if the state is not finite, so that adaptive methods take a shorter step."""
    if not (np.isfinite(state).all() and np.isfinite(tau).all()):
        return np.full_like(state, np.nan)
    return plant.compute_rates(state, tau)
