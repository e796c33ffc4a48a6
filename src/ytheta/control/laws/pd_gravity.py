"""PD control with gravity compensation, a baseline that needs the gravity torque only.

Identity      tau = g(q) - K_p e - K_d ed
Reference     M. Takegaki and S. Arimoto, A New Feedback Method for Dynamic Control of Manipulators, Journal of Dynamic
              Systems, Measurement, and Control 103, 1981
Accepts       every robot; declared forces are compensated, friction is not
Notation      code        paper   meaning               shape
              stiffness   K_p     gain of e = q - qr    joints x joints
              damping     K_d     gain of ed            joints x joints

For a reference at rest, V = (qdᵀ M qd + eᵀ K_p e) / 2 falls: dV/dt = -qdᵀ K_d qd, and faster with viscous friction. A
moving reference is tracked with an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ytheta.control.gains import Gain, GainShape, compute_quadratic_form
from ytheta.control.laws.law import Law, LawEquations
from ytheta.control.unknowns import LawSymbols
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.dynamics.vectors import inner, zeros


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PDGravity(Law):
    """Springs and dampers at the joints, and the gravity torque of the description.

    Attributes
    ----------
    robot          the robot description; known parameters have the values of this description
    torque_limits  limits of the torques in Nm or N, one number or one per joint; None for no limits
    stiffness      K_p: gain of e = q - qr
    damping        K_v: gain of ed
    """

    stiffness: Gain
    damping: Gain

    GAINS: ClassVar[Mapping[str, GainShape]] = {"stiffness": GainShape.MATRIX, "damping": GainShape.MATRIX}

    @property
    def name(self) -> str:
        return "pd-gravity"

    def equations(self, s: LawSymbols) -> LawEquations:
        tau = s.model.holding_torque - s.apply_gain("stiffness", s.error) - s.apply_gain("damping", s.error_rate)
        return LawEquations(tau, s.error_rate, zeros(0))

    def lyapunov_term(self, s: LawSymbols, true: SymbolicModel) -> Any:
        spring_energy = inner(s.error, s.apply_gain("stiffness", s.error))
        return (compute_quadratic_form(true.mass_matrix, s.error_rate) + spring_energy) * 0.5
