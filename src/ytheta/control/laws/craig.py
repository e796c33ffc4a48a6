"""Adaptive computed torque of Craig, Hsu and Sastry.

Identity      tau = H_hat (qrdd - K_v ed - K_p e) + C_hat qd + G_hat
              d theta_hat/dt = -Gamma Y_u(q, qd, qdd)ᵀ H_hat^-1 (ed + Psi e)
Reference     [lu1993] sec. V, where it is the scheme to compare with; J. J. Craig, P. Hsu and S. S. Sastry, Adaptive
              Control of Mechanical Manipulators, International Journal of Robotics Research 6(2), 1987
Accepts       every robot whose accelerations are measured; standard or base parameters; friction of the measured motion
Notation      code         paper   meaning                                                     shape
              e            E       q - qr (the paper's sign is the opposite)
              stiffness    K_p     gain of e                                                   joints
              damping      K_v     gain of ed                                                  joints
              filtering    Psi     gain of e in ed + Psi e, the error that drives adaptation   joints
              adaptation   Gamma                                                               unknown x unknown
Bounds        The paper knows bounds of every parameter, within which H_hat has an inverse, and resets an estimate that
              leaves them: ``adaptation=Reset(Gradient(gain), lower, upper, delta)``, see ``adaptation.reset``.
Differs from  the paper in: bounds are optional. If H_hat is not positive definite, the rates are NaN in the graph and
              ``step`` raises an error. The torque needs no inverse.

With exact accelerations, edd + K_v ed + K_p e = H_hat^-1 Y_u theta_tilde. (p + Psi) / (p² + K_v p + K_p) is strictly
positive real if K_v > Psi. Then V = (Xᵀ P X + theta_tildeᵀ Gamma^-1 theta_tilde) / 2 with X = (e, ed) and
P = [K_p + Psi K_v, Psi; Psi, 1] falls: dV/dt = -eᵀ K_p Psi e - edᵀ (K_v - Psi) ed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ytheta.control.controller import State
from ytheta.control.gains import Gain, GainShape
from ytheta.control.laws.law import AdaptiveLaw, LawEquations
from ytheta.control.unknowns import LawSymbols
from ytheta.dynamics.symbolic_model import SymbolicModel, multiply_transposed_regressor
from ytheta.dynamics.vectors import array, inner
from ytheta.errors import InputError
from ytheta.shapes import Float, Shaped


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Craig(AdaptiveLaw):
    """Computed torque with the estimate. Adaptation needs measured accelerations and the inverse of H_hat.

    Attributes
    ----------
    robot          the robot description; known parameters have the values of this description
    base           the base parameters; None to adapt standard parameters
    adaptation     the gain of gradient adaptation, or an adaptation law such as ``Natural(2.0)``
    learn          the unknown parameters, by names or patterns; None for the base parameters, or for all parameters of
                   the links if ``base`` is None
    torque_limits  limits of the torques in Nm or N, one number or one per joint; None for no limits
    stiffness      K_p: gain of e = q - qr
    damping        K_v: gain of ed
    filtering      Psi in 1/s: adaptation uses the filtered error ed + Psi e
    """

    stiffness: Gain
    damping: Gain
    filtering: Gain

    GAINS: ClassVar[Mapping[str, GainShape]] = dict.fromkeys(("stiffness", "damping", "filtering"), GainShape.DIAGONAL)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_factors({})

    def check_factors(self, factors: Mapping[str, Float[np.ndarray, " runs"]]) -> None:
        super().check_factors(factors)
        K_v, Psi = (np.outer(factors.get(g, 1.0), self.gains[g].diagonal()) for g in ("damping", "filtering"))
        K_v, Psi = np.broadcast_arrays(K_v, Psi)
        if not (K_v > Psi).all():
            run, k = np.unravel_index(int(np.argmin(K_v - Psi)), K_v.shape)
            in_run = f" in run {run}" if len(K_v) > 1 else ""
            raise InputError(
                f"damping {K_v[run, k]:g} of {self.robot.actuated[k]!r}{in_run} is not greater than filtering "
                f"{Psi[run, k]:g}: the transfer function of the error is then not strictly positive real, and the law "
                "has no stability proof; increase damping or decrease filtering"
            )

    @property
    def name(self) -> str:
        return "craig"

    @property
    def needs_acceleration(self) -> bool:
        return True

    def equations(self, s: LawSymbols) -> LawEquations:
        qdd = s.qrdd - s.apply_gain("damping", s.error_rate) - s.apply_gain("stiffness", s.error)
        filtered = s.error_rate + s.apply_gain("filtering", s.error)
        w = _solve_cholesky(s.model.mass_matrix, filtered)
        measured_torque = s.model.torque(s.qd, s.qdd)
        return LawEquations(
            s.model.torque(s.qd, qdd), filtered, multiply_transposed_regressor(measured_torque, s.estimate_sx, w)
        )

    def lyapunov_term(self, s: LawSymbols, true: SymbolicModel) -> Any:  # noqa: ARG002
        e, ed = s.error, s.error_rate
        P_e = s.apply_gain("stiffness", e) + s.apply_gain("filtering", s.apply_gain("damping", e))
        return (inner(e, P_e) + inner(e, 2.0 * s.apply_gain("filtering", ed)) + inner(ed, ed)) * 0.5

    def explain_divergence(self, state: State) -> str:
        estimate = ", ".join(f"{name} = {x:g}" for name, x in zip(self.unknown_names[:4], state.x, strict=False))
        return (
            f"the estimated mass matrix is not positive definite and has no inverse ({estimate}"
            f"{' …' if len(self.unknown_names) > 4 else ''}); start closer to the truth, adapt more slowly, learn "
            "fewer parameters, reset estimates to known bounds with Reset, or use modified-slotine-li, which needs no "
            "inverse"
        )


def _solve_cholesky(M: Shaped[np.ndarray, "n n"], b: Shaped[np.ndarray, " n"]) -> Shaped[np.ndarray, " n"]:
    """Return M^-1 b by a Cholesky factorization, or NaN if M is not positive definite."""
    import casadi

    n = len(b)
    L, x = array([[0] * n for _ in range(n)]), b.copy()
    for j in range(n):
        L[j, j] = casadi.sqrt(casadi.SX(M[j, j] - inner(L[j, :j], L[j, :j])))
        for i in range(j + 1, n):
            L[i, j] = (M[i, j] - inner(L[i, :j], L[j, :j])) / L[j, j]
        x[j] = (x[j] - inner(L[j, :j], x[:j])) / L[j, j]
    for j in reversed(range(n)):
        x[j] = (x[j] - inner(L[j + 1 :, j], x[j + 1 :])) / L[j, j]
    return x
