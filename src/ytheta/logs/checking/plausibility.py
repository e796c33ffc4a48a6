"""What a log says against itself or against the robot: units, limits, saturation, joints at rest, empty torques."""

from __future__ import annotations

import math

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.checking.units import STILL, in_degrees, kind_and_limits
from ytheta.logs.log import Log
from ytheta.robot.parts import JointKind, Limits
from ytheta.robot.robot import Robot
from ytheta.shapes import SamplesByJoint

FEWEST = 10  # rows; with less there is nothing to differentiate
FEW = 100  # rows
TURNS = 4.0 * math.pi  # more than two turns of half of the joints is the range of degrees
FLAT_RUN, FLAT_ROWS = 5, 20  # rows in a run, and in all, at exactly the largest torque
MOTION = 0.05  # of a joint's largest step


def length_findings(log: Log) -> list[Finding]:
    """Whether there are enough rows."""
    rows, seconds = len(log), log.seconds
    if rows < FEWEST:
        text = f"only {rows} usable rows; record at least some seconds of motion"
        return [Finding("short", Severity.ERROR, text)]
    if rows < FEW:
        text = f"only {rows} rows ({seconds:.3g} s); record more motion for a result that means something"
        return [Finding("short", Severity.WARNING, text)]
    return []


def unit_findings(log: Log, robot: Robot) -> list[Finding]:
    """Positions that only degrees or motor units explain: of half of the turning joints that move, or more."""
    beyond: dict[str, str] = {}
    turning: list[str] = []
    worst = 0.0
    for k, joint in enumerate(log.joints):
        kind, limits = kind_and_limits(robot, joint)
        low, high = float(log.q[:, k].min()), float(log.q[:, k].max())
        if kind is JointKind.PRISMATIC or high - low < 0.1:
            continue
        turning.append(joint)
        if _beyond(low, high, limits):
            beyond[joint] = f"{joint} {low:.4g} to {high:.4g}"
            worst = max(worst, math.radians(high - low) / _widest(limits))
    if not beyond or 2 * len(beyond) < len(turning):
        return []
    shown = ", ".join(list(beyond.values())[:3])
    if worst > 2.0:
        text = (
            f"positions are too large for a joint, in radians and in degrees ({shown}); write the factor of the "
            'encoders, [scale] q = …, or the gears, [motor] matrix = …, in a mapping, or "radians" if they are right'
        )
    else:
        words = in_degrees(robot, beyond, others_known=[joint for joint in turning if joint not in beyond])
        text = (
            f"positions seem to be in degrees, or of the motors ({shown}); write [scale] q = {words} in a mapping, or "
            '"radians" if they are right'
        )
    return [Finding("units", Severity.ERROR, text)]


def motion_findings(log: Log, robot: Robot) -> list[Finding]:
    """Joints that hardly move, whose parameters such a log cannot show."""
    ranges = {joint: float(np.ptp(log.q[:, k])) for k, joint in enumerate(log.joints)}
    still = {joint: range_ for joint, range_ in ranges.items() if range_ < STILL[kind_and_limits(robot, joint)[0]]}
    if not still:
        return []
    shown = ", ".join(f"{joint} {range_:.2g}" for joint, range_ in still.items())
    text = f"hardly any motion (range in rad or m: {shown}); what only these joints show cannot be identified"
    return [Finding("still", Severity.WARNING, text)]


def torque_findings(log: Log) -> list[Finding]:
    """Torques that are empty, constant, or cut off at a limit."""
    if log.tau is None:
        return []
    findings: list[Finding] = []
    constant = [joint for k, joint in enumerate(log.joints) if np.ptp(log.tau[:, k]) == 0.0]
    if len(constant) == len(log.joints):
        value = "zero" if not log.tau.any() else "constant"
        return [Finding("torque", Severity.ERROR, f"all torques are {value}; check that they were recorded")]
    if constant:
        text = f"the torque of {', '.join(constant)} never changes; check that it was recorded"
        findings.append(Finding("torque", Severity.WARNING, text))
    moving = None
    flat: list[str] = []
    for k, joint in enumerate(log.joints):
        tau = log.tau[:, k]
        for limit in () if joint in constant else (float(tau.max()), float(tau.min())):
            rows = _long_runs(tau == limit)
            if len(rows) >= FLAT_ROWS:
                moving = _moving(log.q) if moving is None else moving
                count = int(np.count_nonzero(moving[rows]))
                if count >= FLAT_ROWS:
                    flat.append(f"{joint} {limit:.4g} in {count} rows")
    if flat:
        text = f"torque stays at its extreme while the arm moves ({', '.join(flat)}): saturated; leave such motion out"
        findings.append(Finding("saturation", Severity.WARNING, text))
    return findings


def _beyond(low: float, high: float, limits: Limits) -> bool:
    """Whether a range is too wide for radians."""
    width = limits.upper - limits.lower
    if not math.isfinite(width) or width > TURNS:
        return high - low > TURNS
    outside = max(high - limits.upper, limits.lower - low)
    return outside > 0.5 * width


def _widest(limits: Limits) -> float:
    """The widest range to be expected of a joint, in radians."""
    width = limits.upper - limits.lower
    return width if 0.0 < width <= TURNS else TURNS


def _long_runs(flags: np.ndarray) -> np.ndarray:
    """Row numbers inside runs of FLAT_RUN or more."""
    change = np.diff(np.concatenate(([False], flags, [False])).astype(np.int8))
    first, last = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    runs = [np.arange(a, b) for a, b in zip(first, last, strict=True) if b - a >= FLAT_RUN]
    return np.concatenate(runs) if runs else np.empty(0, dtype=np.int64)


def _moving(q: SamplesByJoint) -> np.ndarray:
    """For each row, whether any joint makes a step worth the name."""
    moving = np.zeros(len(q), dtype=bool)
    for k in range(q.shape[1]):
        step = np.abs(np.diff(q[:, k], append=q[-1, k]))
        moving |= step > MOTION * float(step.max())
    return moving
