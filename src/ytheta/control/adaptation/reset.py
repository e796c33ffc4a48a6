"""Resetting of Craig, Hsu and Sastry: an estimate that leaves its known bounds by more than a margin returns to them.

Identity      after every step: estimate_i = lower_i if estimate_i < lower_i - delta_i,
                                estimate_i = upper_i if estimate_i > upper_i + delta_i
Reference     J. J. Craig, P. Hsu and S. S. Sastry, Adaptive Control of Mechanical Manipulators, International Journal
              of Robotics Research 6(2), 1987, for the scheme with which [lu1993] sec. V compares its own
Accepts       inner adaptation laws whose Lyapunov term is a sum over the parameters, as ``projection`` does
Notation      code           paper      meaning                                                      shape
              lower, upper   l_i, h_i   the bounds within which the truth is known to be             unknown
              delta          delta      how far an estimate may leave them                           unknown
Differs from  the paper in: delta may differ between parameters; in a sampled controller, an estimate is reset at the
              end of the step in which it leaves lower - delta … upper + delta, so the law never uses one outside.

Proof. Between resets the law is the inner one. A reset moves an estimate by at least delta towards every value within
the bounds, also towards the truth, so V falls by at least delta² / (2 Gamma_ii): there are finitely many resets, and V
never grows. Unlike a projection, a reset leaves the rate as it is, and the truth may be at a bound. But the estimate
jumps, and the torque with it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.control.adaptation.adaptation import AdaptationInputs
from ytheta.control.adaptation.wrapper import (
    AdaptationWrapper,
    Bounds,
    broadcast_bounds,
    broadcast_to_unknowns,
    check_separable,
    check_start,
)
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.vectors import array
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown, PerJoint, PerState, PerUnknown


@dataclass(frozen=True, eq=False, repr=False)
class Reset(AdaptationWrapper):
    """Returns estimates to their bounds. Bounds and margins are one number for all or one per unknown parameter.

    Attributes
    ----------
    inner  the adaptation law whose estimates are reset
    lower  lower bounds, which the true values respect
    upper  upper bounds
    delta  margin by which an estimate may leave its bounds before it is reset
    """

    lower: Bounds
    upper: Bounds
    delta: Bounds

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        super().check(robot, unknowns)
        self._get_bounds(unknowns)
        self._get_margins(unknowns)
        check_separable("reset", self.inner, unknowns)

    @property
    def resets(self) -> bool:
        return True

    def rate(self, inputs: AdaptationInputs) -> tuple[AnyPerUnknown, AnyPerState]:
        return self.inner.rate(inputs)

    def reset(self, unknowns: Unknowns, estimate: AnyPerUnknown) -> AnyPerUnknown:
        import casadi

        lower, upper = self._get_bounds(unknowns)
        rows = zip(self.inner.reset(unknowns, estimate), lower, upper, self._get_margins(unknowns), strict=True)
        return array(
            [
                casadi.if_else(x < low - delta, low, casadi.if_else(x > high + delta, high, x))
                for x, low, high, delta in rows
            ]
        )

    def init(self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, estimate: PerUnknown) -> PerState:
        check_start(unknowns, estimate, self._get_bounds(unknowns), self._get_margins(unknowns))
        return super().init(robot, unknowns, q, qd, estimate)

    def _get_bounds(self, unknowns: Unknowns) -> tuple[PerUnknown, PerUnknown]:
        return broadcast_bounds(self.lower, self.upper, unknowns)

    def _get_margins(self, unknowns: Unknowns) -> PerUnknown:
        delta = broadcast_to_unknowns("delta", self.delta, unknowns)
        if not (delta > 0.0).all():
            name = unknowns.names[int(np.argmin(delta))]
            raise InputError(f"delta of {name} is {delta.min():g}; give a margin above 0 in the unit of the parameter")
        return delta
