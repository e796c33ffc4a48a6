"""What commands on logs take: files, their mappings, and how the signals are prepared."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ytheta.cli.options import remark
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.logs.reading.read import read_log
from ytheta.robot.robot import Robot

AUTO = "auto"

Mappings = Annotated[
    list[str] | None,
    typer.Option(
        "--mapping", metavar="TOML", help="What the columns mean (docs/logs.md): one for all logs, or one for each."
    ),
]
Cutoff = Annotated[str, typer.Option(metavar="HZ|auto", help="The low-pass that all signals pass.")]
Derivative = Annotated[str, typer.Option(metavar="NAME", help="How to differentiate: central or spline.")]
AveragePeriods = Annotated[
    str | None, typer.Option(metavar="SECONDS|auto", help="Average repeated periods of this length first.")
]
MinSpeed = Annotated[
    str | None,
    typer.Option(metavar="SPEEDS", help="Leave out joints that move more slowly: one speed, or one for each joint."),
]
Threads = Annotated[int | None, typer.Option(metavar="N", help="How many threads; as many as processors by default.")]
StrictLogs = Annotated[bool, typer.Option("--strict", help="Refuse logs about which there is more than a note to say.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print all notes, and expressions in full.")]


def read_logs(
    paths: Sequence[str],
    robot: Robot,
    mappings: Sequence[str] | None,
    *,
    torque: bool = True,
    strict: bool,
    verbose: bool,
) -> list[Log]:
    """The logs of a command line; what their reader repaired and doubted goes to stderr.

    ``torque``: refuse those without torques.
    """
    given: list[str | None] = list(mappings or ())
    if len(given) not in (0, 1, len(paths)):
        raise InputError(
            f"there are {len(given)} mappings for {len(paths)} logs; give one for all of them, or one for each in the "
            "order of the logs, those to validate last"
        )
    chosen = given * len(paths) if len(given) == 1 else given or [None] * len(paths)
    logs = []
    for path, mapping in zip(paths, chosen, strict=True):
        log = read_log(path, robot, mapping=mapping, strict=strict)
        if log.tau is None and torque:
            raise InputError(next(finding.text for finding in log.findings if finding.code == "torque"))
        tell_findings(log.findings, f"{Path(path).name}: " if len(paths) > 1 else "", verbose=verbose)
        logs.append(log)
    return logs


def tell_findings(findings: Sequence[Finding], before: str = "", *, verbose: bool) -> None:
    """Doubts and repairs on stderr; plain notes only for those who want to know all."""
    for finding in dict.fromkeys(findings):
        if verbose or finding.severity is not Severity.NOTE:
            remark(f"{before}{finding.text}", warning=finding.is_warning)


def preparation(cutoff: str, derivative: str, average_periods: str | None = None) -> PreparationSettings:
    """How to prepare the logs, from the words of the command line."""
    period = None if average_periods is None else _number_or_auto(average_periods, "--average-periods", "seconds")
    return PreparationSettings(_number_or_auto(cutoff, "--cutoff", "Hz"), derivative, average_periods=period)


def speeds(text: str | None, robot: Robot) -> list[float] | None:
    """One speed for each joint; one alone is for all of them."""
    if text is None:
        return None
    values = [_positive(piece, "--min-speed", "speeds with commas between, in rad/s or m/s") for piece in text.split(",")]
    count = len(robot.actuated)
    if len(values) not in (1, count):
        raise InputError(f"--min-speed has {len(values)} speeds for {count} joints; give one for all, or one for each")
    return values if len(values) == count else values * count


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Something to tell what is being done; it shows on stderr while a person looks."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(f"{text} …")


def _number_or_auto(text: str, option: str, unit: str) -> float | str:
    return AUTO if text.strip().lower() == AUTO else _positive(text, option, f"a number of {unit}, or auto", least=1e-9)


def _positive(text: str, option: str, what: str, *, least: float = 0.0) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value < math.inf:
        raise InputError(f"{option} {text!r}: give {what}")
    return value
