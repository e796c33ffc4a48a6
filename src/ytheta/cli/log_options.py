"""Options of commands that read logs: files, column mappings, preparation of the signals."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ytheta.cli.options import print_note
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.logs.reading.read import read_log
from ytheta.robot.robot import Robot

AUTO = "auto"

Mappings = Annotated[
    list[str] | None,
    typer.Option(
        "--mapping",
        metavar="TOML",
        help="Meaning of the columns (docs/logs.md): one mapping for all logs, or one for each.",
    ),
]
Cutoff = Annotated[str, typer.Option(metavar="HZ|auto", help="Cut-off frequency of the low-pass for all signals.")]
Derivative = Annotated[str, typer.Option(metavar="NAME", help="Differentiation of positions: central or spline.")]
AveragePeriods = Annotated[
    str | None,
    typer.Option(
        metavar="SECONDS|auto", help="Period of a periodic motion; its periods are averaged before filtering."
    ),
]
MinSpeed = Annotated[
    str | None,
    typer.Option(metavar="SPEEDS", help="Leave out samples of a joint below this speed: one value, or one per joint."),
]
Threads = Annotated[
    int | None, typer.Option(metavar="N", help="Number of threads; by default the number of processors.")
]
StrictLogs = Annotated[bool, typer.Option("--strict", help="Refuse logs with findings more serious than a note.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print all notes, and expressions in full.")]


def read_logs(
    paths: Sequence[str],
    robot: Robot,
    mappings: Sequence[str] | None,
    *,
    require_torque: bool = True,
    strict: bool,
    verbose: bool,
) -> list[Log]:
    """Read the logs of a command and print the findings on stderr. ``require_torque`` refuses logs without torques."""
    sources: list[str | None] = list(mappings or ())
    if len(sources) not in (0, 1, len(paths)):
        raise InputError(
            f"there are {len(sources)} mappings for {len(paths)} logs; give one for all of them, or one for "
            "each in the order of the logs, validation logs last"
        )
    chosen = sources * len(paths) if len(sources) == 1 else sources or [None] * len(paths)
    logs = []
    for path, mapping in zip(paths, chosen, strict=True):
        log = read_log(path, robot, mapping=mapping, strict=strict)
        if log.tau is None and require_torque:
            raise InputError(next(finding.text for finding in log.findings if finding.code == LogFindingCode.TORQUE))
        print_findings(log.findings, f"{Path(path).name}: " if len(paths) > 1 else "", verbose=verbose)
        logs.append(log)
    return logs


def print_findings(findings: Sequence[Finding], prefix: str = "", *, verbose: bool) -> None:
    """Print findings on stderr; notes are printed only with ``verbose``."""
    for finding in dict.fromkeys(findings):
        if verbose or finding.severity is not Severity.NOTE:
            print_note(f"{prefix}{finding.text}", warning=finding.is_warning)


def parse_preparation(cutoff: str, derivative: str, average_periods: str | None = None) -> PreparationSettings:
    """Parse the options for the preparation of logs."""
    period = None if average_periods is None else _parse_number_or_auto(average_periods, "--average-periods", "seconds")
    return PreparationSettings(_parse_number_or_auto(cutoff, "--cutoff", "Hz"), derivative, average_periods=period)


def parse_speeds(text: str | None, robot: Robot) -> list[float] | None:
    """Parse one speed for each joint, or a single speed that applies to all joints."""
    if text is None:
        return None
    values = [
        _parse_positive(piece, "--min-speed", "speeds in rad/s or m/s, separated by commas")
        for piece in text.split(",")
    ]
    count = len(robot.actuated)
    if len(values) not in (1, count):
        raise InputError(f"--min-speed has {len(values)} speeds for {count} joints; give one for all, or one for each")
    return values if len(values) == count else values * count


@contextmanager
def show_progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step on stderr; it shows nothing if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(f"{text} …")


def _parse_number_or_auto(text: str, option: str, unit: str) -> float | str:
    return (
        AUTO
        if text.strip().lower() == AUTO
        else _parse_positive(text, option, f"a number of {unit}, or auto", minimum=1e-9)
    )


def _parse_positive(text: str, option: str, what: str, *, minimum: float = 0.0) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not minimum <= value < math.inf:
        raise InputError(f"{option} {text!r}: give {what}")
    return value
