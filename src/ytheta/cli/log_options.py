"""Options of commands that read logs: files, column mappings, preparation of the signals."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, overload

import typer

import ytheta as yt
from ytheta.cli.options import Command, parse_assignments, print_all_findings, take_group
from ytheta.errors import InputError
from ytheta.files.bounded import shorten

if TYPE_CHECKING:
    from ytheta.findings import Finding

AUTO = "auto"
MAX_ROW_DIGITS = 18
COLUMNS_CODE = "columns"  # LogFindingCode.COLUMNS, whose module is not imported for --help

LOG_HELP = "Recorded motion: text, JSON lines, Parquet, NPZ, HDF5, .mat, ROS bag or LeRobot dataset."
LogArguments = Annotated[list[str], typer.Argument(metavar="LOG", help=LOG_HELP)]
LogArgument = Annotated[str, typer.Argument(metavar="LOG", help=LOG_HELP)]
Mappings = Annotated[
    list[str] | None,
    typer.Option(
        "--mapping",
        metavar="TOML",
        help="Meaning of the columns: a file with lines such as [columns] q = 'angle{}'; one for all logs, or one for "
        "each.",
    ),
]
Degrees = Annotated[bool, typer.Option("--degrees", help="Positions and velocities of revolute joints are in degrees.")]
Rows = Annotated[
    str | None,
    typer.Option(
        metavar="START:STOP",
        help="Use only these rows, counted from 0, without row STOP: 600:3500, 600:. Validation logs are used whole.",
    ),
]
Rate = Annotated[float | None, typer.Option("--rate", metavar="HZ", help="Sampling rate, in place of a time column.")]
Gain = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NUMBERS|JOINT=NUMBER",
        help="Torque per motor current in Nm/A at the joint (torque constant × gear ratio): one number for all joints, "
        "one for each separated by commas, or by joint; for logs with currents.",
    ),
]
Topic = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Topic of a bag, or group or struct of a file, that contains the log."),
]
Cutoff = Annotated[
    str, typer.Option(metavar="HZ|auto", help="Cut-off of the low-pass for all logs; auto: one for each.")
]
Velocity = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="recorded, position (differentiated), or auto: the one with smaller errors, for each log and joint.",
    ),
]
Derivative = Annotated[str, typer.Option(metavar="NAME", help="Differentiation of positions: central or spline.")]
AveragePeriods = Annotated[
    str | None,
    typer.Option(
        metavar="SECONDS|auto", help="Period of a periodic motion; its periods are averaged before filtering."
    ),
]
MinSpeed = Annotated[
    str | None,
    typer.Option(
        metavar="auto|SPEEDS",
        help="Leave out samples of a joint while it rests (auto), or below this speed: one value, or one per joint; 0 "
        "leaves out none.",
    ),
]
Threads = Annotated[
    int | None, typer.Option(metavar="N", help="Number of threads; by default the number of processors.")
]
StrictLogs = Annotated[bool, typer.Option("--strict", help="Refuse logs with findings more serious than a note.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print all notes, and expressions in full.")]


def parse_rows(text: str | None) -> tuple[int | None, int | None] | None:
    """Parse ``START:STOP``, of which either may be missing."""
    if text is None:
        return None
    start, colon, stop = (piece.strip() for piece in text.partition(":"))
    if not colon or not all(piece.isascii() and piece.isdigit() for piece in (start, stop) if piece):
        raise InputError(f"--rows {text!r}: write START:STOP with row numbers from 0, such as 600:3500")
    if max(len(start), len(stop)) > MAX_ROW_DIGITS:
        raise InputError(f"--rows {shorten(text)!r}: no log has so many rows; write row numbers such as 600:3500")
    return int(start) if start else None, int(stop) if stop else None


def parse_gain(texts: Sequence[str] | None) -> list[float] | dict[str, float] | None:
    """Parse gains: numbers separated by commas, or JOINT=NUMBER."""
    pieces = [piece.strip() for text in texts or () for piece in text.split(",")]
    if not pieces:
        return None
    if any("=" in piece for piece in pieces):
        return parse_assignments(pieces, "--gain")
    try:
        return [float(piece) for piece in pieces]
    except ValueError:
        raise InputError(
            f"--gain {','.join(pieces)!r}: write one number for each joint, such as 14.9,13.3,11.1, or JOINT=NUMBER"
        ) from None


def print_findings(findings: Iterable[Finding], *, verbose: bool, columns: bool = False) -> None:
    """Print findings on stderr, each once; notes are printed only with ``verbose``.

    With ``columns``, the notes about the chosen columns are printed too.
    """
    print_all_findings(
        finding
        for finding in dict.fromkeys(findings)
        if verbose or finding.severity.value != "note" or (columns and finding.code == COLUMNS_CODE)
    )


@overload
def parse_number_or_auto(text: str, option: str, unit: str) -> float | str: ...
@overload
def parse_number_or_auto(text: str | None, option: str, unit: str) -> float | str | None: ...
def parse_number_or_auto(text: str | None, option: str, unit: str) -> float | str | None:
    """Parse a positive number or the word auto; None if the option is not given."""
    if text is None:
        return None
    if text.strip().lower() == AUTO:
        return AUTO
    return _parse_positive(text, option, f"a number of {unit}, or auto", minimum=1e-9)


def parse_speeds(text: str | None) -> float | list[float] | str | None:
    """Parse the word auto, one speed for all joints, or one speed for each joint separated by commas."""
    if text is None:
        return None
    if text.strip().lower() == AUTO:
        return AUTO
    expected = "speeds in rad/s or m/s, separated by commas, or auto"
    values = [_parse_positive(piece, "--min-speed", expected) for piece in text.split(",")]
    return values[0] if len(values) == 1 else values


@contextmanager
def show_progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step on stderr; it shows nothing if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(f"{text} …")


def _parse_positive(text: str, option: str, what: str, *, minimum: float = 0.0) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not minimum <= value < math.inf:
        raise InputError(f"{option} {text!r}: give {what}")
    return value


# The options of every command that reads a log: one group, so that no command lacks one of them.
#
# Messages about logs name these options. The commands excite and simulate have a --rate and a --gain of their own;
# there the options of the group are called --log-rate and --log-gain, also in messages.


PREFIXED = {"rate": "log_rate", "gain": "log_gain"}


@dataclass(frozen=True)
class LogOptions:
    """How the logs of a command are read, as on the command line; the arguments of ``read_log``."""

    mapping: Mappings = None
    degrees: Degrees = False
    rows: Rows = None
    rate: Rate = None
    gain: Gain = None
    topic: Topic = None

    @property
    def single_mapping(self) -> str | None:
        """The mapping of a command that reads one log."""
        if self.mapping and len(self.mapping) > 1:
            raise InputError(f"--mapping is given {len(self.mapping)} times for one log; give it once")
        return self.mapping[0] if self.mapping else None


def take_log_options(command: Command) -> Command:
    """Return the command with the options of LogOptions in place of its argument ``log_options``."""
    return take_group(command, "log_options", LogOptions)


def take_prefixed_log_options(command: Command) -> Command:
    """Return the command as ``take_log_options`` does, with --log-rate and --log-gain instead of --rate and --gain."""
    return take_group(command, "log_options", LogOptions, renamed=PREFIXED)


def read_prefixed_logs(
    robot: yt.Robot, logs: Sequence[str], log_options: LogOptions, *, log_option: str
) -> list[yt.Log]:
    """Read the logs of a command with --log-rate and --log-gain; ``log_option`` is the option that names the logs."""
    if not logs:
        _refuse_options(log_options, log_option)
    mappings: Sequence[str | None] = log_options.mapping or [None]
    if len(mappings) not in (1, len(logs)) and logs:
        raise InputError(
            f"there are {len(mappings)} mappings for {len(logs)} logs; give one for all of them, or one for each"
        )
    return [_read(robot, log, mappings[k % len(mappings)], log_options) for k, log in enumerate(logs)]


def _read(robot: yt.Robot, log: str, mapping: str | None, log_options: LogOptions) -> yt.Log:
    try:
        read = yt.read_log(
            log,
            robot,
            mapping=mapping,
            degrees=log_options.degrees,
            rows=parse_rows(log_options.rows),
            rate=log_options.rate,
            gain=parse_gain(log_options.gain),
            topic=log_options.topic,
        )
    except InputError as error:
        raise type(error)(_add_prefixes(str(error))) from None
    findings = (
        replace(finding, statement=_add_prefixes(finding.statement), remedy=_add_prefixes(finding.remedy))
        for finding in read.findings
    )
    return replace(read, findings=tuple(findings))


def _refuse_options(log_options: LogOptions, log_option: str) -> None:
    """Raise InputError if an option of a log is given, since there is no log."""
    for field in fields(LogOptions):
        if getattr(log_options, field.name) != field.default:
            option = f"--{PREFIXED.get(field.name, field.name).replace('_', '-')}"
            raise InputError(f"{option} is about a log, but none is given; name it with {log_option} FILE")


def _add_prefixes(text: str) -> str:
    """Return a message about a log with the names that its options have on this command."""
    return re.sub(r"(?<![\w-])--(rate|gain)\b", r"--log-\1", text)
