"""Motion that is played: a log or a designed trajectory, at the times of pictures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.excitation.trajectories import Trajectory
from ytheta.excitation.trajectory_files import load_trajectory, sample_trajectory
from ytheta.findings import Finding
from ytheta.logs.reading.read import LogInput, LogReadingOptions, MappingInput, read_with_options
from ytheta.robot.robot import Robot
from ytheta.shapes import PerSample, SamplesByJoint, freeze

PICTURE_RATE = 30.0  # pictures per second
MAX_PICTURES = 200_000  # of a motion; of longer ones, fewer per second are kept


@dataclass(frozen=True, eq=False)
class PlayedMotion:
    """Positions of the actuated coordinates at the times t, which begin with 0; its arrays are read-only."""

    t: PerSample
    q: SamplesByJoint
    source: str
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        freeze(self.t)
        freeze(self.q)

    @property
    def seconds(self) -> float:
        return float(self.t[-1])

    def find_sample(self, t: float) -> int:
        """Return the last sample that is not after the time."""
        return max(0, int(np.searchsorted(self.t, t, side="right")) - 1)


def read_logged_motion(
    robot: Robot, log: LogInput, mapping: MappingInput = None, options: LogReadingOptions | None = None
) -> PlayedMotion:
    """Return the recorded positions of a log; a gap in the log is a jump."""
    recorded = read_with_options(log, robot, mapping=mapping, options=options or LogReadingOptions(), strict=False)
    if not len(recorded):
        raise InputError(f"{recorded.source or 'the log'} has no samples, so that there is nothing to play")
    rate = min(PICTURE_RATE, MAX_PICTURES / max(recorded.seconds, 1.0))
    step = max(1, int(recorded.rate / rate))
    t, q = recorded.t[::step], recorded.q[::step]
    return PlayedMotion(t - t[0], q.copy(), recorded.source, recorded.findings)


def read_designed_motion(robot: Robot, trajectory: str | Path | Trajectory) -> PlayedMotion:
    """Return the positions of a trajectory; InputError if it belongs to other joints."""
    designed = trajectory if isinstance(trajectory, Trajectory) else load_trajectory(trajectory)
    source = "trajectory" if isinstance(trajectory, Trajectory) else str(trajectory)
    if set(designed.joints) != set(robot.actuated):
        raise InputError(
            f"{source} moves {', '.join(designed.joints)}, but the robot {robot.name!r} has "
            f"{', '.join(robot.actuated)}; give a trajectory of this robot"
        )
    motion = sample_trajectory(designed, PICTURE_RATE)
    return PlayedMotion(motion.t, motion.q[:, [designed.joints.index(name) for name in robot.actuated]], source)
