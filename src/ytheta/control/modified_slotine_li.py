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

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.control.gains import Gain, OfJoints, OfUnknown, matrix, quadratic, scalar, times
from ytheta.control.law import Law
from ytheta.control.learnt import Learnt, learnt
from ytheta.control.model import Model, pulled_back
from ytheta.control.symbols import Actuated, Symbols
from ytheta.minimal.base_parameters import BaseParameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped


@dataclass(frozen=True, eq=False)
class ModifiedSlotineLi(Law):
    """Slotine–Li with the ordinary regressor; ``damping`` must outweigh C at the speeds of the task."""

    robot: Robot
    base: BaseParameters | None = None
    _: KW_ONLY
    convergence: Gain
    damping: Gain
    adaptation: Gain
    learn: Sequence[str] | None = None
    torque_limits: Gain | None = None

    def __post_init__(self) -> None:
        self.check()
        _ = self._gains

    @property
    def name(self) -> str:
        return "modified_slotine_li"

    @cached_property
    def learnt(self) -> Learnt:
        return learnt(self.robot, self.base, self.learn)

    def written(self, s: Symbols) -> tuple[Actuated, Shaped[np.ndarray, "unknown"]]:
        Lambda, K, Gamma = self._gains
        sliding = _sliding(s, Lambda)
        qdd_r = s.qrdd - times(Lambda, s.error_rate)  # (86), once more differentiated
        modelled = s.model.torque(s.qd, qdd_r)
        return (
            modelled - times(K, sliding),  # (92)
            -times(Gamma, pulled_back(modelled, s.unknown, sliding)),  # (89)
        )

    def proof(self, s: Symbols, true: Model, wrong: Shaped[np.ndarray, "unknown"]) -> Any:
        Lambda, _, Gamma = self._gains
        return _energy(true, _sliding(s, Lambda), Gamma, wrong)

    @cached_property
    def _gains(self) -> tuple[OfJoints, OfJoints, OfUnknown]:
        n = len(self.robot.actuated)
        return (
            matrix("convergence", self.convergence, n, per="actuated coordinate"),
            matrix("damping", self.damping, n, per="actuated coordinate"),
            matrix("adaptation", self.adaptation, len(self.unknown), per="unknown parameter"),
        )


@dataclass(frozen=True, eq=False)
class QuasiComputedTorque(Law):
    """The variant K = lambda H_hat: computed torque with the estimate, two poles at -lambda where it is right."""

    robot: Robot
    base: BaseParameters | None = None
    _: KW_ONLY
    convergence: float
    adaptation: Gain
    learn: Sequence[str] | None = None
    torque_limits: Gain | None = None

    def __post_init__(self) -> None:
        self.check()
        _ = self._gains

    @property
    def name(self) -> str:
        return "quasi_computed_torque"

    @cached_property
    def learnt(self) -> Learnt:
        return learnt(self.robot, self.base, self.learn)

    def written(self, s: Symbols) -> tuple[Actuated, Shaped[np.ndarray, "unknown"]]:
        lam, Gamma = self._gains
        unit = np.eye(len(s.qd))
        wanted = s.qrdd - times(2.0 * lam * unit, s.error_rate) - times(lam**2 * unit, s.error)  # (96)
        tau = s.model.torque(s.qd, wanted)  # (95)
        rate = -times(Gamma, pulled_back(tau, s.unknown, _sliding(s, lam * unit)))  # (94): qdd_r - lambda s is qdd*
        return tau, rate

    def proof(self, s: Symbols, true: Model, wrong: Shaped[np.ndarray, "unknown"]) -> Any:
        lam, Gamma = self._gains
        return _energy(true, _sliding(s, lam * np.eye(len(s.qd))), Gamma, wrong)

    @cached_property
    def _gains(self) -> tuple[float, OfUnknown]:
        adaptation = matrix("adaptation", self.adaptation, len(self.unknown), per="unknown parameter")
        return scalar("convergence", self.convergence), adaptation


def _sliding(s: Symbols, Lambda: OfJoints) -> Actuated:
    return s.error_rate + times(Lambda, s.error)


def _energy(true: Model, sliding: Actuated, Gamma: OfUnknown, wrong: np.ndarray) -> Any:
    return (quadratic(true.mass_matrix, sliding) + quadratic(np.linalg.inv(Gamma), wrong)) * 0.5  # (90)
