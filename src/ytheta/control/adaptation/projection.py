"""Smooth projection: estimates stay within known bounds.

Identity      d estimate/dt = s·rate for each parameter, with the rate of the inner adaptation law and
              s = min(1, distance / max(layer, step·|rate|)), with the distance to the bound that is approached
Reference     J.-B. Pomet and L. Praly, Adaptive Nonlinear Regulation: Estimation from the Lyapunov Equation, IEEE
              Transactions on Automatic Control 37(6), 1992; P. A. Ioannou and J. Sun, Robust Adaptive Control, 1996,
              sec. 4.4
Accepts       inner adaptation laws whose Lyapunov term is a sum over the parameters: Gradient or Composite with a
              number or a vector as gain, Natural if no link is unknown
Notation      code           meaning                                                                    shape
              lower, upper   the bounds                                                                 unknown
              margin         thickness of the layer inside each bound, as a fraction of upper - lower
              step           the longest time between two steps of the controller, in s
Differs from  the papers in: every parameter has its own bounds; the layer lies inside the bounds, so that the estimate
              never leaves them. This is also true of the sampled law, since no step h <= ``step`` moves an estimate
              by more than its distance to the bound.

Proof for step = 0. s < 1 only within the layer of a bound, and only if the inner rate points outwards. If the truth is
inside the bounds by more than the layer, theta_tilde has the sign of the part of the rate that is removed there. That
part would have increased V, so dV/dt is at most that of the inner law. The proof treats each parameter by itself, so V
must be a sum over the parameters. The proof does not hold if a true value lies in the boundary layer of one of
its bounds; for this case no proof is known for any continuous projection that keeps estimates within their bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ytheta.control.adaptation.adaptation import AdaptationInputs
from ytheta.control.adaptation.wrapper import AdaptationWrapper, Bounds, broadcast_bounds, check_separable, check_start
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.vectors import array
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown, PerJoint, PerState, PerUnknown


@dataclass(frozen=True, eq=False, repr=False)
class Projection(AdaptationWrapper):
    """Keeps estimates between ``lower`` and ``upper``, each one number for all or one per unknown parameter.

    Attributes
    ----------
    inner   the adaptation law whose estimates are kept within the bounds
    lower   lower bounds
    upper   upper bounds
    margin  fraction of upper - lower within which the rate is reduced
    step    longest time between two steps of the controller, in s; 0 stands for continuous time
    """

    lower: Bounds
    upper: Bounds
    margin: float = 0.05
    step: float = 1e-3

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        super().check(robot, unknowns)
        if not (isinstance(self.margin, float | int) and 0.0 < self.margin <= 0.5):
            raise InputError(f"margin is {self.margin!r}; give a fraction of upper - lower, above 0 and up to 0.5")
        if not (isinstance(self.step, float | int) and 0.0 <= self.step < math.inf):
            raise InputError(
                f"step is {self.step!r}; give the longest time between two steps in s, or 0 for continuous time"
            )
        self._get_bounds(unknowns)
        check_separable("projection", self.inner, unknowns)

    @property
    def max_step(self) -> float:
        return min(self.step or math.inf, self.inner.max_step)

    def rate(self, inputs: AdaptationInputs) -> tuple[AnyPerUnknown, AnyPerState]:
        rates, state_rate = self.inner.rate(inputs)
        lower, upper = self._get_bounds(inputs.unknowns)
        layer = self.margin * (upper - lower)
        step = self.step * inputs.gain_factor  # the factor multiplies the rate that is returned here
        rows = zip(rates, inputs.estimate, lower, upper, layer, strict=True)
        return array([_slow_down(*row, step) for row in rows]), state_rate

    def init(self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, estimate: PerUnknown) -> PerState:
        check_start(unknowns, estimate, self._get_bounds(unknowns))
        return super().init(robot, unknowns, q, qd, estimate)

    def _get_bounds(self, unknowns: Unknowns) -> tuple[PerUnknown, PerUnknown]:
        return broadcast_bounds(self.lower, self.upper, unknowns)


def _slow_down(rate: Any, x: Any, lower: float, upper: float, layer: float, step: Any) -> Any:
    """Return the rate of one parameter, reduced near the bound that the parameter approaches."""
    import casadi

    up, down = casadi.fmax(rate, 0.0), casadi.fmax(-rate, 0.0)
    rising = casadi.fmin(1.0, casadi.fmax(upper - x, 0.0) / casadi.fmax(layer, step * up))
    falling = casadi.fmin(1.0, casadi.fmax(x - lower, 0.0) / casadi.fmax(layer, step * down))
    return up * rising - down * falling
