"""Checking a log: faults are reported with figures, and repaired if the repair is safe.

Rows without a measurement are dropped first, then rows with wrong timestamps and held rows. Angles that wrap are made
continuous, and spikes are dropped. The remaining log is checked as a whole. Nothing is sorted, filtered or resampled.
The checks use the types and limits of the robot's joints, but not its dynamics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.checking.clock import find_clock_faults
from ytheta.logs.checking.rows import find_bad_rows, find_held_rows, find_spikes
from ytheta.logs.checking.units import (
    check_declared_degrees,
    check_lengths,
    check_position_units,
    check_time_unit,
    get_min_motion_range,
    unwrap_positions,
)
from ytheta.logs.checking.velocities import check_velocities
from ytheta.logs.log import (
    Log,
    LogFindingCode,
    RowEdits,
    apply_edits,
    check_is_log,
    compute_highest_speeds,
)
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float, Int, PerSample, RowIndices, SamplesByJoint

ROW_CHECKS = (find_bad_rows, find_clock_faults, find_held_rows)  # before positions are made continuous


def check_log(
    log: Log, robot: Robot, *, strict: bool = False, position_unit_known: bool = False, time_unit_known: bool = False
) -> Log:
    """Return the log after all safe repairs; its ``findings`` list the faults and repairs.

    A log that would give wrong results (a finding of severity ERROR) is refused; ``strict`` refuses a log with any
    finding more serious than a note. ``position_unit_known`` and ``time_unit_known`` mean that the user has stated the
    unit, which is then not checked.
    """
    check_joints(log, robot)
    if not len(log):
        raise InputError(f"{log.source or 'the log'} contains no rows; record the motion again, or choose another file")
    for find_faults in ROW_CHECKS:
        log = apply_edits(log, find_faults(log))
        refuse_findings(log, frozenset({Severity.ERROR}))
    log = unwrap_positions(log, robot)
    log = apply_edits(log, find_spikes(log))
    findings = check_length(log)
    if not any(finding.severity is Severity.ERROR for finding in findings):
        findings += _check_whole(log, robot, position_unit_known=position_unit_known, time_unit_known=time_unit_known)
    log = apply_edits(log, RowEdits(tuple(findings)))
    refuse_findings(log, frozenset(Severity) - {Severity.NOTE} if strict else frozenset({Severity.ERROR}))
    return log


def check_joints(log: Log, robot: Robot) -> None:
    """Raise InputError if the log is that of a robot with other actuated coordinates."""
    if log.joints != robot.actuated:
        raise InputError(
            f"{log.source or 'the log'} has the joints {', '.join(log.joints)}, but the robot has the actuated "
            f"coordinates {', '.join(robot.actuated)}; use the robot that was recorded"
        )


def _check_whole(log: Log, robot: Robot, *, position_unit_known: bool, time_unit_known: bool) -> list[Finding]:
    findings = check_velocities(log, robot)
    if not time_unit_known and not any(finding.code == LogFindingCode.UNITS for finding in findings):
        findings += check_time_unit(log, robot)
    findings += check_declared_degrees(log, robot) if position_unit_known else check_position_units(log, robot)
    findings += check_lengths(log, robot, unit_known=position_unit_known)
    findings += [*check_motion(log, robot), *check_limits(log, robot), *check_torques(log)]
    return [*findings, *check_work(log, robot)]


def refuse_findings(log: Log, severities: frozenset[Severity]) -> None:
    """Raise one error that lists all findings of these severities, if there are any."""
    reasons = [finding.text for finding in log.findings if finding.severity in severities]
    if reasons:
        raise InputError(f"{log.source or 'the log'} is refused: " + "; also: ".join(reasons))


# Checks of length, motion and torques: too few rows, joints at rest, torques that are constant or saturated.

# Fewest rows of a log that is not refused. Chosen on: reasoning; fewer cannot be low-passed and differentiated.
MIN_ROWS = 10
# Fewest rows of a log without a warning. Chosen on: rule of thumb.
MIN_RECOMMENDED_ROWS = 100
# Numbers of rows with exactly the extreme torque, in one run and in total, from which a torque counts as saturated.
# Chosen on: rule of thumb.
MIN_FLAT_RUN, MIN_FLAT_ROWS = 5, 20
# Torques on both sides of a zero, relative to the standard deviation of the torque, from which the zero is a loss; and
# share of rows with such zeros from which they are reported. Chosen on: reasoning; a torque that passes zero has small
# neighbours, and fewer lost rows do not matter.
MIN_DROPOUT_RATIO, MIN_DROPOUT_SHARE = 0.3, 0.005
# Step divided by the joint's largest step; if it is lower for all joints, the arm is at rest. Chosen on: rule of thumb.
MIN_STEP_RATIO = 0.05


def check_length(log: Log) -> list[Finding]:
    """Report a log with few rows."""
    rows, seconds = len(log), log.seconds
    fields = {"rows": rows, "seconds": seconds}
    if rows < MIN_ROWS:
        remedy = "record at least a few seconds of motion"
        return [Finding(LogFindingCode.SHORT, Severity.ERROR, f"only {rows} usable rows", remedy, fields=fields)]
    if rows < MIN_RECOMMENDED_ROWS:
        statement = f"only {rows} rows ({seconds:.3g} s)"
        remedy = "record more motion to get a meaningful result"
        return [Finding(LogFindingCode.SHORT, Severity.WARNING, statement, remedy, fields=fields)]
    return []


def check_motion(log: Log, robot: Robot) -> list[Finding]:
    """Report joints that hardly move."""
    sensors = robot.sensor_coordinates  # they never move
    ranges = {joint: float(np.ptp(log.q[:, k])) for k, joint in enumerate(log.joints) if joint not in sensors}
    still = {joint: width for joint, width in ranges.items() if width < get_min_motion_range(robot, joint)}
    if not still:
        return []
    shown = ", ".join(f"{joint} {width:.2g}" for joint, width in still.items())
    finding = Finding(
        LogFindingCode.STILL,
        Severity.WARNING,
        f"hardly any motion (range in rad or m: {shown})",
        remedy="parameters that require motion of these joints cannot be identified",
        names=tuple(still),
        fields={"ranges": still},
    )
    return [finding]


# Limits of the description that a log exceeds. A robot does not exceed its limits by much: either the log has another
# unit, or it is that of another robot, or the limits of the description are wrong.


# Largest recorded speed or torque divided by its limit, since noise and overshoot exceed limits by a little. Chosen on:
# rule of thumb; the recorded logs of the shared data stay below 0.83.
MAX_LIMIT_RATIO = 1.05
# Distance in rad or m from which a position counts as beyond a limit; shorter ones are rounding. Chosen on: rule of
# thumb.
MIN_LIMIT_EXCESS = 1e-3
# Share of the samples that must be below the speed or torque that is compared, so that single wrong samples do not
# count. Chosen on: rule of thumb.
COMPARED_SHARE = 0.99


def check_limits(log: Log, robot: Robot) -> list[Finding]:
    """Report positions, speeds and torques beyond the limits of the description."""
    speeds = compute_highest_speeds(log)
    exceeded: list[dict[str, Any]] = []
    for k, (joint, limits) in enumerate(zip(log.joints, robot.actuated_limits, strict=True)):
        if joint in robot.base_coordinates or joint in robot.sensor_coordinates:
            continue
        lowest, highest = float(log.q[:, k].min()), float(log.q[:, k].max())
        above, below = highest - limits.upper, limits.lower - lowest
        if max(above, below) > MIN_LIMIT_EXCESS:
            value, limit = (highest, limits.upper) if above >= below else (lowest, limits.lower)
            width = limits.upper - limits.lower
            ratio = 1.0 + 2.0 * max(above, below) / width if width > 0.0 else math.inf
            exceeded.append({"joint": joint, "quantity": "position", "value": value, "limit": limit, "ratio": ratio})
        torque = 0.0 if log.tau is None else float(np.quantile(np.abs(log.tau[:, k]), COMPARED_SHARE))
        for quantity, value, limit in (
            ("speed", float(speeds[k]), limits.velocity),
            ("torque", torque, limits.effort),
        ):
            if is_above_limit(value, limit):
                ratio = value / limit
                exceeded.append({"joint": joint, "quantity": quantity, "value": value, "limit": limit, "ratio": ratio})
    if not exceeded:
        return []
    shown = ", ".join("{joint}: {quantity} {value:.3g}, limit {limit:.3g}".format(**each) for each in exceeded)
    finding = Finding(
        LogFindingCode.LIMITS,
        Severity.WARNING,
        f"the log is beyond limits of the description ({shown})",
        remedy="check the units of these columns and that the log is of this robot; if both are right, correct the "
        "limits of the description",
        names=tuple(dict.fromkeys(each["joint"] for each in exceeded)),
        fields={"exceeded": exceeded, "largest_ratio": max(each["ratio"] for each in exceeded)},
    )
    return [finding]


def is_above_limit(value: float, limit: float) -> bool:
    """Whether a speed or torque exceeds a known limit; a limit of zero is unknown."""
    return 0.0 < limit < math.inf and value > MAX_LIMIT_RATIO * limit


def check_torques(log: Log) -> list[Finding]:
    """Report torques that are zero, constant, or saturated."""
    if log.tau is None:
        return []
    constant = [joint for k, joint in enumerate(log.joints) if np.ptp(log.tau[:, k]) == 0.0]
    if len(constant) == len(log.joints):
        statement = f"all torques are {'zero' if not log.tau.any() else 'constant'}"
        return [Finding(LogFindingCode.TORQUE, Severity.ERROR, statement, "check that they were recorded")]
    findings: list[Finding] = []
    missing = tuple(joint for joint in constant if joint not in BASE_COORDINATES)  # no wrench acts in free flight
    if missing:
        statement = f"the torque of {', '.join(missing)} never changes"
        remedy = "check that it was recorded"
        findings.append(Finding(LogFindingCode.TORQUE, Severity.WARNING, statement, remedy, missing))
    dropouts = _find_dropouts(log.tau, log.joints, constant)
    if dropouts:
        shown = ", ".join(f"{joint} in {count} rows" for joint, count in dropouts.items())
        finding = Finding(
            LogFindingCode.TORQUE,
            Severity.WARNING,
            f"the torque is exactly zero between values that are far from it ({shown})",
            remedy="torques were lost while recording; leave these rows out, or record again",
            names=tuple(dropouts),
            fields={"rows": list(dropouts.values())},
        )
        findings.append(finding)
    saturated = _find_saturated(log.q, log.tau, log.joints, constant)
    if saturated:
        shown = ", ".join(f"{joint} {limit:.4g} in {count} rows" for joint, limit, count in saturated)
        finding = Finding(
            LogFindingCode.SATURATION,
            Severity.WARNING,
            f"torque is saturated: it stays at its minimum or maximum while the arm moves ({shown})",
            remedy="record motion that needs less torque, or leave these rows out",
            names=tuple(dict.fromkeys(joint for joint, _, _ in saturated)),
            fields={"extremes": [limit for _, limit, _ in saturated], "rows": [count for _, _, count in saturated]},
        )
        findings.append(finding)
    return findings


def _find_dropouts(tau: SamplesByJoint, joints: tuple[str, ...], constant: list[str]) -> dict[str, int]:
    """Return the number of rows in which the torque of a joint was lost, for joints with many."""
    dropouts: dict[str, int] = {}
    for k, joint in enumerate(joints):
        zero = tau[:, k] == 0.0
        if joint in constant or not zero.any() or zero.all():
            continue
        measured = np.flatnonzero(~zero)
        rows = np.flatnonzero(zero)
        after = np.minimum(np.searchsorted(measured, rows), len(measured) - 1)
        pair = tau[measured[np.maximum(after - 1, 0)], k], tau[measured[after], k]
        nearest = np.where(np.sign(pair[0]) == np.sign(pair[1]), np.minimum(abs(pair[0]), abs(pair[1])), 0.0)
        count = int(np.count_nonzero(nearest > MIN_DROPOUT_RATIO * np.std(tau[~zero, k])))
        if count >= max(MIN_FLAT_ROWS, MIN_DROPOUT_SHARE * len(tau)):
            dropouts[joint] = count
    return dropouts


def _find_saturated(
    q: SamplesByJoint, tau: SamplesByJoint, joints: tuple[str, ...], constant: list[str]
) -> list[tuple[str, float, int]]:
    """Return (joint, extreme torque, number of saturated rows) for each torque that is saturated."""
    saturated: list[tuple[str, float, int]] = []
    moving = None
    for k, joint in enumerate(joints):
        torque = tau[:, k]
        for limit in () if joint in constant else (float(torque.max()), float(torque.min())):
            rows = _find_long_runs(torque == limit)
            if len(rows) >= MIN_FLAT_ROWS:
                moving = _find_moving_rows(q) if moving is None else moving
                count = int(np.count_nonzero(moving[rows]))
                if count >= MIN_FLAT_ROWS:
                    saturated.append((joint, limit, count))
    return saturated


def _find_long_runs(flags: Bool[np.ndarray, " samples"]) -> RowIndices:
    """Return the rows in runs of at least ``MIN_FLAT_RUN`` consecutive true flags."""
    change = np.diff(np.concatenate(([False], flags, [False])).astype(np.int8))
    starts, stops = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    runs = [np.arange(start, stop) for start, stop in zip(starts, stops, strict=True) if stop - start >= MIN_FLAT_RUN]
    return np.concatenate(runs) if runs else np.empty(0, dtype=np.int64)


def _find_moving_rows(q: SamplesByJoint) -> Bool[np.ndarray, " samples"]:
    """Return for each row whether any joint moves."""
    moving = np.zeros(len(q), dtype=bool)
    for k in range(q.shape[1]):
        column: PerSample = q[:, k]
        step = np.abs(np.diff(column, append=column[-1]))
        moving |= step > MIN_STEP_RATIO * float(step.max())
    return moving


# Work of the motors: a motion that ends as it began cannot return energy, since friction dissipates it.
#
# Over such a motion, the energy of the robot changes by nothing, so the work of all motors is what friction takes. If
# it is clearly negative, torques are reversed, or they are not those of the motors. The work is the sum of tau dq,
# which needs neither velocities nor the unit of time.

# Difference of the first and the last position, divided by the range of the joint, up to which a motion ends where it
# began. Chosen on: rule of thumb.
MAX_RETURN_ERROR = 0.02
# Speed at both ends of a motion, divided by the joint's top speed, up to which the motion begins and ends at rest.
# Chosen on: rule of thumb.
MAX_SPEED_RATIO = 0.1
# Work divided by the sum of its magnitudes; if it is lower, the work is clearly negative. Chosen on: rule of thumb.
MIN_WORK_SHARE = -0.2
# Time in s by which positions and torques may be recorded apart. In fast motion, that alone makes the work negative, so
# it must be negative wherever the torques are within this time. Chosen on: rule of thumb.
MAX_LATENCY = 0.02
# Rows that are copied at once. Affects only memory.
PART_LENGTH = 65_536


def check_work(log: Log, robot: Robot) -> list[Finding]:
    """Report motors that do negative work over motions from rest to rest that end where they began.

    Robots with a floating base or sensor joints are not judged, since not all their torques are those of motors.
    """
    if log.tau is None or robot.floating or robot.sensor_coordinates:
        return []
    latest = math.ceil(MAX_LATENCY * log.rate)  # samples
    segments = [slice(*rows) for rows in log.segments if rows[1] - rows[0] >= max(3, 2 * latest + 2)]
    returning = [rows for rows in segments if _returns(log.q[rows])]
    works: list[float] = []
    for shift in (0, -latest, latest):  # torques at the right time, early and late
        parts = [_sum_work(log.q[rows], log.tau[rows], shift) for rows in returning]
        work, magnitude = np.sum(parts, axis=0) if parts else (0.0, 0.0)
        if not work < MIN_WORK_SHARE * magnitude:
            return []
        works.append(float(work))
    work = works[0]
    finding = Finding(
        LogFindingCode.TORQUE,
        Severity.WARNING,
        f"the motors take up energy ({-work:.3g} J over a motion that ends as it began), although friction dissipates "
        "it",
        remedy="the torques seem to be reversed: write [sign] tau = -1 in a mapping, or give negative gains; or they "
        "are not those of the motors",
        fields={"work": work},
    )
    return [finding]


def _sum_work(q: np.ndarray, tau: np.ndarray, shift: int) -> tuple[float, float]:
    """Return the work of torques that are moved by some samples, and the sum of the magnitudes of its steps."""
    tau, q = tau[max(-shift, 0) :], q[max(shift, 0) :]
    work = magnitude = 0.0
    for part in _iterate_parts(min(len(q), len(tau))):
        means = 0.5 * (tau[part][1:] + tau[part][:-1])
        power = np.einsum("sj,sj->s", means, np.diff(q[part], axis=0))
        work, magnitude = work + float(power.sum()), magnitude + float(np.abs(power).sum())
    return work, magnitude


def _returns(q: np.ndarray) -> bool:
    """Return whether all joints end at their first positions, and rest at both ends."""
    fastest = np.max([np.abs(np.diff(q[part], axis=0)).max(axis=0) for part in _iterate_parts(len(q))], axis=0)
    returned = np.abs(q[-1] - q[0]) <= MAX_RETURN_ERROR * np.ptp(q, axis=0)
    at_rest = np.maximum(np.abs(q[1] - q[0]), np.abs(q[-1] - q[-2])) <= MAX_SPEED_RATIO * fastest
    return bool(np.all(returned & at_rest))


def _iterate_parts(length: int) -> Iterator[slice]:
    """Yield the rows in parts, each from the last row of the one before, so that no copy has the size of a long log."""
    for first in range(0, length - 1, PART_LENGTH):
        yield slice(first, min(first + PART_LENGTH + 1, length))


# Detecting two logs of the same trajectory: one log cannot validate a model that was fitted to the other.
#
# The positions of both logs are resampled to the same time step and compared at all time shifts. At the best shift, the
# mean square difference is compared with the mean square of the motion. One cross-correlation gives the differences at
# all shifts.


# Number of samples to which the longer log is resampled for the comparison. Chosen on: rule of thumb.
GRID_POINTS = 2000
# Duration of the overlap divided by the duration of the shorter log, from which logs can repeat each other. Chosen on:
# rule of thumb.
MIN_OVERLAP = 0.5
# RMS difference divided by the RMS motion, up to which a log repeats another. Chosen on: repeated runs of recorded
# arms, which stay below 0.01.
MAX_DIFFERENCE = 0.05
# Mean square motion of the first log within the overlap, divided by that of the whole first log. If it is lower, the
# arm is at rest in the overlap, which is not a repetition. Chosen on: rule of thumb.
MIN_MOTION_SHARE = 0.5


def find_repeated_motion(first: Log, second: Log) -> Finding | None:
    """Return a warning if both logs contain the same motion, possibly shifted in time; otherwise None."""
    check_is_log(first)
    check_is_log(second)
    if first.joints != second.joints:
        raise InputError(
            f"{first.source or 'the first log'} and {second.source or 'the second log'} have different joints; "
            "use logs of the same robot"
        )
    if min(len(first), len(second)) < 2:
        return None
    step = max(first.t[-1] - first.t[0], second.t[-1] - second.t[0]) / GRID_POINTS
    a, b = _resample(first, step), _resample(second, step)
    min_overlap = max(2, math.ceil(MIN_OVERLAP * min(len(a), len(b))))
    if min(len(a), len(b)) < min_overlap:
        return None
    centre = a.mean(axis=0)
    a, b = a - centre, b - centre
    shifts = np.arange(-(len(b) - 1), len(a))  # row k of b is compared with row k + shift of a
    cross = _correlate(a, b)
    start, stop = np.maximum(shifts, 0), np.minimum(shifts + len(b), len(a))
    overlap = stop - start
    squares_a = _compute_sums_of_squares(a, start, stop)
    squares_b = _compute_sums_of_squares(b, start - shifts, stop - shifts)
    difference = np.maximum(squares_a + squares_b - 2.0 * cross, 0.0) / overlap
    size = float(np.mean(np.sum(a * a, axis=1)))
    resting = squares_a / overlap < MIN_MOTION_SHARE * size
    difference[(overlap < min_overlap) | resting] = np.inf
    best = int(np.argmin(difference))
    if size == 0.0 or difference[best] > MAX_DIFFERENCE**2 * size:
        return None
    rms = math.sqrt(difference[best] / a.shape[1])
    shift = float(shifts[best]) * step
    return Finding(
        LogFindingCode.REPEATED_MOTION,
        Severity.WARNING,
        f"{second.source or 'the second log'} repeats the trajectory of {first.source or 'the first'}"
        f"{_format_shift(first, second, shift, step)} (RMS position difference {rms:.2g} rad)",
        remedy="it tests repeatability, but it cannot validate a model",
        fields={"rms_difference": rms, "shift": shift},
    )


def _format_shift(first: Log, second: Log, shift: float, step: float) -> str:
    """Return a text about the time shift between the two motions.

    Logs whose times do not overlap are assumed to share a clock; the text is then the delay of the second motion.
    Otherwise it is the time, relative to the start of the first log, at which the second log begins.
    """
    if first.t[-1] <= second.t[0] or second.t[-1] <= first.t[0]:
        delay = float(second.t[0] - first.t[0]) - shift
        return f" {abs(delay):.4g} s {'later' if delay > 0.0 else 'earlier'}"
    if abs(shift) <= 2.0 * step:
        return ""
    if shift > 0.0:
        return f", starting {shift:.2f} s into it"
    return f", starting {-shift:.2f} s before it"


def _resample(log: Log, step: float) -> SamplesByJoint:
    """Return the positions at equal time steps from the first row, without the place of a floating base.

    All free flights fall alike, by many metres. They differ in the motion of the joints and in the orientation.
    """
    grid = np.arange(log.t[0], log.t[-1], step)
    compared = [k for k, name in enumerate(log.joints) if name not in BASE_COORDINATES[:3]]
    return np.stack([np.interp(grid, log.t, log.q[:, k]) for k in compared], axis=1)


def _correlate(a: SamplesByJoint, b: Float[np.ndarray, "others joints"]) -> Float[np.ndarray, " shifts"]:
    """Return for each shift the sum over joints and rows k of a[k + shift] * b[k]; the first shift is 1 - len(b)."""
    count = len(a) + len(b) - 1
    size = 1 << (count - 1).bit_length()  # padded with zeros, so that the two ends do not overlap
    spectrum = np.fft.rfft(a, size, axis=0) * np.fft.rfft(b[::-1], size, axis=0)
    return np.fft.irfft(spectrum.sum(axis=1), size)[:count]


def _compute_sums_of_squares(
    values: SamplesByJoint, start: Int[np.ndarray, " shifts"], stop: Int[np.ndarray, " shifts"]
) -> Float[np.ndarray, " shifts"]:
    """Return for each shift the sum of the squares of rows ``start:stop``."""
    sums = np.concatenate(([0.0], np.cumsum(np.sum(values * values, axis=1))))
    return np.asarray(sums[stop] - sums[start])
