"""How commands parse the values of options, how they share groups of options, and how they print."""

from __future__ import annotations

import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from ytheta.display import Displayed, find_view
from ytheta.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from ytheta.findings import Finding

NONE_KEYWORD = "none"
PIPE_WIDTH = 120  # characters per line, if the output goes to a file or a pipe

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def print_all_findings(findings: Iterable[Finding]) -> None:
    """Print findings on stderr, notes too."""
    for finding in findings:
        print_note(finding.text, warning=finding.is_warning)


def print_note(text: str, *, warning: bool = False) -> None:
    """Print a note or a warning on stderr."""
    from ytheta.report.terminal import escape_control_characters

    sys.stderr.write(f"{'warning' if warning else 'note'}: {escape_control_characters(text)}\n")


def parse_assignments(texts: Sequence[str] | None, option: str) -> dict[str, float]:
    """Parse ``NAME=VALUE`` pairs. Raise InputError if a name is repeated or a value is not finite."""
    values: dict[str, float] = {}
    for text in texts or ():
        name, _, number = (piece.strip() for piece in text.partition("="))
        value = _parse_number(number)
        if not name or not math.isfinite(value):
            hint = "; --unknown-geometry leaves all lengths and angles without values" if number == "unset" else ""
            example = f"{option} {name or 'q1'}=0.5"
            raise InputError(f"{option} {text!r}: write NAME=NUMBER with a finite number, such as {example}{hint}")
        if name in values:
            raise InputError(f"{option} {text!r}: {name!r} was already set to {values[name]:g}; keep one of the two")
        values[name] = value
    return values


def parse_locks(texts: Sequence[str] | None) -> dict[str, float | None]:
    """Parse ``NAME=VALUE`` and ``NAME``, separated by commas; a name without value stands for the home position."""
    for text in texts or ():
        if not text.replace(",", "").strip():
            raise InputError(
                f"--lock {text!r}: no joint is named; write NAME or NAME=VALUE, such as --lock '*finger*=0'"
            )
    pieces = [piece for text in texts or () for piece in parse_words(text)]
    values: dict[str, float | None] = dict(parse_assignments([piece for piece in pieces if "=" in piece], "--lock"))
    for name in (piece for piece in pieces if "=" not in piece):
        if name in values:
            raise InputError(f"--lock {name!r}: this joint is named twice; keep one of the two")
        values[name] = None
    return values


def parse_xacro_arguments(texts: Sequence[str] | None) -> dict[str, str]:
    """Parse ``NAME=VALUE``, or ``NAME:=VALUE`` as for ROS. Raise InputError if a name is missing or repeated."""
    values: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        name = name.removesuffix(":").strip()
        if not name or not equals:
            raise InputError(f"--xacro-arg {text!r}: write NAME=VALUE, such as --xacro-arg hand=true")
        if name in values:
            raise InputError(f"--xacro-arg {text!r}: {name!r} was already given; keep one of the two")
        values[name] = value.strip()
    return values


def _parse_number(text: str) -> float:
    """Return a number, which may be written as ``-pi/2``; nan if the text is not a number."""
    try:
        return float(text)
    except ValueError:
        from ytheta.files.symbols import parse_scalar, to_number

        try:
            return to_number(parse_scalar(text, frozenset()), {})
        except InputError:
            return math.nan


def parse_words(text: str | None) -> tuple[str, ...]:
    """Parse words separated by commas; ``none`` and an empty text contain no words."""
    words = tuple(word.strip() for word in (text or "").split(",") if word.strip())
    return () if words == (NONE_KEYWORD,) else words


def parse_ranges(text: str, option: str, example: Sequence[str]) -> tuple[tuple[float, float], ...]:
    """Parse as many ranges LOWER:UPPER as in the example, separated by commas; a side without number is not bounded."""
    ranges = tuple(_parse_range(piece) for piece in text.split(","))
    if len(ranges) != len(example) or not all(lower <= upper for lower, upper in ranges):
        numbers = "LOWER:UPPER" if len(example) == 1 else f"{len(example)} times LOWER:UPPER, separated by commas"
        raise InputError(f"{option} {text!r}: write {numbers}, the lower number first, such as {','.join(example)}")
    return ranges


def _parse_range(text: str) -> tuple[float, float]:
    """Return both numbers of LOWER:UPPER; nan if a text is not a number."""
    lower, colon, upper = (piece.strip() for piece in text.partition(":"))
    if not colon:
        return math.nan, math.nan
    return _parse_number(lower) if lower else -math.inf, _parse_number(upper) if upper else math.inf


def print_value(value: Displayed, *, as_json: bool, verbose: bool = False) -> None:
    """Print a value on stdout, as tables or as one JSON object. Only some tables can be printed in full (verbose)."""
    if as_json:
        print_json(value.to_dict())
    else:
        options = {"verbose": True} if verbose else {}
        find_view(value).print(make_console(), value, **options)


# Control characters (C1), line separators, and characters that change the direction of text: JSON need not escape them.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def print_json(data: object) -> None:
    """Print one JSON object on stdout. Raise InputError if the object contains a number that is not finite."""
    import json

    try:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise InputError(
            "a number of the result is not finite; check the magnitudes of the robot's parameters"
        ) from None
    sys.stdout.write(_UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")


def make_console() -> Console:
    """Return a console on stdout, with colours if stdout is a terminal, and with a fixed width otherwise."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(highlight=False, markup=False, emoji=False, width=width)


# Groups of options that several commands share, so that no command lacks one of them.


Command = Callable[..., None]


def take_group(
    command: Command, argument: str, group: type[Any], *, renamed: Mapping[str, str] | None = None
) -> Command:
    """Return the command with the options of a group in place of its argument with this name.

    ``group`` is a dataclass, whose fields are options. ``renamed`` gives fields another name on the command line.
    """
    names = {field.name: (renamed or {}).get(field.name, field.name) for field in fields(group)}
    hints = get_type_hints(group, include_extras=True)

    @wraps(command)
    def run(**arguments: Any) -> None:
        options = group(**{field: arguments.pop(name) for field, name in names.items()})
        command(**arguments, **{argument: options})

    signature = inspect.signature(command, eval_str=True)
    kept = [parameter for name, parameter in signature.parameters.items() if name != argument]
    last = [parameter for parameter in kept if parameter.kind is inspect.Parameter.KEYWORD_ONLY]  # of other groups
    added = [
        inspect.Parameter(
            names[field.name],
            kept[0].kind,
            default=field.default,
            annotation=_rename(hints[field.name], field.name, names[field.name]),
        )
        for field in fields(group)
    ]
    parameters = [*(parameter for parameter in kept if parameter not in last), *added, *last]
    # Typer reads both to find the options.
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _rename(annotation: Any, field: str, name: str) -> Any:
    """Return the annotation of an option with another name on the command line."""
    if field == name:
        return annotation
    kind, option = get_args(annotation)
    return Annotated[kind, typer.Option(f"--{name.replace('_', '-')}", metavar=option.metavar, help=option.help)]
