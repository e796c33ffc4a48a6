"""What laws that learn share: which parameters, and how."""

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


@dataclass(frozen=True, eq=False)
class AdaptiveLaw(Law, ABC):
    """A law that learns: ``learn`` are names or patterns, the base parameters or all of the links' where None is given.

    ``adaptation`` is a gain of the gradient, or an adaptation of another kind.
    """

    base: BaseParameters | None = None
    _: KW_ONLY
    adaptation: Gain | Adaptation
    learn: Sequence[str] | None = None

    @cached_property
    def unknowns(self) -> Unknowns:
        return select_unknowns(self.robot, self.base, self.learn)

    @cached_property
    def adaptation_law(self) -> Adaptation:
        return self.adaptation if isinstance(self.adaptation, Adaptation) else Gradient(self.adaptation)
