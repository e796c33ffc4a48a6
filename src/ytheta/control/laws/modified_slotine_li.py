"""The modified Slotine–Li controller of Lu and Meng, and its quasi-computed-torque variant.

Identity      tau = Y(q, qd, qrdd) theta_hat - K s,   d theta_hat/dt = -Gamma Y_uᵀ s
              quasi-computed torque: K = lambda H_hat, that is tau = Y(q, qd, qdd*) theta_hat
Reference     [lu1993] sec. V-A, (86)-(96)
Accepts       every robot; standard or base parameters; friction of the measured motion
Notation      code          paper      meaning                                         shape
              e             q tilde    q - qr (the paper's q_d)
              s             s          ed + Lambda e = qd - qd_r (86)
              convergence   Lambda     gain of e in s; lambda in the variant           joints x joints, or a number
              damping       K          gain of s                                       joints x joints
              adaptation    Gamma      the factor of Yᵀ s (89)                         unknown x unknown
Differs from  the printed paper in: accelerations have the second dot that is missing in print: Y(q, qd, qdd_r) in
              (87)-(92), and qdd* = qdd_d - 2 lambda ed - lambda² e in (96).

Y is the ordinary regressor, with C qd instead of C v. C therefore remains in the proof: dV/dt = -sᵀ (K - C) s (91), or
-sᵀ (lambda H - C) s (93) in the variant. C grows with qd, so dV/dt is negative only if K, or lambda in the variant, is
large enough for the velocities that occur.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ytheta.control.gains import Gain, GainShape, compute_quadratic_form
from ytheta.control.laws.law import AdaptiveLaw, LawEquations
from ytheta.control.unknowns import LawSymbols
from ytheta.dynamics.symbolic_model import SymbolicModel, multiply_transposed_regressor
from ytheta.shapes import AnyPerActuated


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModifiedSlotineLi(AdaptiveLaw):
    """Slotine–Li with the ordinary regressor; ``damping`` must exceed C at the velocities of the task.

    Attributes
    ----------
    robot          the robot description; known parameters have the values of this description
    base           the base parameters; None to adapt standard parameters
    adaptation     the gain of gradient adaptation, or an adaptation law such as ``Natural(2.0)``
    learn          the unknown parameters, by names or patterns; None for the base parameters, or for all parameters of
                   the links if ``base`` is None
    torque_limits  limits of the torques in Nm or N, one number or one per joint; None for no limits
    convergence    Lambda: rate in 1/s at which the position error follows r = ed + Lambda e
    damping        K: gain of s = ed + Lambda e
    """

    convergence: Gain
    damping: Gain

    GAINS: ClassVar[Mapping[str, GainShape]] = {"convergence": GainShape.MATRIX, "damping": GainShape.MATRIX}

    @property
    def name(self) -> str:
        return "modified-slotine-li"

    def equations(self, s: LawSymbols) -> LawEquations:
        sliding = _compute_sliding_variable(s)
        qdd_r = s.qrdd - s.apply_gain("convergence", s.error_rate)  # derivative of (86)
        model_torque = s.model.torque(s.qd, qdd_r)
        tau = model_torque - s.apply_gain("damping", sliding)  # (92)
        return LawEquations(tau, sliding, multiply_transposed_regressor(model_torque, s.estimate_sx, sliding))  # (89)

    def lyapunov_term(self, s: LawSymbols, true: SymbolicModel) -> Any:
        return compute_quadratic_form(true.mass_matrix, _compute_sliding_variable(s)) * 0.5  # (90)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class QuasiComputedTorque(AdaptiveLaw):
    """The variant K = lambda H_hat: computed torque with the estimate; with the truth, both poles are at -lambda.

    Attributes
    ----------
    robot          the robot description; known parameters have the values of this description
    base           the base parameters; None to adapt standard parameters
    adaptation     the gain of gradient adaptation, or an adaptation law such as ``Natural(2.0)``
    learn          the unknown parameters, by names or patterns; None for the base parameters, or for all parameters of
                   the links if ``base`` is None
    torque_limits  limits of the torques in Nm or N, one number or one per joint; None for no limits
    convergence    lambda in 1/s
    """

    convergence: float

    GAINS: ClassVar[Mapping[str, GainShape]] = {"convergence": GainShape.NUMBER}

    @property
    def name(self) -> str:
        return "quasi-computed-torque"

    def equations(self, s: LawSymbols) -> LawEquations:
        sliding = _compute_sliding_variable(s)
        qdd = s.qrdd - s.apply_gain("convergence", s.error_rate + sliding)  # (96): qdd_r - lambda s is qdd*
        tau = s.model.torque(s.qd, qdd)  # (95)
        return LawEquations(tau, sliding, multiply_transposed_regressor(tau, s.estimate_sx, sliding))  # (94)

    def lyapunov_term(self, s: LawSymbols, true: SymbolicModel) -> Any:
        return compute_quadratic_form(true.mass_matrix, _compute_sliding_variable(s)) * 0.5


def _compute_sliding_variable(s: LawSymbols) -> AnyPerActuated:
    """Return s of (86)."""
    return s.error_rate + s.apply_gain("convergence", s.error)
