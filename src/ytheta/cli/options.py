"""What several commands take: a robot, how to read it, and how to print."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.robot.load import load
from ytheta.robot.robot import Robot

RobotArgument = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A catalog name, or a .urdf, .xml (MJCF) or .toml file.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Snap = Annotated[
    float, typer.Option(min=0.0, help="Take angles this close to multiples of pi/6 as such; 0 keeps them as they are.")
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
    robot = load(source, snap=snap, strict=strict, fix_base=fix_base)
    for note in robot.notes:
        sys.stderr.write(f"{'warning' if note.warning else 'note'}: {note.text}\n")
    return robot.with_lengths(**assignments(lengths, "--length"))


def assignments(texts: Sequence[str] | None, option: str) -> dict[str, float]:
    """``NAME=VALUE`` pairs."""
    values = {}
    for text in texts or ():
        name, equals, number = text.partition("=")
        try:
            values[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"{option} {text!r}: write NAME=NUMBER, such as {option} q1=0.5")
    return values


def print_json(data: object) -> None:
    """One JSON object on stdout; infinities, which JSON does not know, become null."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def console() -> Console:
    """Tables on stdout; colours only where a person looks."""
    return Console(highlight=False)
