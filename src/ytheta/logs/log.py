"""Log: recorded motion in the robot's own coordinates and SI units, with the findings of reading and checking.

The columns of q, qd and tau are the robot's actuated coordinates, in the robot's order. Torques have the sign of
tau = +Y(q, qd, qdd) theta. Rows are as recorded: nothing is filtered or differentiated here. ``segments`` are the
ranges (start, stop) of rows between gaps; row ``stop`` is excluded. Samples of different segments are never combined.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from ytheta.display import Displayed
from ytheta.errors import InputError
from ytheta.findings import Finding
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.origin import LogOrigin, LogSize
from ytheta.logs.temporary_arrays import allocate_temporary
from ytheta.shapes import PerSample, SamplesByJoint, freeze

MAX_DIGEST_ROWS = 10_000  # rows, evenly spaced, that tell a recording from others
CAUSES_OF_SPLITS = {
    LogFindingCode.MISSING: "missing rows",
    LogFindingCode.GARBAGE: "garbage",
    LogFindingCode.GAP: "gaps",
    LogFindingCode.HELD: "held rows",
    LogFindingCode.EPISODES: "episodes",
}


@dataclass(frozen=True, eq=False, repr=False)
class Log(Displayed):
    """Recorded motion of one robot, in its own coordinates and SI units. Its arrays are read-only.

    Attributes
    ----------
    joints    names of the robot's actuated coordinates, which are the columns of q, qd and tau
    t         times of the rows in seconds
    q         positions in rad or m
    tau       torques in Nm or forces in N, with the sign of tau = +Y(q, qd, qdd) theta; None if they were not recorded
    qd        velocities in rad/s or m/s; None if they were not recorded
    segments  ranges (start, stop) of rows between gaps; row ``stop`` is excluded
    source    name of the file or table
    findings  faults and repairs that were found when the log was read
    origin    the columns and rows of the file that the log consists of; None if it was not read from a file or table
    """

    subject: ClassVar[str] = "log"

    joints: tuple[str, ...]
    t: PerSample
    q: SamplesByJoint
    tau: SamplesByJoint | None = None
    qd: SamplesByJoint | None = None
    segments: tuple[tuple[int, int], ...] = ()
    source: str = ""
    findings: tuple[Finding, ...] = field(default=())
    origin: LogOrigin | None = None

    def __post_init__(self) -> None:
        expected = (len(self.t), len(self.joints))
        for name, values in (("q", self.q), ("tau", self.tau), ("qd", self.qd)):
            if values is not None and values.shape != expected:
                raise InputError(f"{self.source or 'log'}: {name} has shape {values.shape}, not {expected}")
        for name, values in (("t", self.t), ("q", self.q), ("tau", self.tau), ("qd", self.qd)):
            if values is not None and values.flags.writeable:  # a view: the caller may go on writing to the array
                object.__setattr__(self, name, freeze(values.view()))
        if not self.segments:
            object.__setattr__(self, "segments", ((0, len(self.t)),) if len(self.t) else ())

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        segments = f" in {len(self.segments)} segments" if len(self.segments) > 1 else ""
        figures = f"{len(self)} samples, {self.seconds:.4g} s at {self.rate:.4g} Hz{segments}"
        recorded = [name for name, values in (("q", self.q), ("qd", self.qd), ("tau", self.tau)) if values is not None]
        count = f"{len(self.joints)} {'joint' if len(self.joints) == 1 else 'joints'}"
        return f"Log({Path(self.source).name or 'unnamed'}: {figures}; {', '.join(recorded)} of {count})"

    @property
    def seconds(self) -> float:
        """Recorded time in seconds, without gaps."""
        return float(sum(self.t[stop - 1] - self.t[start] for start, stop in self.segments))

    @cached_property  # it needs memory for all time steps, and is asked for when most of the memory is in use
    def rate(self) -> float:
        """Samples per second: the inverse of the median time step within segments.

        It is 0 if no segment has two rows, or if time stands still or is missing, as in logs that are refused.
        """
        segments = [(start, stop) for start, stop in self.segments if stop - start > 1]
        if not segments:
            return 0.0
        steps = allocate_temporary(sum(stop - start - 1 for start, stop in segments))
        count = 0
        for start, stop in segments:
            end = count + stop - start - 1
            np.subtract(self.t[start + 1 : stop], self.t[start : stop - 1], out=steps[count:end])
            count = end
        median = float(np.median(steps, overwrite_input=True))
        rate = 1.0 / median if median else 0.0
        return rate if math.isfinite(rate) else 0.0

    @property
    def size(self) -> LogSize:
        """Number of samples, recorded time and rate, for statistics that outlive the log."""
        return LogSize(len(self), self.seconds, self.rate)

    def compute_digest(self) -> str:
        """Return a text that differs for logs of other positions or torques, and does not depend on the file's name.

        Some rows are enough to tell recordings apart, and a copy of long logs would cost time and memory.
        """
        digest = hashlib.sha256(str(len(self)).encode())
        picked = slice(None, None, len(self) // MAX_DIGEST_ROWS + 1)
        for values in (self.q, self.tau):
            if values is not None:
                digest.update(np.ascontiguousarray(values[picked], dtype=np.float64).data)
        return digest.hexdigest()[:32]

    def select_rows(self, start: int, stop: int) -> Log:
        """Return a log of rows ``start:stop``, with the segments clipped to these rows."""
        chosen = slice(start, stop)
        clipped = [(max(a, start) - start, min(b, stop) - start) for a, b in self.segments]
        return replace(
            self,
            t=self.t[chosen],
            q=self.q[chosen],
            tau=None if self.tau is None else self.tau[chosen],
            qd=None if self.qd is None else self.qd[chosen],
            segments=tuple((a, b) for a, b in clipped if b > a),
        )

    def select_times(self, start: float, end: float) -> Log:
        """Return a log of the rows with start <= t < end."""
        first, stop = np.searchsorted(self.t, [start, end])
        return self.select_rows(int(first), int(stop))

    def describe_splits(self) -> str:
        """Return the first clause of an error message, which says why the log was split into short segments.

        The text is empty if there is only one segment.
        """
        if len(self.segments) < 2:
            return ""
        codes = {finding.code for finding in self.findings}
        causes = " and ".join(words for code, words in CAUSES_OF_SPLITS.items() if code in codes) or "gaps"
        longest = max(stop - start for start, stop in self.segments)
        return f"{causes} split the log into {len(self.segments)} segments of at most {longest} samples; "


def check_is_log(value: object) -> None:
    """Raise InputError unless a value is a Log; functions that take only Logs call it."""
    if not isinstance(value, Log):
        shown = f"a value of type {type(value).__name__}" if not isinstance(value, str | Path) else repr(str(value))
        raise InputError(f"{'None' if value is None else shown} is not a Log; read it with read_log(path, robot)")
