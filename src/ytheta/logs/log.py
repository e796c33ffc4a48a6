"""Log: recorded motion in the robot's own coordinates and SI units, with the findings of reading and checking.

The columns of q, qd and tau are the robot's actuated coordinates, in the robot's order. Torques have the sign of
tau = +Y(q, qd, qdd) theta. Rows are as recorded: nothing is filtered or differentiated here. ``segments`` are the
ranges (start, stop) of rows between gaps; row ``stop`` is excluded. Samples of different segments are never combined.
"""

from __future__ import annotations

import hashlib
import math
import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from ytheta.display import Displayed
from ytheta.errors import InputError
from ytheta.findings import Finding
from ytheta.shapes import Float, PerJoint, PerSample, RowIndices, SamplesByJoint, Shaped, StartIndices, freeze

MAX_DIGEST_ROWS = 10_000  # rows, evenly spaced, that tell a recording from others; affects only time


# Codes of the findings about a log. Programs can branch on these codes, and JSON output contains them.

# Time in s between the two positions from which a speed is computed. Chosen on: rule of thumb; long enough to reduce
# noise.
SPEED_INTERVAL = 0.05


class LogFindingCode(StrEnum):
    """Code of a finding about a log.

    The page on logs of the documentation states the condition under which a check reports each code.
    """

    # reading a file
    COLUMNS = "columns"  # the columns that were chosen
    PLACES = "places"  # quantities are from different topics, structs or groups
    ORDER = "order"  # the numbers of columns and those in the names of joints have different orders
    HEADER = "header"  # columns of a text file without a header were guessed
    TORQUE = "torque"  # torques are missing or constant
    LOCKED = "locked"  # a joint that the robot has locked rests at another position
    WRENCH = "wrench"  # the wrench on a floating base is taken to be zero
    TRUNCATED = "truncated"  # the last line of a text file is incomplete
    COMPUTED_TORQUE = "computed torque"  # torques were computed by a controller, not measured
    EPISODES = "episodes"  # the file contains several recordings
    CORRECTED = "corrected"  # the mapping changes values by more than their units

    # checking the rows of a log
    MISSING = "missing"  # a value is NaN, infinite or an empty field
    GARBAGE = "garbage"  # values that no robot produces
    TIME = "time"  # timestamps run backwards or repeat
    GAP = "gap"  # samples were lost
    SAMPLING = "sampling"  # sampling rate and jitter
    HELD = "held"  # rows repeat the previous row while the arm moves
    WRAPPED = "wrapped"  # positions jump by a full turn
    SPIKE = "spike"  # single values are far from their neighbours

    # checking a log as a whole
    SHORT = "short"  # the log has few rows
    UNITS = "units"  # angles in degrees, or time in milliseconds
    VELOCITY = "velocity"  # recorded velocity and position disagree
    STILL = "still"  # a joint hardly moves
    LIMITS = "limits"  # a position, speed or torque is beyond a limit of the description
    SATURATION = "saturation"  # a torque stays at its minimum or maximum
    REPEATED_MOTION = "repeats"  # a log repeats the trajectory of another log

    # preparing a log
    JITTER = "jitter"  # timestamps are not equally spaced
    CUTOFF = "cut-off"  # the chosen cut-off of the low-pass
    PERIODS = "periods"  # periods were averaged
    SAMPLES = "samples"  # number of samples kept after decimation and trimming
    SEGMENTS = "segments"  # segments are too short for the low-pass


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


# Where the numbers of a log come from: format, topic, columns with their conversions, and rows of the file.


@dataclass(frozen=True)
class ColumnOrigin:
    """The column of one quantity of one joint, and how it was converted to SI units.

    Attributes
    ----------
    quantity  "t", "q", "qd" or "tau"
    joint     name of the actuated coordinate; empty for time
    column    name of the column; empty if time was computed from a sampling rate
    unit      unit of the column, such as "deg" or "A"; "" if it is none of the known ones
    factor    the factor of this unit in SI units
    sign      -1 if the sign was reversed, otherwise 1
    gain      torque per current in Nm/A at the joint; None if the column does not contain currents
    offset    number that was added, in SI units
    delay     seconds by which the column was recorded too late, and was moved
    """

    quantity: str
    joint: str
    column: str
    unit: str
    factor: float = 1.0
    sign: float = 1.0
    gain: float | None = None
    offset: float = 0.0
    delay: float = 0.0


@dataclass(frozen=True)
class LogSize:
    """Number of samples of a log, recorded time in seconds without gaps, and samples per second."""

    samples: int
    seconds: float
    rate: float


@dataclass(frozen=True)
class LogOrigin:
    """What was chosen from a file or a table in memory.

    Attributes
    ----------
    format          such as "CSV" or "ROS 1 bag"
    topic           topic, group or struct of the columns; empty if there is none
    message_type    type of the messages of a bag; empty for other files
    columns         the columns in use: time, then q, qd and tau of all joints
    unused          names of the columns that were not used
    ignored_joints  recorded joints that the robot does not have
    rows            rows of the file or table
    first, stop     the chosen rows: from ``first``, counted from 0, up to but not including ``stop``
    motor_matrix    whether the columns are those of motors, from which the values of joints were computed
    """

    format: str
    topic: str = ""
    message_type: str = ""
    columns: tuple[ColumnOrigin, ...] = ()
    unused: tuple[str, ...] = ()
    ignored_joints: tuple[str, ...] = ()
    rows: int = 0
    first: int = 0
    stop: int = 0
    motor_matrix: bool = False

    def describe_rows(self) -> str:
        """Return which rows were chosen, such as "rows 600:3500 of 4000"; empty if all were."""
        return "" if self.stop - self.first == self.rows else f"rows {self.first}:{self.stop} of {self.rows}"


# Row edits: rows to drop and rows at which to split a log, with the findings that explain them.


def to_row_indices(numbers: Iterable[int] = ()) -> RowIndices:
    """Return row numbers as an array."""
    return np.array(list(numbers), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class RowEdits:
    """``drop``: rows to leave out. ``split``: first rows of new segments."""

    findings: tuple[Finding, ...] = ()
    drop: RowIndices = field(default_factory=to_row_indices)
    split: StartIndices = field(default_factory=to_row_indices)


def apply_edits(log: Log, edits: RowEdits) -> Log:
    """Return the log after the edits. Arrays are copied only if rows are dropped or the log is split."""
    findings = tuple(dict.fromkeys((*log.findings, *edits.findings)))
    if not len(edits.drop) and not len(edits.split):
        return replace(log, findings=findings)
    begins = np.zeros(len(log) + 1, dtype=bool)
    begins[edits.split] = True
    keep = np.zeros(len(log), dtype=bool)
    for start, stop in log.segments:
        begins[start] = begins[stop] = True
        keep[start:stop] = True
    keep[edits.drop] = False
    segment = np.cumsum(begins[:-1], dtype=np.int32)[keep]
    edges = [0, *(np.flatnonzero(np.diff(segment)) + 1).tolist(), len(segment)]
    return replace(
        log,
        t=log.t[keep],
        q=log.q[keep],
        qd=None if log.qd is None else log.qd[keep],
        tau=None if log.tau is None else log.tau[keep],
        segments=tuple((start, stop) for start, stop in pairwise(edges) if stop > start),
        findings=findings,
    )


# Iterating over the columns of a log; each column is one quantity of one joint.


@dataclass(frozen=True, eq=False)
class JointColumn:
    """A recorded column; ``quantity`` is "q", "qd" or "tau"."""

    quantity: str
    joint: str
    values: PerSample

    def __str__(self) -> str:
        return f"{self.quantity} of {self.joint}"


def iterate_columns(log: Log) -> Iterator[JointColumn]:
    """Yield every recorded column except time; the values are views, not copies."""
    for quantity, values in (("q", log.q), ("qd", log.qd), ("tau", log.tau)):
        if values is not None:
            for k, joint in enumerate(log.joints):
                yield JointColumn(quantity, joint, values[:, k])


# Large temporary arrays whose memory is returned to the operating system as soon as an array is no longer used.
#
# The C allocator does not return freed blocks of up to 32 MB to the operating system; one column of a log of one hour
# at 1 kHz is smaller than that. To keep peak memory low for long logs, each of these arrays has its own memory mapping.


def allocate_temporary(count: int) -> Float[np.ndarray, " count"]:
    """Return an array of zeros that has its own memory mapping."""
    return allocate_like(np.zeros(0), (count,))


def allocate_like(array: Shaped[np.ndarray, "..."], shape: tuple[int, ...]) -> Shaped[np.ndarray, "..."]:
    """Return zeros of the same type as ``array`` that have their own memory mapping."""
    count = math.prod(shape)
    if count == 0:
        return np.zeros(shape, array.dtype)
    return np.frombuffer(mmap.mmap(-1, array.itemsize * count), dtype=array.dtype).reshape(shape)


def compute_steps(values: Float[np.ndarray, " samples"]) -> Float[np.ndarray, " steps"]:
    """Return the differences of neighbouring values as a temporary array; otherwise like ``np.diff``."""
    return np.subtract(values[1:], values[:-1], out=allocate_temporary(max(len(values) - 1, 0)))


def compute_highest_speeds(log: Log) -> PerJoint:
    """Return the highest speed of every joint, averaged over 50 ms."""
    return np.max([np.zeros(len(log.joints)), *(abs(qd).max(axis=0) for _, qd in iterate_mean_speeds(log))], axis=0)


def iterate_mean_speeds(log: Log) -> Iterator[tuple[SamplesByJoint, SamplesByJoint]]:
    """Yield positions and velocities of every segment that is long enough, averaged over ``SPEED_INTERVAL``."""
    step = max(1, round(SPEED_INTERVAL * log.rate))
    for first, last in log.segments:
        t, q = log.t[first:last:step], log.q[first:last:step]
        if len(t) > 1:
            yield 0.5 * (q[1:] + q[:-1]), np.diff(q, axis=0) / np.diff(t)[:, None]
