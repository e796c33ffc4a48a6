"""Codes of the findings about a fit, for programs and for ``--json``."""

from __future__ import annotations

from enum import StrEnum


class FitFindingCode(StrEnum):
    """The kind of a finding about a fit."""

    ESTIMATOR = "estimator"  # no convergence, or the equations of a single joint do not have full rank
    DEVIATIONS = "standard deviations"  # the equations are correlated, so that standard deviations are approximate
    FRICTION = "friction"  # what the motion does not show of it, and what was assumed instead
    REST = "rest"  # joints rest or stick, and their equations are left out meanwhile
    TORQUE_SIGN = "torque sign"  # torques of the log have the wrong sign
    COPIED_TORQUE = "copied torque"  # a torque of the log is a position, velocity or acceleration
    EXTERNAL_TORQUE = "external torque"  # torques of the log are what a controller's model does not explain
    TORQUE_SCALE = "torque scale"  # torques of the log are in another unit, or gains are missing
    POSITION_SIGN = "position sign"  # positions of a joint have the wrong sign
    POSITION_OFFSET = "position offset"  # the zero position of a joint is another one than in the description
    POSITION_SCALE = "position scale"  # positions of prismatic joints are in another unit
    ORIENTATION = "orientation"  # the quaternion of a floating base has another order, or is inverted
    JOINT_ORDER = "joint order"  # columns of joints are exchanged
    TIME_SCALE = "time scale"  # the rate or the unit of time is wrong
    DELAY = "delay"  # torques and positions were not recorded at the same time
    TORQUE_DELAY = "torque delay"  # torques are a little early or late, and were moved
    LENGTHS = "lengths"  # lengths of the description are in another unit
    GEOMETRY = "geometry"  # lengths are unknown, so that parameters of a regrouped Lagrangian were identified
    NEGATIVE = "negative"  # a sum of masses or moments of inertia is negative, or friction drives
    GRAVITY = "gravity"  # the log contradicts the described gravity
    PRIOR = "prior"  # it says nothing about the links, or it was identified from the same log
    CONSISTENCY = "consistency"  # physically consistent bodies fit the log clearly worse than the estimate
    OTHER_ROBOT = "other robot"  # the log contradicts the described links as that of another robot would
    MASS = "mass"  # the bodies weigh much more or less than the description


# Findings after which the model describes a robot other than the one that moved.
CONTRADICTIONS = (
    FitFindingCode.TORQUE_SIGN,
    FitFindingCode.COPIED_TORQUE,
    FitFindingCode.EXTERNAL_TORQUE,
    FitFindingCode.TORQUE_SCALE,
    FitFindingCode.POSITION_SIGN,
    FitFindingCode.POSITION_OFFSET,
    FitFindingCode.POSITION_SCALE,
    FitFindingCode.ORIENTATION,
    FitFindingCode.JOINT_ORDER,
    FitFindingCode.TIME_SCALE,
    FitFindingCode.DELAY,
    FitFindingCode.NEGATIVE,
    FitFindingCode.LENGTHS,
    FitFindingCode.GRAVITY,
    FitFindingCode.OTHER_ROBOT,
)
