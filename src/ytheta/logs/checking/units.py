"""Units that a log seems to be in: a clock that does not count seconds, angles in degrees; and the line to write.

Clock       Arms are recorded at 20 Hz or more, and a joint at its quickest crosses its whole range within seconds: in
            0.2 to 9 s in the logs of six robots. A log below that rate whose joints need more than 100 s counts other
            units of time. Which, the motion tells: the one in which crossing takes about 3 s.
Degrees     are seen in positions that are far too wide for radians and right for degrees; see ``plausibility``.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.robot.parts import JointKind, Limits
from ytheta.robot.robot import Robot

CLOCKS = {1e3: ("milliseconds", "ms"), 1e6: ("microseconds", "us"), 1e9: ("nanoseconds", "ns")}  # in a second
STILL = {JointKind.REVOLUTE: 0.035, JointKind.PRISMATIC: 0.005}  # rad (2 degrees), m
RECORDED = 20.0  # Hz
CROSSING, SLOW = 3.0, 100.0  # s
POINTS = 2000  # of a log, between which speeds are taken: far enough apart that noise makes no speed


def clock_findings(log: Log, robot: Robot) -> list[Finding]:
    """A rate that nobody records at, of motion slower than any arm's."""
    rate, crossing = log.rate, _crossing(log, robot)
    if rate >= RECORDED or crossing <= SLOW:
        return []
    power = min(max(round(math.log10(crossing / CROSSING) / 3.0), 1), len(CLOCKS))
    unit, word = CLOCKS[10.0 ** (3 * power)]
    text = (
        f"time seems to be in {unit}: in seconds the log would last {_duration(log.seconds)} at {rate:.3g} Hz, and a "
        f'joint at its quickest would need {_duration(crossing)} to cross its range; write [scale] t = "{word}" in a '
        'mapping, or t = "s" if it is right'
    )
    return [Finding("units", Severity.ERROR, text)]


def in_degrees(robot: Robot, degrees: Collection[str], *, others_known: Collection[str]) -> str:
    """What to write for positions or velocities of which some are in degrees.

    ``others_known`` are joints that are seen to be right. Where there are none, all that turn are in degrees.
    """

    def word(joint: str) -> str:
        if kind_and_limits(robot, joint)[0] is JointKind.PRISMATIC:
            return "metres"
        return "degrees" if joint in degrees or not others_known else "radians"

    words = [f'"{word(joint)}"' for joint in robot.actuated]
    return words[0] if len(set(words)) == 1 else f"[{', '.join(words)}]"


def kind_and_limits(robot: Robot, coordinate: str) -> tuple[JointKind, Limits]:
    """Kind and limits of an actuated coordinate; a motor turns."""
    for motor in robot.motors:
        if motor.name == coordinate:
            return JointKind.REVOLUTE, motor.limits
    joint = robot.joint(coordinate)
    return joint.kind, joint.limits


def _crossing(log: Log, robot: Robot) -> float:
    """Seconds in which a joint at its quickest would cross its range: the median of those that move, 0 if none does."""
    chosen = slice(None, None, 1 + len(log) // POINTS)
    steps = np.diff(log.t[chosen])
    times = []
    for k, joint in enumerate(log.joints):
        q = log.q[chosen, k]
        if len(steps) and np.ptp(q) > STILL[kind_and_limits(robot, joint)[0]]:
            times.append(float(np.ptp(q)) / float(np.max(np.abs(np.diff(q)) / steps)))
    return float(np.median(times)) if times else 0.0


def _duration(seconds: float) -> str:
    for size, unit in ((31_557_600.0, "years"), (86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
