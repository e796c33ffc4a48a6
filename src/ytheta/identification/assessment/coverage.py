"""Coverage: how much of its limits the recorded motion of each joint reached."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.identification.assessment.torque_errors import MotionRange
from ytheta.robot.parts import Limits
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint


@dataclass(frozen=True, eq=False)
class MotionCoverage:
    """Recorded motion of the joints relative to their limits; the shares of joints without a limit are NaN.

    Attributes
    ----------
    motion    recorded ranges
    limits    limits of the joints
    position  recorded range of positions / range between the limits
    speed     highest recorded speed / limit
    torque    highest recorded torque / limit
    """

    motion: MotionRange
    limits: tuple[Limits, ...]
    position: PerJoint
    speed: PerJoint
    torque: PerJoint


def measure_coverage(robot: Robot, motion: MotionRange) -> MotionCoverage:
    """Return the coverage of a recorded motion."""
    limits = robot.actuated_limits
    lower, upper, speed, effort = (
        np.array([getattr(each, name) for each in limits]) for name in ("lower", "upper", "velocity", "effort")
    )
    return MotionCoverage(
        motion,
        limits,
        _divide(motion.upper - motion.lower, upper - lower),
        _divide(motion.speed, speed),
        _divide(motion.torque, effort),
    )


def _divide(values: PerJoint, limits: PerJoint) -> PerJoint:
    """Return shares of the limits; NaN if a limit is zero or infinite."""
    known = np.isfinite(limits) & (limits > 0.0)
    return np.where(known, values / np.where(known, limits, 1.0), np.nan)
