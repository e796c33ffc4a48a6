"""Options of commands that read logs: files, column mappings, preparation of the signals."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, overload

import typer

from ytheta.cli.options import print_all_findings
from ytheta.errors import InputError

if TYPE_CHECKING:
    from ytheta.findings import Finding

AUTO = "auto"

Mappings = Annotated[
    list[str] | None,
    typer.Option(
        "--mapping",
        metavar="TOML",
        help="Meaning of the columns: a file with lines such as [columns] q = 'angle{}'; one for all logs, or one for "
        "each.",
    ),
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


def print_findings(findings: Iterable[Finding], *, verbose: bool) -> None:
    """Print findings on stderr, each once; notes are printed only with ``verbose``."""
    print_all_findings(finding for finding in dict.fromkeys(findings) if verbose or finding.severity.value != "note")


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
