"""Computed torque, a baseline without adaptation that needs all parameters.

Identity      tau = M (qrdd - K_v ed - K_p e) + C qd + g + friction, so that edd + K_v ed + K_p e = 0
Reference     J. J. Craig, Introduction to Robotics (1989), as [lu1993] sec. V-A cites it
Accepts       every robot
Notation      code        book   meaning               shape
              stiffness   K_p    gain of e = q - qr    joints x joints
              damping     K_v    gain of ed            joints x joints

If the parameters of the description are right, V = (edᵀ ed + eᵀ K_p e) / 2 falls: dV/dt = -edᵀ K_v ed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ytheta.control.gains import Gain, GainShape
from ytheta.control.laws.law import Law, LawEquations
from ytheta.control.unknowns import LawSymbols
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import inner, zeros


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComputedTorque(Law):
    """Linearizes the robot with the parameters of the description.

    Attributes
    ----------
    robot          the robot description; known parameters have the values of this description
    torque_limits  limits of the torques in Nm or N, one number or one per joint; None for no limits
    stiffness      K_p: gain of e = q - qr, in 1/s²
    damping        K_v: gain of ed, in 1/s
    """

    stiffness: Gain
    damping: Gain

    GAINS: ClassVar[Mapping[str, GainShape]] = {"stiffness": GainShape.MATRIX, "damping": GainShape.MATRIX}

    @property
    def name(self) -> str:
        return "computed-torque"

    def equations(self, s: LawSymbols) -> LawEquations:
        qdd = s.qrdd - s.apply_gain("damping", s.error_rate) - s.apply_gain("stiffness", s.error)
        return LawEquations(s.model.torque(s.qd, qdd), s.error_rate, zeros(0))

    def lyapunov_term(self, s: LawSymbols, true: SymbolicModel) -> Any:  # noqa: ARG002
        return (inner(s.error_rate, s.error_rate) + inner(s.error, s.apply_gain("stiffness", s.error))) * 0.5
