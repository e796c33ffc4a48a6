"""The modified Slotine–Li controller of Lu and Meng, and its quasi-computed-torque variant.

Identity      tau = Y(q, qd, qrdd) theta_hat - K s,   d theta_hat/dt = -Gamma Y_uᵀ s
              quasi-computed torque: K = lambda H_hat, that is tau = Y(q, qd, qdd*) theta_hat
Reference     [lu1993] sec. V-A, (86)-(96)
Accepts       every robot; standard or base parameters; friction, which is that of the real motion
Notation      code          paper      meaning                                         shape
              e             q tilde    q - qr (the paper's q_d)
              s             s          ed + Lambda e = qd - qd_r (86)
              convergence   Lambda     in s; lambda in the variant                     joints x joints, or a number
              damping       K          on s                                            joints x joints
              adaptation    Gamma      the factor before Yᵀ s (89)                     unknown x unknown
Differs from  the print in: accelerations have the second dot that it lost: Y(q, qd, qdd_r) in (87)-(92), and
              qdd* = qdd_d - 2 lambda ed - lambda² e in (96).

Y is the ordinary regressor, with C qd in the place of C v. That leaves a term in the proof: dV/dt = -sᵀ (K - C) s (91),
or -sᵀ (lambda H - C) s (93), which is negative where K, or lambda, is large for the speeds that occur: C grows with qd.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ytheta.control.gains import Gain, quadratic
from ytheta.control.laws.adaptive_law import AdaptiveLaw
from ytheta.control.laws.law import Shape, Written
from ytheta.dynamics.symbolic_model import SymbolicModel, multiply_transposed_regressor
from ytheta.control.symbols import Symbols
from ytheta.shapes import AnyPerActuated


@dataclass(frozen=True, eq=False, kw_only=True)
class ModifiedSlotineLi(AdaptiveLaw):
    """Slotine–Li with the ordinary regressor; ``damping`` must outweigh C at the speeds of the task."""

    convergence: Gain
    damping: Gain

    GAINS: ClassVar[Mapping[str, Shape]] = {"convergence": Shape.MATRIX, "damping": Shape.MATRIX}

    @property
    def name(self) -> str:
        return "modified-slotine-li"

    def written(self, s: Symbols) -> Written:
        sliding = _sliding(s)
        qdd_r = s.qrdd - s.times("convergence", s.error_rate)  # (86), once more differentiated
        modelled = s.model.torque(s.qd, qdd_r)
        tau = modelled - s.times("damping", sliding)  # (92)
        return Written(tau, sliding, multiply_transposed_regressor(modelled, s.estimate_sx, sliding))  # (89)

    def proof(self, s: Symbols, true: SymbolicModel) -> Any:
        return quadratic(true.mass_matrix, _sliding(s)) * 0.5  # (90)


@dataclass(frozen=True, eq=False, kw_only=True)
class QuasiComputedTorque(AdaptiveLaw):
    """The variant K = lambda H_hat: computed torque with the estimate, two poles at -lambda where it is right."""

    convergence: float

    GAINS: ClassVar[Mapping[str, Shape]] = {"convergence": Shape.NUMBER}

    @property
    def name(self) -> str:
        return "quasi-computed-torque"

    def written(self, s: Symbols) -> Written:
        sliding = _sliding(s)
        wanted = s.qrdd - s.times("convergence", s.error_rate + sliding)  # (96): qdd_r - lambda s is qdd*
        tau = s.model.torque(s.qd, wanted)  # (95)
        return Written(tau, sliding, multiply_transposed_regressor(tau, s.estimate_sx, sliding))  # (94)

    def proof(self, s: Symbols, true: SymbolicModel) -> Any:
        return quadratic(true.mass_matrix, _sliding(s)) * 0.5


def _sliding(s: Symbols) -> AnyPerActuated:
    return s.error_rate + s.times("convergence", s.error)
