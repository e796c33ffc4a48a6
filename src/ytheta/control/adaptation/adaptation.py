"""What an adaptation is: how an estimate moves, given the slope that a control law hands it.

A law's proof needs an estimate whose part of the Lyapunov function takes away wrongᵀ Y_uᵀ r, where r is the error the
law works on and slope = Y_uᵀ r. The gradient does so in a constant metric; others do in a metric of their own, or give
a part of the proof up for something else, and say so.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from ytheta.control.symbols import Symbols
from ytheta.control.unknowns import Unknowns
from ytheta.dynamics.vectors import zeros
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerActuated, AnyPerState, AnyPerUnknown, Float, PerJoint


@dataclass(frozen=True, eq=False)
class Seen:
    """What an adaptation sees, in symbols: motion and estimate (``symbols``), and what the law made of them."""

    symbols: Symbols
    error: AnyPerActuated
    slope: AnyPerUnknown
    tau: AnyPerActuated  # within its limits

    @property
    def estimate(self) -> AnyPerUnknown:
        return self.symbols.estimate

    @property
    def memory(self) -> AnyPerState:
        """What the adaptation remembers beside the estimate."""
        return self.symbols.memory


class Adaptation(ABC):
    """Those who implement it are frozen dataclasses, and final."""

    @abstractmethod
    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        """Refuse settings that do not fit what is learnt."""

    @abstractmethod
    def rate(self, seen: Seen) -> tuple[AnyPerUnknown, AnyPerState]:
        """d estimate/dt and d memory/dt."""

    @abstractmethod
    def distance(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:
        """The estimate's part of the Lyapunov function."""

    @property
    def max_step(self) -> float:
        """Steps of the controller up to which what this promises holds, in s; most promise nothing of the kind."""
        return math.inf

    def states(self, robot: Robot, unknowns: Unknowns) -> int:  # noqa: ARG002
        """How many numbers are remembered beside the estimate."""
        return 0

    def init(
        self,
        robot: Robot,  # noqa: ARG002
        unknowns: Unknowns,  # noqa: ARG002
        q: PerJoint,  # noqa: ARG002
        qd: PerJoint,  # noqa: ARG002
        estimate: Float[np.ndarray, "unknown"],  # noqa: ARG002
    ) -> Float[np.ndarray, "states"]:
        """What is remembered at the start; an estimate that the adaptation cannot start from is refused."""
        return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Nothing(Adaptation):
    """Of laws that know everything."""

    def check(self, robot: Robot, unknowns: Unknowns) -> None:
        pass

    def rate(self, seen: Seen) -> tuple[AnyPerUnknown, AnyPerState]:  # noqa: ARG002
        return zeros(0), zeros(0)

    def distance(self, unknowns: Unknowns, estimate: AnyPerUnknown, truth: AnyPerUnknown) -> Any:  # noqa: ARG002
        return 0.0
