"""Adaptive control of Slotine and Li.

Identity      tau = Y_S(q, qd, v, vd) theta_hat - K_D r,   d theta_hat/dt = -Gamma Y_Sᵀ r
Reference     [fernandez2000] (26)-(32); J.-J. E. Slotine and W. Li, On the Adaptive Control of Robot Manipulators,
              International Journal of Robotics Research 6(3), 1987
Accepts       every robot; standard or base parameters; friction, whose viscous part is that of v
Notation      code          paper      meaning                                         shape
              convergence   Lambda     v = qrd - Lambda e                              joints x joints
              damping       K_D        on r                                            joints x joints
              adaptation    Gamma^-1   the factor before Yᵀ r                          unknown x unknown
              e             e          q - qr
              r             r          qd - v = ed + Lambda e
Differs from  the paper in: gains may be full matrices; ``adaptation`` is the *inverse* of its Gamma (31), as in the
              other laws here: 1 / 0.075 for its PUMA; any subset of the parameters is learnt; the proof's function,
              which it leaves to its sources: V = (rᵀ D r + wrongᵀ Gamma wrong) / 2 with dV/dt = -rᵀ (K_D + F_v) r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.control.gains import Gain, OfJoints, OfUnknown, matrix, quadratic, times
from ytheta.control.law import Law
from ytheta.control.learnt import Learnt, learnt
from ytheta.control.model import Model, pulled_back
from ytheta.control.symbols import Actuated, Symbols
from ytheta.minimal.base_parameters import BaseParameters
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped


@dataclass(frozen=True, eq=False)
class SlotineLi(Law):
    """Tracks any reference and learns on the way; needs neither accelerations nor an inverse."""

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
        return "slotine_li"

    @cached_property
    def learnt(self) -> Learnt:
        return learnt(self.robot, self.base, self.learn)

    def written(self, s: Symbols) -> tuple[Actuated, Shaped[np.ndarray, "unknown"]]:
        Lambda, K_D, adaptation = self._gains
        v, r = self._reference(s)
        vd = s.qrdd - times(Lambda, s.error_rate)
        modelled = s.model.torque(s.qd, vd, v)
        tau = modelled - times(K_D, r)  # (32)
        return tau, -times(adaptation, pulled_back(modelled, s.unknown, r))  # (31)

    def proof(self, s: Symbols, true: Model, wrong: Shaped[np.ndarray, "unknown"]) -> Any:
        _, r = self._reference(s)
        _, _, adaptation = self._gains
        return (quadratic(true.mass_matrix, r) + quadratic(np.linalg.inv(adaptation), wrong)) * 0.5

    def _reference(self, s: Symbols) -> tuple[Actuated, Actuated]:
        """v and r of (26)-(27)."""
        v = s.qrd - times(self._gains[0], s.error)
        return v, s.qd - v

    @cached_property
    def _gains(self) -> tuple[OfJoints, OfJoints, OfUnknown]:
        n = len(self.robot.actuated)
        return (
            matrix("convergence", self.convergence, n, per="actuated coordinate"),
            matrix("damping", self.damping, n, per="actuated coordinate"),
            matrix("adaptation", self.adaptation, len(self.unknown), per="unknown parameter"),
        )
