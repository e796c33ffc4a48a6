"""Checks of length, motion and torques: too few rows, joints at rest, torques that are constant or saturated."""

from __future__ import annotations

import numpy as np

from ytheta.conventions import BASE_COORDINATES
from ytheta.findings import Finding, Severity
from ytheta.logs.checking.units import get_min_motion_range
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, PerSample, RowIndices, SamplesByJoint

MIN_ROWS = 10  # fewer rows cannot be differentiated
MIN_RECOMMENDED_ROWS = 100
# Numbers of rows with exactly the extreme torque, in one run and in total, from which a torque counts as saturated.
MIN_FLAT_RUN, MIN_FLAT_ROWS = 5, 20
MIN_STEP_RATIO = 0.05  # step divided by the joint's largest step; if it is lower for all joints, the arm is at rest


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


def _find_long_runs(flags: Bool[np.ndarray, "samples"]) -> RowIndices:
    """Return the rows in runs of at least ``MIN_FLAT_RUN`` consecutive true flags."""
    change = np.diff(np.concatenate(([False], flags, [False])).astype(np.int8))
    starts, stops = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    runs = [np.arange(start, stop) for start, stop in zip(starts, stops, strict=True) if stop - start >= MIN_FLAT_RUN]
    return np.concatenate(runs) if runs else np.empty(0, dtype=np.int64)


def _find_moving_rows(q: SamplesByJoint) -> Bool[np.ndarray, "samples"]:
    """Return for each row whether any joint moves."""
    moving = np.zeros(len(q), dtype=bool)
    for k in range(q.shape[1]):
        column: PerSample = q[:, k]
        step = np.abs(np.diff(column, append=column[-1]))
        moving |= step > MIN_STEP_RATIO * float(step.max())
    return moving
