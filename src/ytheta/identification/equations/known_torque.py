"""Torques that are known already: what parameters that nobody asked about contribute with the description's values.

Identity      tau - Y_k theta_k = Y_u theta_u
Reference     [lu1993] (15)-(18): known and unknown parameters

A cable force that was measured apart, friction from a data sheet: whatever is left out of the question stays in the
model with the value the description gives, and is taken off the torque before anything is learnt from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.motion_sources import Source
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.robot import Robot
from ytheta.shapes import JointsBySample


@dataclass(frozen=True, eq=False)
class KnownTorque:
    """The part of a robot's torque that is not asked about."""

    base: BaseParameters

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Parameters that are not asked about and have a value."""
        robot, asked = self.base.robot, set(self.base.selected)
        values = zip(robot.parameter_names, robot.theta, strict=True)
        return tuple(name for name, value in values if value and name not in asked)

    def __bool__(self) -> bool:
        return bool(self.names)

    def torque(self, motion: MotionSamples) -> JointsBySample:
        """What the known parameters contribute, one row per joint; their friction passes the low-pass too."""
        return self._form.torque(motion, self._form.base.beta)

    @cached_property
    def _form(self) -> Differential:
        return Differential(each_alone(self.base.robot, self.names))


def each_alone(robot: Robot, names: Sequence[str]) -> BaseParameters:
    """Standard parameters as they are, without asking for a rank: beta holds their values."""
    K = np.eye(len(robot.parameter_names))
    chosen = [robot.parameter_names.index(name) for name in names]
    return BaseParameters(robot, "none", tuple(names), K[chosen], asked=tuple(names))


@dataclass(frozen=True, eq=False)
class ResidualSource:
    """A source whose torque is what the known parameters leave."""

    source: Source
    known: KnownTorque

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def rate(self) -> float:
        return self.source.rate

    @property
    def lengths(self) -> tuple[int, ...]:
        return self.source.lengths

    @property
    def has_torque(self) -> bool:
        return self.source.has_torque

    def motion(self, segment: int, first: int, last: int) -> MotionSamples:
        motion = self.source.motion(segment, first, last)
        if motion.tau is None:
            return motion
        return replace(motion, tau=motion.tau - self.known.torque(motion).T)


def remaining(sources: tuple[Source, ...], known: KnownTorque) -> tuple[Source, ...]:
    """The sources, known torques taken off; themselves where nothing is known."""
    return tuple(ResidualSource(source, known) for source in sources) if known else sources
