"""What adaptations share that stand around another one: its memory and its part of the proof pass through."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.control.unknowns import Unknowns
from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerUnknown, Float, PerJoint


@dataclass(frozen=True, eq=False)
class Around(Adaptation, ABC):
    """Those who implement it say what becomes of the inner rate. They are frozen dataclasses, and final."""

    inner: Adaptation

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        if not isinstance(self.inner, Adaptation):
            raise InputError(
                f"{type(self).__name__} stands around another adaptation, not {self.inner!r}; a gain alone is "
                "Gradient(gain)"
            )
        self.inner.check(robot, unknowns)

    @property
    def max_step(self) -> float:
        return self.inner.max_step

    def distance(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        return self.inner.distance(unknowns, estimate, truth)

    def states(self, robot: Robot, unknowns: Unknowns) -> int:
        return self.inner.states(robot, unknowns)

    def init(
        self, robot: Robot, unknowns: Unknowns, q: PerJoint, qd: PerJoint, estimate: Float[np.ndarray, "unknown"]
    ) -> Float[np.ndarray, "states"]:
        return self.inner.init(robot, unknowns, q, qd, estimate)


def numbers(name: str, given: Any, size: int) -> Float[np.ndarray, "unknown"]:
    """One number for all unknown, or one for each."""
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {given!r}; give one number, or {size}, one per unknown parameter") from None
    if found.shape not in ((), (size,)) or not np.isfinite(found).all():
        raise InputError(
            f"{name} has shape {found.shape}, or entries that are not finite; give one finite number, or {size}, one "
            "per unknown parameter"
        )
    return np.broadcast_to(found, size).copy()
