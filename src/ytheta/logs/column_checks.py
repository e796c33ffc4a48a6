"""Plausibility of each column of a log: range and limits, velocity against position, torque against effort limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ytheta.logs.checking.units import get_min_motion_range
from ytheta.logs.checking.velocities import MAX_RATIO_ERROR, MIN_CORRELATION, VelocityFit, compare_with_positions
from ytheta.logs.log import Log
from ytheta.logs.origin import ColumnOrigin
from ytheta.robot.parts import Limits
from ytheta.robot.robot import Robot
from ytheta.shapes import PerSample

MAX_LIMIT_RATIO = 1.05  # recorded value divided by its limit; noise and overshoot exceed limits by a little
MIN_LIMIT_EXCESS = 1e-3  # rad or m; positions beyond a limit by less are rounded


@dataclass(frozen=True)
class ColumnCheck:
    """One column of a log.

    Attributes
    ----------
    origin           where the column comes from and how it was converted
    lowest, highest  range of its values in SI units; nan if it has no finite values
    is_plausible     whether nothing speaks against the column
    remark           the reason, with numbers; empty if there is nothing to compare the column with
    """

    origin: ColumnOrigin
    lowest: float
    highest: float
    is_plausible: bool
    remark: str


def check_columns(log: Log, robot: Robot) -> tuple[ColumnCheck, ...]:
    """Check every column that a log was read from, in the order of its origin."""
    if log.origin is None:
        return ()
    with np.errstate(all="ignore"):  # the times of a log that is refused may be any numbers
        fits = compare_with_positions(log)
    limits = dict(zip(robot.actuated, robot.actuated_limits, strict=True))
    return tuple(_check_column(log, robot, column, limits, fits) for column in log.origin.columns)


def _check_column(
    log: Log, robot: Robot, origin: ColumnOrigin, limits: dict[str, Limits], fits: dict[str, VelocityFit]
) -> ColumnCheck:
    values = _get_values(log, origin)
    finite = values[np.isfinite(values)]
    if not len(finite):
        return ColumnCheck(origin, math.nan, math.nan, is_plausible=False, remark="no finite values")
    lowest, highest = float(finite.min()), float(finite.max())
    joint = origin.joint
    if origin.quantity == "t":
        plausible, remark = _judge_time(log)
    elif joint in robot.base_coordinates and origin.quantity == "q":
        plausible, remark = True, "floating base"  # it may rest, and it has no limits
    elif origin.quantity == "tau" and lowest == highest == 0.0 and joint in robot.base_coordinates:
        plausible, remark = True, "free flight"
    elif origin.quantity == "q":
        plausible, remark = _judge_position(lowest, highest, limits[joint], get_min_motion_range(robot, joint))
    elif origin.quantity == "qd":
        plausible, remark = _judge_velocity(max(-lowest, highest), limits[joint].velocity, fits.get(joint))
    else:
        plausible, remark = _judge_torque(lowest, highest, limits[joint].effort)
    return ColumnCheck(origin, lowest, highest, plausible, remark)


def _get_values(log: Log, origin: ColumnOrigin) -> PerSample:
    if origin.quantity == "t":
        return log.t
    matrix = {"q": log.q, "qd": log.qd, "tau": log.tau}[origin.quantity]
    assert matrix is not None
    return matrix[:, log.joints.index(origin.joint)]


def _judge_time(log: Log) -> tuple[bool, str]:
    rate = log.rate
    if not (math.isfinite(rate) and rate > 0.0):
        return False, "does not increase"
    return True, f"{rate:.4g} Hz"


def _judge_position(lowest: float, highest: float, limits: Limits, min_range: float) -> tuple[bool, str]:
    excess = max(highest - limits.upper, limits.lower - lowest)
    if excess > MIN_LIMIT_EXCESS:
        return False, f"beyond the limits {limits.lower:.4g} … {limits.upper:.4g}"
    if highest - lowest < min_range:
        return False, "hardly moves"
    width = limits.upper - limits.lower
    if not 0.0 < width < math.inf:
        return True, "no limits known"
    return True, f"{100 * (highest - lowest) / width:.2g} % of its range"


def _judge_velocity(highest: float, limit: float, fit: VelocityFit | None) -> tuple[bool, str]:
    if highest > MAX_LIMIT_RATIO * limit:
        return False, f"above the limit of {limit:.4g}"
    if fit is None:
        return True, "the joint hardly moves"
    if not math.isfinite(fit.ratio):
        return False, "cannot be compared with the position"
    if fit.correlation < MIN_CORRELATION:
        return False, f"does not follow the position (correlation {fit.correlation:.2f})"
    remark = f"{fit.ratio:.3f} × position, differentiated"
    return abs(fit.ratio - 1.0) <= MAX_RATIO_ERROR, remark


def _judge_torque(lowest: float, highest: float, limit: float) -> tuple[bool, str]:
    if lowest == highest:
        return False, "never changes"
    if not 0.0 < limit < math.inf:
        return True, "no limit known"
    share = max(-lowest, highest) / limit
    return share <= MAX_LIMIT_RATIO, f"{100 * share:.3g} % of the limit {limit:.4g}"
