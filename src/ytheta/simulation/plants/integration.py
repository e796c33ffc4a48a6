"""Plants moved in time: fixed steps of Runge and Kutta, and an adaptive method to judge them by.

Reference     Hairer, Norsett, Wanner, Solving Ordinary Differential EquationsOfMotion I (1993): table II.1.2 (the classical
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


def rk4_step(plant: Plant, state: PerState, tau: PerJoint, h: float) -> PerState:
    """The state after h seconds under a torque that is held; not finite where h was far too long."""
    with np.errstate(over="ignore", invalid="ignore"):
        k1 = _rates(plant, state, tau)
        k2 = _rates(plant, state + 0.5 * h * k1, tau)
        k3 = _rates(plant, state + 0.5 * h * k2, tau)
        k4 = _rates(plant, state + h * k3, tau)
        after = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return plant.settled(after) if np.isfinite(after).all() else after


def advance(plant: Plant, state: PerState, tau: PerJoint, period: float, substeps: int) -> PerState:
    """The state after a controller's period, in several steps of the plant."""
    for _ in range(substeps):
        state = rk4_step(plant, state, tau, period / substeps)
    return state


@dataclass(frozen=True, eq=False)
class Motion:
    """States at the times asked for; where the method gave up, those it reached, and the reason in ``advice``."""

    t: Float[np.ndarray, "instants"]
    states: Float[np.ndarray, "instants states"]
    advice: str

    @property
    def complete(self) -> bool:
        return not self.advice


def integrate_adaptively(
    plant: Plant, state: PerState, torque: Torque, t: Float[np.ndarray, "instants"], *, tolerance: float = 1e-11
) -> Motion:
    """The motion from t[0] on under a torque that may follow time and motion, by steps that keep to a tolerance."""
    from scipy.integrate import solve_ivp

    if len(t) < 2 or not (np.diff(t) > 0.0).all():
        raise InputError("the times of a motion must be at least two and grow; sort them and drop repeated ones")

    def rates(now: float, at: PerState) -> PerState:
        return _rates(plant, at, torque(now, *plant.motion(at)))

    found = solve_ivp(rates, (t[0], t[-1]), state, method="DOP853", t_eval=t, rtol=tolerance, atol=tolerance)
    advice = "" if found.success else f"the motion stops at t = {found.t[-1]:.4g} s: {found.message}; ask for less time"
    return Motion(found.t, np.ascontiguousarray(found.y.T), advice)


def _rates(plant: Plant, state: PerState, tau: PerJoint) -> PerState:
    """Of a state that is no longer finite, not a number: methods with a step of their own then take a shorter one."""
    if not (np.isfinite(state).all() and np.isfinite(tau).all()):
        return np.full_like(state, np.nan)
    return plant.rates(state, tau)
