"""Leakage, or sigma modification, of Ioannou and Kokotovic: the estimate decays towards a prior.

Identity      d estimate/dt = inner rate - leak (estimate - prior)
Reference     P. A. Ioannou and P. V. Kokotovic, Instability Analysis and Improvement of Robustness of Adaptive Control,
              Automatica 20(5), 1984; P. A. Ioannou and J. Sun, Robust Adaptive Control, 1996, ch. 8
Accepts       every inner adaptation law
Notation      code      paper   meaning                                                          shape
              leak      sigma   rate of decay in 1/s; the time constant is 1 / leak
              towards   theta0  the prior; None for the values of the robot description          unknown
Differs from  the paper in: the prior is not zero; sigma is not multiplied by Gamma, so that every estimate decays at
              the same rate, whatever its unit. Factors of the adaptation gain multiply sigma too.

Proof. With the metric Gamma^-1 of gradient adaptation, dV/dt has one more term,

    -sigma theta_tildeᵀ Gamma^-1 (estimate - prior) <= -sigma/2 theta_tildeᵀ Gamma^-1 theta_tilde
                                                       + sigma/2 (truth - prior)ᵀ Gamma^-1 (truth - prior),

so V stays bounded under disturbances. The cost is a bias: without disturbances, V vanishes only if the prior is the
truth. Pseudo-inertias of ``Natural`` stay positive definite, because the leak moves them towards the pseudo-inertias of
the prior, which are positive definite too. ``Projection`` should be the outermost wrapper: a projection inside a
leakage does not limit the leak, and the leak may then move the estimate slightly past the bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ytheta.control.adaptation.adaptation import AdaptationInputs
from ytheta.control.adaptation.wrapper import AdaptationWrapper, broadcast_to_unknowns
from ytheta.control.gains import scale_by, to_number
from ytheta.control.unknowns import Unknowns
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerState, AnyPerUnknown, PerJoint, PerState, PerUnknown


@dataclass(frozen=True, eq=False, repr=False)
class Leakage(AdaptationWrapper):
    """Bounds the estimate under disturbances, at the cost of a bias towards the prior.

    Attributes
    ----------
    inner    the adaptation law to which the leakage is added
    leak     rate in 1/s at which estimates return to the prior
    towards  the prior; None for the values of the description
    """

    leak: float
    towards: PerUnknown | Sequence[float] | None = None

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        super().check(robot, unknowns)
        to_number("leak", self.leak)
        self._get_prior(unknowns)

    def rate(self, inputs: AdaptationInputs) -> tuple[AnyPerUnknown, AnyPerState]:
        rate, state_rate = self.inner.rate(inputs)
        return rate - scale_by(inputs.estimate - self._get_prior(inputs.unknowns), self.leak), state_rate

    def init(self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, estimate: PerUnknown) -> PerState:
        try:
            super().init(robot, unknowns, q, qd, self._get_prior(unknowns))
        except InputError as error:
            raise InputError(f"the prior of the leakage is not a valid estimate: {error}") from None
        return super().init(robot, unknowns, q, qd, estimate)

    def _get_prior(self, unknowns: Unknowns) -> PerUnknown:
        return unknowns.nominal if self.towards is None else broadcast_to_unknowns("towards", self.towards, unknowns)
