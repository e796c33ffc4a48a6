"""Options that several commands share: the robot, how to read the robot, and how to print."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.report.terminal import escape_control_characters
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

NONE_KEYWORD = "none"
PIPE_WIDTH = 120  # characters per line, if the output goes to a file or a pipe

RobotArgument = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A catalog name, or a .urdf, .xml (MJCF) or .toml file.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Snap = Annotated[
    float, typer.Option(help="Round angles this close to a multiple of pi/6 to it; 0 keeps them as they are.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse inertias that are not physically consistent.")]
FixBase = Annotated[bool, typer.Option("--fix-base", help="Fix a floating base instead of refusing it.")]
Lengths = Annotated[
    list[str] | None, typer.Option("--length", metavar="NAME=VALUE", help="Set a symbolic length, in metres.")
]


def read_robot(
    source: str,
    *,
    snap: float = SNAP,
    strict: bool = False,
    fix_base: bool = False,
    lengths: Sequence[str] | None = None,
) -> Robot:
    """Read the robot of a command, and print the reader's findings on stderr."""
    values = parse_assignments(lengths, "--length")
    robot = load(source, snap=snap, strict=strict, fix_base=fix_base, lengths=values)
    for finding in robot.findings:
        print_note(finding.text, warning=finding.is_warning)
    return robot


def print_note(text: str, *, warning: bool = False) -> None:
    """Print a note or a warning on stderr."""
    sys.stderr.write(f"{'warning' if warning else 'note'}: {escape_control_characters(text)}\n")


def parse_assignments(texts: Sequence[str] | None, option: str) -> dict[str, float]:
    """Parse ``NAME=VALUE`` pairs. Raise InputError if a name is repeated or a value is not finite."""
    values: dict[str, float] = {}
    for text in texts or ():
        name, _, number = (piece.strip() for piece in text.partition("="))
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not name or not math.isfinite(value):
            raise InputError(f"{option} {text!r}: write NAME=NUMBER with a finite number, such as {option} q1=0.5")
        if name in values:
            raise InputError(f"{option} {text!r}: {name!r} was already set to {values[name]:g}; keep one of the two")
        values[name] = value
    return values


def parse_words(text: str | None) -> tuple[str, ...]:
    """Parse words separated by commas; ``none`` and an empty text contain no words."""
    words = tuple(word.strip() for word in (text or "").split(",") if word.strip())
    return () if words == (NONE_KEYWORD,) else words


def print_json(data: object) -> None:
    """Print one JSON object on stdout. Raise InputError if the object contains a number that is not finite."""
    try:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise InputError(
            "a number of the result is not finite; check the magnitudes of the robot's parameters"
        ) from None
    sys.stdout.write(text + "\n")


def make_console() -> Console:
    """Return a console on stdout, with colours if stdout is a terminal, and with a fixed width otherwise."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(highlight=False, markup=False, emoji=False, width=width)
