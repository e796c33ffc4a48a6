"""Adaptation along the gradient, in a constant metric: that of the papers.

Identity      d estimate/dt = -Gamma Y_uᵀ r,   V = wrongᵀ Gamma^-1 wrong / 2
Reference     [fernandez2000] (31); [lu1993] (89); [walker1988] (24)
Notation      code   paper   meaning                                                  shape
              gain   Gamma   the factor before Yᵀ r; [fernandez2000] has its inverse  unknown x unknown
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ytheta.control.adaptation.adaptation import Adaptation, Seen
from ytheta.control.gains import Gain, inverse, matrix, quadratic, times
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.vectors import zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown, SquareMatrix


@dataclass(frozen=True, eq=False)
class Gradient(Adaptation):
    """What a plain number, vector or matrix given as ``adaptation`` stands for."""

    gain: Gain

    def check(self, robot: Robot, unknowns: Unknowns) -> None:  # noqa: ARG002
        self.matrix(unknowns)

    def rate(self, seen: Seen) -> tuple[AnyPerUnknown, AnyPerState]:
        return -times(self.matrix(seen.symbols.unknowns), seen.slope), zeros(0)

    def distance(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        return quadratic(inverse(self.matrix(unknowns)), estimate - truth) * 0.5

    def matrix(self, unknowns: Unknowns) -> SquareMatrix:
        return matrix("adaptation", self.gain, len(unknowns.names), per="unknown parameter")
