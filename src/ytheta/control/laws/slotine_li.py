"""Adaptive control of Slotine and Li.

Identity      tau = Y_S(q, qd, v, vd) theta_hat - K_D r,   d theta_hat/dt = -Gamma Y_Sᵀ r
Reference     [fernandez2000] (26)-(32); J.-J. E. Slotine and W. Li, On the Adaptive Control of Robot Manipulators,
              International Journal of Robotics Research 6(3), 1987
Accepts       every robot; standard or base parameters; friction, whose viscous part is computed with v instead of qd;
              load-dependent friction as feed-forward with the torque of the description
Notation      code          paper      meaning                                         shape
              convergence   Lambda     v = qrd - Lambda e                              joints x joints
              damping       K_D        gain of r                                       joints x joints
              adaptation    Gamma^-1   the factor of Yᵀ r                              unknown x unknown
              e             e          q - qr
              r             r          qd - v = ed + Lambda e
Differs from  the paper in: gains may be full matrices; ``adaptation`` is the *inverse* of the paper's Gamma (31), as in
              the other laws here (1 / 0.075 for the paper's PUMA); any subset of the parameters may be unknown. The
              paper cites sources for the Lyapunov function but does not print it. The function is
              V = (rᵀ D r + theta_tildeᵀ Gamma theta_tilde) / 2, with dV/dt = -rᵀ (K_D + F_v) r.
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
class SlotineLi(AdaptiveLaw):
    """Tracks any reference while it adapts. It needs neither accelerations nor the inverse of a mass matrix.

    Attributes
    ----------
    robot          the robot description; known parameters have the values of this description
    base           the base parameters; None to adapt standard parameters
    adaptation     the gain of gradient adaptation, or an adaptation law such as ``Natural(2.0)``
    learn          the unknown parameters, by names or patterns; None for the base parameters, or for all parameters of
                   the links if ``base`` is None
    torque_limits  limits of the torques in Nm or N, one number or one per joint; None for no limits
    convergence    Lambda: rate in 1/s at which the position error follows r = ed + Lambda e
    damping        K_D: gain of r
    """

    convergence: Gain
    damping: Gain

    GAINS: ClassVar[Mapping[str, GainShape]] = {"convergence": GainShape.MATRIX, "damping": GainShape.MATRIX}

    @property
    def name(self) -> str:
        return "slotine-li"

    def equations(self, s: LawSymbols) -> LawEquations:
        v, r = _compute_reference_velocity(s)
        vd = s.qrdd - s.apply_gain("convergence", s.error_rate)
        model_torque = s.model.torque(s.qd, vd, v)
        tau = model_torque - s.apply_gain("damping", r)  # (32)
        return LawEquations(tau, r, multiply_transposed_regressor(model_torque, s.estimate_sx, r))  # (31)

    def lyapunov_term(self, s: LawSymbols, true: SymbolicModel) -> Any:
        _, r = _compute_reference_velocity(s)
        return compute_quadratic_form(true.mass_matrix, r) * 0.5


def _compute_reference_velocity(s: LawSymbols) -> tuple[AnyPerActuated, AnyPerActuated]:
    """Return v and r of (26)-(27)."""
    v = s.qrd - s.apply_gain("convergence", s.error)
    return v, s.qd - v
