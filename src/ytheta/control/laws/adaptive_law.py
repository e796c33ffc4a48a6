"""The base of adaptive laws, the control laws with unknown parameters."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.control.adaptation.gradient import Gradient
from ytheta.control.gains import Gain
from ytheta.control.laws.law import Law
from ytheta.control.unknowns import Unknowns, select_unknowns
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.robot import Robot


@dataclass(frozen=True, eq=False, repr=False)
class AdaptiveLaw(Law, ABC):
    """A control law that adapts unknown parameters.

    Attributes
    ----------
    robot          the robot description; known parameters have the values of this description
    base           the base parameters; None to adapt standard parameters
    adaptation     the gain of gradient adaptation, or an adaptation law
    learn          the unknown parameters, by names or patterns; None selects the base parameters, or all parameters of
                   the links if ``base`` is None
    torque_limits  limits of the torques, one number or one per joint; None for no limits
    """

    base: BaseParameters | None = None
    _: KW_ONLY
    adaptation: Gain | Adaptation
    learn: Sequence[str] | None = None

    @classmethod
    def select_unknowns(cls, robot: Robot, base: BaseParameters | None, learn: Sequence[str] | None) -> Unknowns:
        """Return the unknown parameters of this law for the settings ``base`` and ``learn``."""
        return select_unknowns(robot, base, learn)

    @cached_property
    def unknowns(self) -> Unknowns:
        return self.select_unknowns(self.robot, self.base, self.learn)

    @cached_property
    def adaptation_law(self) -> Adaptation:
        return self.adaptation if isinstance(self.adaptation, Adaptation) else Gradient(self.adaptation)
