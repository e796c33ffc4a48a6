"""Gradient adaptation in a constant metric: the adaptation law of the papers.

Identity      d estimate/dt = -Gamma Y_uᵀ r,   V = theta_tildeᵀ Gamma^-1 theta_tilde / 2
Reference     [fernandez2000] (31); [lu1993] (89); [walker1988] (24)
Notation      code   paper   meaning                                                  shape
              gain   Gamma   the factor of Yᵀ r; [fernandez2000] has its inverse      unknown x unknown
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation, AdaptationInputs
from ytheta.control.gains import Gain, compute_quadratic_form, multiply, to_matrix
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.vectors import zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown, SquareMatrix


@dataclass(frozen=True, eq=False, repr=False)
class Gradient(Adaptation):
    """Gradient adaptation. Control laws use it if their setting ``adaptation`` is a number, a vector or a matrix.

    Attributes
    ----------
    gain  Gamma: one number, one per unknown parameter, or a matrix
    """

    gain: Gain

    @property
    def main_gain(self) -> Gain:
        return self.gain

    def check(self, robot: Robot, unknowns: Unknowns) -> None:  # noqa: ARG002
        self._to_matrix(unknowns)

    def rate(self, inputs: AdaptationInputs) -> tuple[AnyPerUnknown, AnyPerState]:
        return -multiply(self._to_matrix(inputs.unknowns), inputs.slope), zeros(0)

    def lyapunov_term(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        return compute_quadratic_form(np.linalg.inv(self._to_matrix(unknowns)), estimate - truth) * 0.5

    def _to_matrix(self, unknowns: Unknowns) -> SquareMatrix:
        return to_matrix("adaptation", self.gain, len(unknowns.names), per="unknown parameter")
