"""Leakage, or the sigma modification, of Ioannou and Kokotovic: an estimate that nothing drives returns to a prior.

Identity      d estimate/dt = inner rate - leak (estimate - prior)
Reference     P. A. Ioannou and P. V. Kokotovic, Instability Analysis and Improvement of Robustness of Adaptive Control,
              Automatica 20(5), 1984; P. A. Ioannou and J. Sun, Robust Adaptive Control, 1996, ch. 8
Accepts       every inner adaptation
Notation      code      paper   meaning                                                          shape
              leak      sigma   in 1/s: an estimate returns to the prior within some 1 / leak s
              towards   theta0  the prior; the description's values where None is given          unknown
Differs from  the paper in: a prior that is not zero; sigma is not multiplied with Gamma, so that it is the same rate
              for every parameter, whatever its unit. (Factors of the adaptation multiply all, sigma too.)

The proof. With the metric Gamma^-1 of a gradient, dV/dt has one more term,

    -sigma wrongᵀ Gamma^-1 (estimate - prior) <= -sigma/2 wrongᵀ Gamma^-1 wrong + sigma/2 |truth - prior|²,

so that V stays bounded with disturbances too; the price is that it need not vanish without them, where the prior is not
the truth. Pseudo-inertias of ``Natural`` stay positive definite: they move towards another one. ``Projection`` belongs
outermost, around this one: inside it knows nothing of the leak, which may then carry a step slightly beyond the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.control.adaptation.adaptation import Seen
from ytheta.control.adaptation.wrapper import Around, numbers
from ytheta.control.gains import scalar, scaled
from ytheta.control.unknowns import Unknowns
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown, Float, PerJoint, PerUnknown


@dataclass(frozen=True, eq=False)
class Leakage(Around):
    """Bounds the estimate under disturbances, at the price of a bias towards the prior."""

    leak: float
    towards: PerUnknown | Sequence[float] | None = None

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        super().check(robot, unknowns)
        scalar("leak", self.leak)
        self._prior(unknowns)

    def rate(self, seen: Seen) -> tuple[AnyPerUnknown, AnyPerState]:
        inner, change = self.inner.rate(seen)
        return inner - scaled(seen.estimate - self._prior(seen.symbols.unknowns), self.leak), change

    def init(
        self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, estimate: Float[np.ndarray, "unknown"]
    ) -> Float[np.ndarray, "states"]:
        try:
            super().init(robot, unknowns, q, qd, self._prior(unknowns))
        except InputError as error:
            raise InputError(f"estimates leak towards a prior that cannot be one: {error}") from None
        return super().init(robot, unknowns, q, qd, estimate)

    def _prior(self, unknowns: Unknowns) -> Float[np.ndarray, "unknown"]:
        return unknowns.nominal if self.towards is None else numbers("towards", self.towards, len(unknowns.names))
