"""Positions that jump by a full turn, because angles were recorded between -180° and 180° or between 0° and 360°.

No joint turns by a full turn from one row to the next. Such a jump is a wrap if the rest of the step is as small as the
other steps. All rows after it are moved by a full turn; in the end, all rows by as many as the joint's limits need.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.robot.parts import Limits
from ytheta.robot.robot import Robot
from ytheta.shapes import PerSample

TURN = 2.0 * math.pi  # rad
MAX_REST = 0.5  # rad; of a step that is a wrap, beside the full turn
MAX_REST_RATIO, MIN_REST = 5.0, 0.01  # … divided by the 99 % quantile of the other steps, or in rad


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
