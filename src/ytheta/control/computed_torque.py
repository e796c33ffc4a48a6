"""Computed torque: the baseline that knows everything and learns nothing.

Identity      tau = M (qrdd - K_v ed - K_p e) + C qd + g + friction, so that edd + K_v ed + K_p e = 0
Reference     J. J. Craig, Introduction to Robotics (1989), as [lu1993] sec. V-A cites it
Accepts       every robot
Notation      code        book   meaning       shape
              stiffness   K_p    on q - qr     joints x joints
              damping     K_v    on qd - qrd   joints x joints

Where the description is right, V = (edᵀ ed + eᵀ K_p e) / 2 falls: dV/dt = -edᵀ K_v ed.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.control.gains import Gain, OfJoints, matrix, quadratic, times
from ytheta.control.law import Law, nothing_learnt
from ytheta.control.learnt import Learnt
from ytheta.control.model import Model
from ytheta.control.symbols import Actuated, Symbols
from ytheta.formulation.vectors import inner, zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped


@dataclass(frozen=True, eq=False)
class ComputedTorque(Law):
    """Linearises the robot with the description's parameters."""

    robot: Robot
    _: KW_ONLY
    stiffness: Gain
    damping: Gain
    torque_limits: Gain | None = None

    def __post_init__(self) -> None:
        self.check()
        _ = self._gains

    @property
    def name(self) -> str:
        return "computed_torque"

    @cached_property
    def learnt(self) -> Learnt:
        return nothing_learnt(self.robot)

    def written(self, s: Symbols) -> tuple[Actuated, Shaped[np.ndarray, "unknown"]]:
        K_p, K_v = self._gains
        return s.model.torque(s.qd, s.qrdd - times(K_v, s.error_rate) - times(K_p, s.error)), zeros(0)

    def proof(self, s: Symbols, true: Model, wrong: Shaped[np.ndarray, "unknown"]) -> Any:  # noqa: ARG002
        return (inner(s.error_rate, s.error_rate) + quadratic(self._gains[0], s.error)) * 0.5

    @cached_property
    def _gains(self) -> tuple[OfJoints, OfJoints]:
        n = len(self.robot.actuated)
        return (
            matrix("stiffness", self.stiffness, n, per="actuated coordinate"),
            matrix("damping", self.damping, n, per="actuated coordinate"),
        )
