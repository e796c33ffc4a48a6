"""What several commands take: a robot, how to read it, and how to print."""

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
from ytheta.report.printable import printable
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

NOTHING = "none"
WIDE = 120  # columns of a table that goes into a file or a pipe

RobotArgument = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A catalog name, or a .urdf, .xml (MJCF) or .toml file.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Snap = Annotated[
    float, typer.Option(help="Take angles this close to multiples of pi/6 as such; 0 keeps them as they are.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse inertias that no body can have.")]
FixBase = Annotated[bool, typer.Option("--fix-base", help="Let a floating base stand still instead of refusing it.")]
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
    """The robot a command works on; what its reader did and doubted goes to stderr."""
    values = assignments(lengths, "--length")
    robot = load(source, snap=snap, strict=strict, fix_base=fix_base, lengths=values)
    for finding in robot.findings:
        remark(finding.text, warning=finding.is_warning)
    return robot


def remark(text: str, *, warning: bool = False) -> None:
    """Something worth knowing beside the answer, on stderr."""
    sys.stderr.write(f"{'warning' if warning else 'note'}: {printable(text)}\n")


def assignments(texts: Sequence[str] | None, option: str) -> dict[str, float]:
    """``NAME=VALUE`` pairs: every name once, every value finite."""
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
            raise InputError(f"{option} {text!r}: {name!r} was already given as {values[name]:g}; keep one of the two")
        values[name] = value
    return values


def listed(text: str | None) -> tuple[str, ...]:
    """Words with commas between; ``none`` is no word at all, like nothing."""
    words = tuple(word.strip() for word in (text or "").split(",") if word.strip())
    return () if words == (NOTHING,) else words


def print_json(data: object) -> None:
    """One JSON object on stdout; it holds no infinities, which JSON does not know."""
    try:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise InputError("a figure of the answer is not finite; give the robot smaller or larger numbers") from None
    sys.stdout.write(text + "\n")


def console() -> Console:
    """Tables on stdout; colours only where a person looks, and room for tables where nobody does."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDE
    return Console(highlight=False, markup=False, emoji=False, width=width)
