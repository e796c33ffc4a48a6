"""Where the numbers of a log come from: format, topic, columns with their conversions, and rows of the file."""

from __future__ import annotations

from dataclasses import dataclass


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
    offset    number that was added last, in SI units
    """

    quantity: str
    joint: str
    column: str
    unit: str
    factor: float = 1.0
    sign: float = 1.0
    gain: float | None = None
    offset: float = 0.0


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
