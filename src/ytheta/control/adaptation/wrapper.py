"""The base of adaptation laws that wrap another one and modify its rate."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any

from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.control.gains import PER_UNKNOWN, Gain, to_vector
from ytheta.control.unknowns import Unknowns
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerUnknown, PerJoint, PerState, PerUnknown


@dataclass(frozen=True, eq=False, repr=False)
class AdaptationWrapper(Adaptation, ABC):
    """An adaptation law with the states and the Lyapunov term of its inner law; only the rate is different."""

    inner: Adaptation

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        if not isinstance(self.inner, Adaptation):
            raise InputError(
                f"{type(self).__name__} wraps another adaptation law, not {self.inner!r}; give a gain as Gradient(gain)"
            )
        self.inner.check(robot, unknowns)

    @property
    def main_gain(self) -> Gain:
        return self.inner.main_gain

    @property
    def max_step(self) -> float:
        return self.inner.max_step

    @property
    def resets(self) -> bool:
        return self.inner.resets

    def reset(self, unknowns: Unknowns, estimate: AnyPerUnknown) -> AnyPerUnknown:
        return self.inner.reset(unknowns, estimate)

    def lyapunov_term(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        return self.inner.lyapunov_term(unknowns, estimate, truth)

    def state_size(self, robot: Robot, unknowns: Unknowns) -> int:
        return self.inner.state_size(robot, unknowns)

    def choose_start(self, robot: Robot, unknowns: Unknowns) -> PerUnknown:
        return self.inner.choose_start(robot, unknowns)

    def init(self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, estimate: PerUnknown) -> PerState:
        return self.inner.init(robot, unknowns, q, qd, estimate)


def broadcast_to_unknowns(name: str, setting: Any, unknowns: Unknowns) -> PerUnknown:
    """Return one number for each unknown parameter. ``setting`` is one number for all of them, or one for each."""
    return to_vector(name, setting, len(unknowns.names), per=PER_UNKNOWN, allow_number=True)
