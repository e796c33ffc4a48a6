"""Torques that are known already: what parameters that nobody asked about contribute with the description's values.

Identity      tau - Y_k theta_k = Y_u theta_u
Reference     [lu1993] (15)-(18): known and unknown parameters

A cable force that was measured apart, friction from a data sheet: whatever is left out of the question stays in the
model with the value the description gives, and is taken off the torque before anything is learnt from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.identify.rows import PerJoint
from ytheta.identify.source import Source
from ytheta.kernels import AnyKernel, inverse_dynamics
from ytheta.minimal.base_parameters import BaseParameters
from ytheta.robot.parameters import with_theta
from ytheta.robot.robot import Robot
from ytheta.shapes import Float
from ytheta.signal.motion import Motion


@dataclass(frozen=True, eq=False)
class Known:
    """The part of a robot's torque that is not asked about."""

    base: BaseParameters

    @cached_property
    def theta(self) -> Float[np.ndarray, "params"]:
        """The description's values; zero where asked."""
        asked = set(self.base.asked)
        robot = self.base.robot
        return np.where([name in asked for name in robot.parameter_names], 0.0, robot.theta)

    def __bool__(self) -> bool:
        return bool(self.theta.any())

    @cached_property
    def robot(self) -> Robot:
        return with_theta(self.base.robot, self.theta)

    @cached_property
    def kernel(self) -> AnyKernel:
        return inverse_dynamics(self.robot)

    def torque(self, motion: Motion) -> PerJoint:
        """What the known parameters contribute, one row per joint."""
        return np.ascontiguousarray(self.kernel(motion.q, motion.qd, motion.qdd, threads=1).T)


@dataclass(frozen=True, eq=False)
class Remaining:
    """A source whose torque is what the known parameters leave."""

    source: Source
    known: Known

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

    def motion(self, segment: int, first: int, last: int) -> Motion:
        motion = self.source.motion(segment, first, last)
        if motion.tau is None:
            return motion
        return replace(motion, tau=motion.tau - self.known.torque(motion).T)


def remaining(sources: tuple[Source, ...], known: Known) -> tuple[Source, ...]:
    """The sources, known torques taken off; themselves where nothing is known."""
    return tuple(Remaining(source, known) for source in sources) if known else sources
