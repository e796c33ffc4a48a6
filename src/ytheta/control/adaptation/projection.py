"""Smooth projection: estimates stay within known bounds.

Identity      d estimate/dt = s rate where the inner rate points out of the bounds, the inner rate elsewhere;
              s = min(1, room / max(layer, step |rate|)), room the distance to the bound ahead
Reference     J.-B. Pomet and L. Praly, Adaptive Nonlinear Regulation: Estimation from the Lyapunov Equation, IEEE
              Transactions on Automatic Control 37(6), 1992; P. A. Ioannou and J. Sun, Robust Adaptive Control, 1996,
              sec. 4.4
Accepts       inner adaptations whose part of V is a sum over the parameters: Gradient or Composite with a number or a
              vector, Natural of single parameters
Notation      code           meaning                                                                    shape
              lower, upper   the bounds                                                                 unknown
              margin         thickness of the layer inside each bound, as a part of upper - lower
              step           the longest time between two steps of the controller, in s
Differs from  the papers in: bounds for every parameter by itself; the layer lies inside the bounds, so that these hold;
              ``step``, with which they hold for the sampled law too: no step h <= step is longer than the room.

The proof. s < 1 holds only within a layer of a bound, where the inner rate points outwards. Does the truth lie within
the bounds by more than the layer, then the estimate is wrong by just that sign, and what is taken away from the rate
would have made V grow: dV/dt is no greater than the inner one's. That argument treats each parameter by itself, so it
needs a V that does. Truths nearer to a bound are not covered: no continuous projection that keeps the bounds does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation, Seen
from ytheta.control.adaptation.wrapper import Around, numbers
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.motion import scalars
from ytheta.dynamics.vectors import array
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown, Float, PerJoint, PerUnknown

Bounds = float | Sequence[float] | PerUnknown


@dataclass(frozen=True, eq=False)
class Projection(Around):
    """Keeps every parameter between ``lower`` and ``upper``: one number, or one for each unknown parameter."""

    lower: Bounds
    upper: Bounds
    margin: float = 0.05
    step: float = 1e-3

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        super().check(robot, unknowns)
        if not (isinstance(self.margin, float | int) and 0.0 < self.margin <= 0.5):
            raise InputError(f"margin is {self.margin!r}; give a part of upper - lower, above 0 and up to 0.5")
        if not (isinstance(self.step, float | int) and 0.0 <= self.step < math.inf):
            raise InputError(f"step is {self.step!r}; give the seconds between two steps, or 0 for continuous time")
        self._box(unknowns)
        if not _separable(self.inner, unknowns):
            raise InputError(
                f"projection treats every parameter by itself, but the metric of {type(self.inner).__name__} inside it "
                "joins several, and nothing would prove the law; take Gradient with a number or a vector"
            )

    @property
    def max_step(self) -> float:
        return min(self.step or math.inf, self.inner.max_step)

    def rate(self, seen: Seen) -> tuple[AnyPerUnknown, AnyPerState]:
        rate, change = self.inner.rate(seen)
        lower, upper = self._box(seen.symbols.unknowns)
        layer = self.margin * (upper - lower)
        step = self.step * seen.symbols.factors.get("adaptation", 1)  # which multiplies what is returned
        each = zip(rate, seen.estimate, lower, upper, layer, strict=True)
        return array([_kept(own, x, least, most, thick, step) for own, x, least, most, thick in each]), change

    def init(
        self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, estimate: Float[np.ndarray, "unknown"]
    ) -> Float[np.ndarray, "states"]:
        for name, x, lower, upper in zip(unknowns.names, estimate, *self._box(unknowns), strict=True):
            if not lower <= x <= upper:
                raise InputError(
                    f"the estimate {name} = {x:g} to begin with lies outside its bounds {lower:g} and {upper:g}; begin "
                    "within them, or widen them"
                )
        return super().init(robot, unknowns, q, qd, estimate)

    def _box(self, unknowns: Unknowns) -> tuple[Float[np.ndarray, "unknown"], Float[np.ndarray, "unknown"]]:
        size = len(unknowns.names)
        lower, upper = numbers("lower", self.lower, size), numbers("upper", self.upper, size)
        for name, least, most in zip(unknowns.names, lower, upper, strict=True):
            if not least < most:
                raise InputError(f"the bounds of {name} are {least:g} and {most:g}; lower must be less than upper")
        return lower, upper


def _kept(rate: Any, x: Any, lower: float, upper: float, layer: float, step: Any) -> Any:
    """The rate of one parameter, slowed down on its way out."""
    import casadi

    up, down = casadi.fmax(rate, 0.0), casadi.fmax(-rate, 0.0)
    rising = casadi.fmin(1.0, casadi.fmax(upper - x, 0.0) / casadi.fmax(layer, step * up))
    falling = casadi.fmin(1.0, casadi.fmax(x - lower, 0.0) / casadi.fmax(layer, step * down))
    return up * rising - down * falling


def _separable(inner: Adaptation, unknowns: Unknowns) -> bool:
    """Whether V is a sum of functions of one parameter each: its second derivatives are a diagonal."""
    import casadi

    estimate, truth = (casadi.SX.sym(name, len(unknowns.names)) for name in ("estimate", "truth"))
    slope = casadi.gradient(casadi.SX(inner.distance(unknowns, scalars(estimate), scalars(truth))), estimate)
    rows, columns = casadi.jacobian_sparsity(slope, estimate).get_triplet()
    return list(rows) == list(columns)
