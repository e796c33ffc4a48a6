"""Dead zone of Peterson and Narendra: errors that noise alone can make teach nothing.

Identity      d estimate/dt = max(0, |r| - width) / |r| times the inner rate
Reference     B. B. Peterson and K. S. Narendra, Bounded Error Adaptive Control, IEEE Transactions on Automatic Control
              27(6), 1982; P. A. Ioannou and J. Sun, Robust Adaptive Control, 1996, ch. 8
Accepts       every inner adaptation
Notation      code    meaning                                                                       shape
              r       the error that the law works on: ed + Lambda e, ed + Psi e in Craig's law     actuated
              width   of the zone, in units of r                                                    actuated
Differs from  the papers in: continuous, as Ioannou and Sun have it, instead of a switch. Several coordinates have one
              zone, the ball |r| <= width; with a width for each it is the ellipsoid sum of (r_k / width_k)² <= 1, and
              |r| / width the root of that sum.

What is proved. Within the zone the estimate stands still, whatever the disturbance. Outside, with |r|² = rᵀ M r, the
function (|r| - width)² / 2 + the inner part would fall wherever damping outweighs the disturbance. But M is what is to
be learnt: the norm here is another one, the proof is not complete, and the width wants room to spare. The price: errors
of the zone's size remain without any disturbance too. What the inner adaptation remembers moves on.
"""

from __future__ import annotations

from dataclasses import dataclass

from ytheta.control.adaptation.adaptation import Seen
from ytheta.control.adaptation.wrapper import Around
from ytheta.control.gains import Gain, diagonal, scaled
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.vectors import inner
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown


@dataclass(frozen=True, eq=False)
class DeadZone(Around):
    """Stops the estimate while the error is small. ``width`` is a number, or one for each actuated coordinate."""

    width: Gain

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        super().check(robot, unknowns)
        diagonal("width", self.width, len(robot.actuated), per="actuated coordinate")

    def rate(self, seen: Seen) -> tuple[AnyPerUnknown, AnyPerState]:
        import casadi

        rate, change = self.inner.rate(seen)
        widths = diagonal("width", self.width, len(seen.error), per="actuated coordinate")
        relative = seen.error / widths
        size = casadi.sqrt(casadi.SX(inner(relative, relative)))
        taught = casadi.fmax(size - 1.0, 0.0) / casadi.fmax(size, 1.0)  # no division by an error that is zero
        return scaled(rate, taught), change
