"""Detecting wrong units in a log, and angles that wrap. Findings contain the line of a mapping that corrects the unit.

Time        The crossing time is the time in which a joint at its top speed crosses its range of motion; in logs of six
            robots it is 0.2 to 9 s. If the sampling rate is below 20 Hz and the crossing time above 100 s, time is not
            in seconds; the unit is chosen such that the crossing time is about 3 s.
Positions   Angles that are far too large for radians are assumed to be in degrees if that makes them plausible;
            otherwise they are probably encoder counts. Angles that were declared to be in degrees, although all numbers
            are those of radians, move the robot by a few degrees only; a log of so little motion is of no use even if
            it is correct. Prismatic joints far beyond their limits are assumed to be in millimetres if that is within.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log, LogFindingCode
from ytheta.robot.parts import Limits
from ytheta.robot.robot import Robot
from ytheta.shapes import PerSample

DEGREE = math.pi / 180  # rad. Fixed by: mathematics.
TIME_UNITS = {1e3: ("milliseconds", "ms"), 1e6: ("microseconds", "us"), 1e9: ("nanoseconds", "ns")}  # per second
# Range in rad (2 degrees) and in m below which a joint hardly moves. Chosen on: rule of thumb.
MIN_ANGLE_RANGE, MIN_LENGTH_RANGE = 0.035, 0.005
# Sampling rate in Hz from which time is assumed to be in seconds. Chosen on: rule of thumb.
MIN_RECORDING_RATE = 20.0
# Crossing time in s to which the unit of time is fitted, and the one above which time is not in seconds. Chosen on:
# recorded logs of six robots, with 0.2 to 9 s.
TYPICAL_CROSSING_TIME, MAX_CROSSING_TIME = 3.0, 100.0
# Largest number of rows from which speeds are computed; they are far apart, so that noise hardly matters. Chosen on:
# rule of thumb.
MAX_POINTS = 2000
# Range in rad of a joint below which its unit cannot be determined. Chosen on: rule of thumb.
MIN_JUDGED_RANGE = 0.1
# Range in rad above which the positions of a joint without limits are not in radians. Chosen on: reasoning; joints of
# arms turn by at most two turns.
MAX_ANGLE_RANGE = 4.0 * math.pi
# Excess of positions beyond a joint's limits, divided by the range between the limits, above which the unit is wrong.
# Chosen on: rule of thumb.
MAX_EXCESS_RATIO = 0.5
# Range of motion, taken as degrees, divided by the expected range; if it is higher, the unit is not degrees either.
# Chosen on: rule of thumb.
MAX_DEGREES_RATIO = 2.0
MAX_LISTED_JOINTS = 3  # affects only the length of a message


def check_time_unit(log: Log, robot: Robot) -> list[Finding]:
    """Report that time is not in seconds if the rate is low and the motion is too slow for an arm."""
    rate, crossing = log.rate, _compute_crossing_time(log, robot)
    if rate >= MIN_RECORDING_RATE or crossing <= MAX_CROSSING_TIME:
        return []
    power = min(max(round(math.log10(crossing / TYPICAL_CROSSING_TIME) / 3.0), 1), len(TIME_UNITS))
    unit, word = TIME_UNITS[10.0 ** (3 * power)]
    is_count = bool(np.all(np.diff(log.t) == 1.0))
    doubt = "; if it counts samples, give the sampling rate instead: --rate, or rate = … in a mapping"
    finding = Finding(
        LogFindingCode.UNITS,
        Severity.ERROR,
        f"time seems to be in {unit}: in seconds, the log would last {_format_duration(log.seconds)} at {rate:.3g} Hz, "
        f"and a joint at its top speed would take {_format_duration(crossing)} to cross its range",
        remedy=f'write [scale] t = "{word}" in a mapping, or t = "s" if time really is in seconds'
        + (doubt if is_count else ""),
        fields={"quantity": "t", "unit": word, "rate": rate, "crossing_time": crossing},
    )
    return [finding]


def check_declared_degrees(log: Log, robot: Robot) -> list[Finding]:
    """Report positions that were declared to be in degrees, but are plausible only in radians."""
    factors = {c.joint: c.factor for c in log.origin.columns if c.quantity == "q"} if log.origin else {}
    widest, angles = 0.0, {}
    for k, (joint, limits) in enumerate(zip(log.joints, robot.actuated_limits, strict=True)):
        if joint in robot.prismatic_joints or not math.isclose(factors.get(joint, 1.0), DEGREE, rel_tol=1e-9):
            continue
        low, high = (float(bound) / DEGREE for bound in (log.q[:, k].min(), log.q[:, k].max()))
        if max(high - limits.upper, limits.lower - low) > 0.0 or max(abs(low), abs(high)) > 2.0 * math.pi:
            return []  # these numbers are not radians
        widest = max(widest, high - low)
        angles[joint] = f"{joint} {low:.4g} to {high:.4g}"
    if widest < MIN_JUDGED_RANGE:
        return []
    finding = Finding(
        LogFindingCode.UNITS,
        Severity.WARNING,
        f"positions were declared to be in degrees, but all of them could be radians "
        f"({', '.join(list(angles.values())[:MAX_LISTED_JOINTS])}); in degrees, no joint moves more than {widest:.3g}°",
        remedy="read them without --degrees, or without [scale] q in a mapping, if they are in radians",
        names=tuple(angles),
        fields={"quantity": "q", "unit": "radians"},
    )
    return [finding]


def check_lengths(log: Log, robot: Robot, *, unit_known: bool) -> list[Finding]:
    """Report prismatic joints that are far beyond their limits in metres, and within them in millimetres.

    If the unit was declared, that is a warning.
    """
    factors = {c.joint: c.factor for c in log.origin.columns if c.quantity == "q"} if log.origin else {}
    too_long: dict[str, str] = {}
    for k, (joint, limits) in enumerate(zip(log.joints, robot.actuated_limits, strict=True)):
        width = limits.upper - limits.lower
        if joint not in robot.prismatic_joints or factors.get(joint, 1.0) != 1.0 or not 0.0 < width < math.inf:
            continue
        low, high = float(log.q[:, k].min()), float(log.q[:, k].max())
        slack = MAX_EXCESS_RATIO * width
        is_within = limits.lower - slack <= 1e-3 * low and 1e-3 * high <= limits.upper + slack
        if is_within and max(high - limits.upper, limits.lower - low) > slack:
            too_long[joint] = f"{joint} {low:.4g} to {high:.4g}, limits {limits.lower:.4g} to {limits.upper:.4g} m"
    if not too_long:
        return []
    units = [f'"{"mm" if each in too_long else "metres" if each in robot.prismatic_joints else "radians"}"'
             for each in robot.actuated]  # fmt: skip
    entry = units[0] if len(set(units)) == 1 else f"[{', '.join(units)}]"
    finding = Finding(
        LogFindingCode.UNITS,
        Severity.WARNING if unit_known else Severity.ERROR,
        f"positions of prismatic joints seem to be in millimetres ({'; '.join(too_long.values())})",
        remedy=f'write [scale] q = {entry} in a mapping, or "metres" if they really are in metres',
        names=tuple(too_long),
        fields={"quantity": "q", "unit": "mm"},
    )
    return [finding]


def check_position_units(log: Log, robot: Robot) -> list[Finding]:
    """Report positions that are too large for radians in at least half of the revolute joints that move."""
    too_large: dict[str, str] = {}
    judged: list[str] = []
    worst = 0.0
    for k, (joint, limits) in enumerate(zip(log.joints, robot.actuated_limits, strict=True)):
        low, high = float(log.q[:, k].min()), float(log.q[:, k].max())
        if joint in robot.prismatic_joints or high - low < MIN_JUDGED_RANGE:
            continue
        judged.append(joint)
        if _exceeds_radians(low, high, limits):
            too_large[joint] = f"{joint} {low:.4g} to {high:.4g}"
            worst = max(worst, math.radians(high - low) / _compute_expected_range(limits))
    if not too_large or 2 * len(too_large) < len(judged):
        return []
    shown = ", ".join(list(too_large.values())[:MAX_LISTED_JOINTS])
    if worst > MAX_DEGREES_RATIO:
        unit, statement = "", f"positions are too large for a joint, whether in radians or in degrees ({shown})"
        remedy = (
            "if they are encoder counts or motor positions, write [scale] q = … or [motor] matrix = … in a mapping; "
            'write [scale] q = "radians" if they really are in radians'
        )
    else:
        unit, statement = "degrees", f"positions seem to be in degrees, or to be motor positions ({shown})"
        entry = format_units(robot, too_large, in_radians=[joint for joint in judged if joint not in too_large])
        remedy = f'use --degrees, or write [scale] q = {entry} in a mapping, or "radians" if they really are in radians'
    fields = {"quantity": "q", "unit": unit}
    return [Finding(LogFindingCode.UNITS, Severity.ERROR, statement, remedy, names=tuple(too_large), fields=fields)]


def format_units(robot: Robot, in_degrees: Collection[str], *, in_radians: Collection[str]) -> str:
    """Return the value for [scale] in a mapping if the positions of the joints ``in_degrees`` are in degrees.

    Revolute joints of unknown unit are assumed to be in degrees, unless another joint is known to be in radians.
    """

    def get_unit(joint: str) -> str:
        if joint in robot.prismatic_joints:
            return "metres"
        return "degrees" if joint in in_degrees or not in_radians else "radians"

    units = [f'"{get_unit(joint)}"' for joint in robot.actuated]
    return units[0] if len(set(units)) == 1 else f"[{', '.join(units)}]"


def get_min_motion_range(robot: Robot, joint: str) -> float:
    """Return the minimum range of motion of a joint in rad or m; with a smaller range, the joint is at rest."""
    return MIN_LENGTH_RANGE if joint in robot.prismatic_joints else MIN_ANGLE_RANGE


def _compute_crossing_time(log: Log, robot: Robot) -> float:
    """Return the crossing time in s (see module docstring): the median of the moving joints; 0 if no joint moves."""
    chosen = np.arange(0, len(log), 1 + len(log) // MAX_POINTS)
    segments = np.searchsorted([start for start, _ in log.segments], chosen, side="right")
    is_motion = np.diff(segments) == 0  # between segments, positions jump
    steps = np.diff(log.t[chosen])[is_motion]
    times = []
    for k, joint in enumerate(log.joints):
        q = log.q[chosen, k]
        if len(steps) and np.ptp(q) > get_min_motion_range(robot, joint):
            with np.errstate(over="ignore"):  # a speed that is not finite is crossed in no time
                top_speed = float(np.max(np.abs(np.diff(q)[is_motion]) / steps))
            times += [float(np.ptp(q)) / top_speed] if top_speed else []
    return float(np.median(times)) if times else 0.0


def _format_duration(seconds: float) -> str:
    for size, unit in ((31_557_600.0, "years"), (86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _exceeds_radians(low: float, high: float, limits: Limits) -> bool:
    """Whether the positions are too large for radians."""
    width = limits.upper - limits.lower
    if not math.isfinite(width) or width > MAX_ANGLE_RANGE:
        return high - low > MAX_ANGLE_RANGE
    return max(high - limits.upper, limits.lower - low) > MAX_EXCESS_RATIO * width


def _compute_expected_range(limits: Limits) -> float:
    """Return the maximum range of motion, in radians, that is expected of a joint."""
    width = limits.upper - limits.lower
    return width if 0.0 < width <= MAX_ANGLE_RANGE else MAX_ANGLE_RANGE


# Positions that jump by a full turn, because angles were recorded between -180° and 180° or between 0° and 360°.
#
# No joint turns by a full turn from one row to the next. Such a jump is a wrap if the rest of the step is as small as
# the other steps. All rows after it are moved by a full turn; in the end, all rows by as many as the joint's limits
# need.

TURN = 2.0 * math.pi  # rad. Fixed by: mathematics.
# Rest in rad of a step that is a wrap, beside the full turn. Chosen on: rule of thumb.
MAX_REST = 0.5
# The same rest divided by the 99 % quantile of the other steps, or in rad if that is more. Chosen on: rule of thumb.
MAX_REST_RATIO, MIN_REST = 5.0, 0.01


def unwrap_positions(log: Log, robot: Robot) -> Log:
    """Return the log without wraps in the positions of revolute joints, and a finding about those that had some."""
    unwrapped: dict[str, int] = {}
    q = log.q
    starts = [start for start, _ in log.segments[1:]]
    for k, (joint, limits) in enumerate(zip(log.joints, robot.actuated_limits, strict=True)):
        if joint in robot.prismatic_joints:
            continue
        turns = _count_turns(log.q[:, k], starts)
        if not turns.any():
            continue
        if q is log.q:
            q = log.q.copy()
        q[:, k] -= TURN * turns
        q[:, k] += TURN * _choose_shift(q[:, k], limits)
        unwrapped[joint] = int(np.count_nonzero(np.diff(turns)))
    if not unwrapped:
        return log
    shown = ", ".join(f"{joint} {count} {'time' if count == 1 else 'times'}" for joint, count in unwrapped.items())
    finding = Finding(
        LogFindingCode.WRAPPED,
        Severity.REPAIRED,
        f"positions jump by a full turn ({shown})",
        remedy="they were made continuous",
        names=tuple(unwrapped),
        fields={"wraps": unwrapped},
    )
    return replace(log, q=q, findings=(*log.findings, finding))


def _count_turns(q: PerSample, starts: list[int]) -> PerSample:
    """Return the number of full turns by which each row has wrapped since the first; ``starts`` are those of segments.

    At the start of a segment, any step is possible, but a full turn is a wrap there too.
    """
    steps = np.diff(q)
    large = np.abs(steps) > TURN - MAX_REST
    if not large.any():
        return np.zeros(len(q))
    typical = float(np.quantile(np.abs(steps[~large]), 0.99)) if not large.all() else 0.0
    wraps = np.where(large, np.round(steps / TURN), 0.0)
    rest = np.abs(steps - TURN * wraps)
    max_rest = np.full(len(steps), min(MAX_REST, max(MIN_REST, MAX_REST_RATIO * typical)))
    max_rest[[start - 1 for start in starts]] = MAX_REST
    if np.any(large & ((rest > max_rest) | (np.abs(wraps) > 1.0))):
        return np.zeros(len(q))  # some of these jumps are no wraps, so none is certain
    return np.concatenate(([0.0], np.cumsum(wraps)))


def _choose_shift(q: PerSample, limits: Limits) -> float:
    """Return the number of full turns that brings positions nearest to the middle of finite limits."""
    if not math.isfinite(limits.upper - limits.lower):
        return 0.0
    middle = 0.5 * float(q.min() + q.max())
    return float(round((0.5 * (limits.lower + limits.upper) - middle) / TURN))
