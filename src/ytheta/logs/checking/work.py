"""Work of the motors: a motion that ends as it began cannot return energy, since friction dissipates it.

Over such a motion, the energy of the robot changes by nothing, so the work of all motors is what friction takes. If it
is clearly negative, torques are reversed, or they are not those of the motors. The work is the sum of tau dq, which
needs neither velocities nor the unit of time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.robot.robot import Robot

MAX_RETURN_ERROR = 0.02  # difference of the first and the last position, divided by the range of the joint
MAX_SPEED_RATIO = 0.1  # speed at both ends, divided by the joint's top speed
# Work divided by the sum of its magnitudes; if it is lower, the work is clearly negative.
MIN_WORK_SHARE = -0.2
# s; positions and torques may be recorded so much apart. In fast motion, that alone makes the work negative, so it must
# be negative wherever the torques are within this time.
MAX_LATENCY = 0.02
PART_LENGTH = 65_536  # rows that are copied at once


def check_work(log: Log, robot: Robot) -> list[Finding]:
    """Report motors that do negative work over motions from rest to rest that end where they began.

    Robots with a floating base or sensor joints are not judged, since not all their torques are those of motors.
    """
    if log.tau is None or robot.floating or robot.sensor_coordinates:
        return []
    latest = math.ceil(MAX_LATENCY * log.rate)  # samples
    # work and its magnitude, for torques that are early, at the right time and late
    sums = np.zeros((3, 2))
    for start, stop in log.segments:
        q, tau = log.q[start:stop], log.tau[start:stop]
        if stop - start < max(3, 2 * latest + 2) or not _returns(q):
            continue
        sums += [_sum_work(q, tau, shift) for shift in (-latest, 0, latest)]
    work = float(sums[1, 0])
    if not np.all(sums[:, 0] < MIN_WORK_SHARE * sums[:, 1]):
        return []
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
