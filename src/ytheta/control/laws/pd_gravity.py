"""PD control with gravity compensation: the baseline that needs the weight alone.

Identity      tau = g(q) - K_p e - K_d ed
Reference     M. Takegaki and S. Arimoto, A New Feedback Method for Dynamic Control of Manipulators, Journal of Dynamic
              Systems, Measurement, and Control 103, 1981
Accepts       every robot; declared forces are compensated, friction is not
Notation      code        paper   meaning       shape
              stiffness   K_p     on q - qr     joints x joints
              damping     K_d     on qd - qrd   joints x joints

For a reference at rest V = (qdᵀ M qd + eᵀ K_p e) / 2 falls: dV/dt = -qdᵀ K_d qd, and faster with viscous friction. A
moving reference is followed with an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ytheta.control.gains import Gain, quadratic
from ytheta.control.laws.law import Law, Shape, Written
from ytheta.dynamics.symbolic_model import SymbolicModel
from ytheta.control.symbols import Symbols
from ytheta.dynamics.vectors import inner, zeros


@dataclass(frozen=True, eq=False, kw_only=True)
class PDGravity(Law):
    """Springs and dampers at the joints, and the description's weight."""

    stiffness: Gain
    damping: Gain

    GAINS: ClassVar[Mapping[str, Shape]] = {"stiffness": Shape.MATRIX, "damping": Shape.MATRIX}

    @property
    def name(self) -> str:
        return "pd-gravity"

    def written(self, s: Symbols) -> Written:
        tau = s.model.holding_torque - s.times("stiffness", s.error) - s.times("damping", s.error_rate)
        return Written(tau, s.error_rate, zeros(0))

    def proof(self, s: Symbols, true: SymbolicModel) -> Any:
        stretched = inner(s.error, s.times("stiffness", s.error))
        return (quadratic(true.mass_matrix, s.error_rate) + stretched) * 0.5
