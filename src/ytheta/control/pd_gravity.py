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

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ytheta.control.gains import Gain, OfJoints, matrix, quadratic, times
from ytheta.control.law import Law, nothing_learnt
from ytheta.control.learnt import Learnt
from ytheta.control.model import Model
from ytheta.control.symbols import Actuated, Symbols
from ytheta.formulation.vectors import zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import Shaped


@dataclass(frozen=True, eq=False)
class PDGravity(Law):
    """Springs and dampers at the joints, and the description's weight."""

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
        return "pd_gravity"

    @cached_property
    def learnt(self) -> Learnt:
        return nothing_learnt(self.robot)

    def written(self, s: Symbols) -> tuple[Actuated, Shaped[np.ndarray, "unknown"]]:
        K_p, K_d = self._gains
        return s.model.held - times(K_p, s.error) - times(K_d, s.error_rate), zeros(0)

    def proof(self, s: Symbols, true: Model, wrong: Shaped[np.ndarray, "unknown"]) -> Any:  # noqa: ARG002
        return (quadratic(true.mass_matrix, s.error_rate) + quadratic(self._gains[0], s.error)) * 0.5

    @cached_property
    def _gains(self) -> tuple[OfJoints, OfJoints]:
        n = len(self.robot.actuated)
        return (
            matrix("stiffness", self.stiffness, n, per="actuated coordinate"),
            matrix("damping", self.damping, n, per="actuated coordinate"),
        )
