"""Dead zone of Peterson and Narendra: the estimate does not follow errors that noise alone can cause.

Identity      d estimate/dt = max(0, |r| - width) / |r| times the inner rate
Reference     B. B. Peterson and K. S. Narendra, Bounded Error Adaptive Control, IEEE Transactions on Automatic Control
              27(6), 1982; P. A. Ioannou and J. Sun, Robust Adaptive Control, 1996, ch. 8
Accepts       every inner adaptation law
Notation      code    meaning                                                                       shape
              r       the error of the control law: ed + Lambda e, or ed + Psi e in Craig's law     actuated
              width   radius of the zone, in the units of r                                         actuated
Differs from  the papers in: the rate is continuous, as in Ioannou and Sun, instead of switched. All coordinates share
              one zone, the ball |r| <= width. With one width per coordinate, the zone is the ellipsoid
              sum of (r_k / width_k)² <= 1, and |r| / width is the root of that sum.

Proof. Inside the zone, the estimate is constant, whatever the disturbance. Outside the zone, with |r|² = rᵀ M r, the
sum of (|r| - width)² / 2 and the inner Lyapunov term falls if the damping exceeds the disturbance. But M is unknown, so
another norm is used here, and the proof is not complete: choose the width with a margin. Errors as large as the zone
remain even without disturbances. The zone does not affect the states of the inner adaptation law besides the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.control.adaptation.adaptation import AdaptationInputs
from ytheta.control.adaptation.wrapper import AdaptationWrapper
from ytheta.control.gains import PER_COORDINATE, Gain, scale_by, to_diagonal
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.vectors import inner
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown, Float


@dataclass(frozen=True, eq=False, repr=False)
class DeadZone(AdaptationWrapper):
    """Stops adaptation while the error is small. ``width`` is one number, or one per actuated coordinate.

    Attributes
    ----------
    inner  the adaptation law that is stopped
    width  size of the error below which adaptation stops, in rad/s or m/s
    """

    width: Gain

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        super().check(robot, unknowns)
        self._to_widths(len(robot.actuated))

    def rate(self, inputs: AdaptationInputs) -> tuple[AnyPerUnknown, AnyPerState]:
        import casadi

        rate, state_rate = self.inner.rate(inputs)
        relative = inputs.error / self._to_widths(len(inputs.error))
        norm = casadi.sqrt(casadi.SX(inner(relative, relative)))
        share = casadi.fmax(norm - 1.0, 0.0) / casadi.fmax(norm, 1.0)  # fmax avoids a division by zero
        return scale_by(rate, share), state_rate

    def _to_widths(self, coordinates: int) -> Float[np.ndarray, " actuated"]:
        return to_diagonal("width", self.width, coordinates, per=PER_COORDINATE)
