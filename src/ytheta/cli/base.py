"""``ytheta base ROBOT``: which parameters can be known at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from ytheta.cli.options import (
    AsJson,
    FixBase,
    Lengths,
    RobotArgument,
    Snap,
    console,
    print_json,
    read_robot,
    remark,
)
from ytheta.conventions import SNAP
from ytheta.identifiability.base_parameters import BaseParameters, Verdict
from ytheta.identifiability.registry import base_parameters
from ytheta.report.printable import printable

# Where something that does not count is seen this well, compared with what does, the count is a matter of taste.
NARROW_GAP = 1e3
ROUNDING = 1e-13

Method = Annotated[
    str, typer.Option(help="auto, lin (closed form), ha (regrouped Lagrangian) or qr (numerical rank).", metavar="NAME")
]
RotorInertia = Annotated[bool, typer.Option("--rotor-inertia", help="Ask about the rotor inertia of every joint too.")]
Friction = Annotated[
    str, typer.Option(metavar="KINDS", help="Ask about friction too: viscous, coulomb, offset, with commas between.")
]


def base(
    robot: RobotArgument,
    method: Method = "auto",
    rotor_inertia: RotorInertia = False,
    friction: Friction = "",
    as_json: AsJson = False,
    snap: Snap = SNAP,
    fix_base: FixBase = False,
    length: Lengths = None,
) -> None:
    """Say which parameters can be known at all: the base parameters, as combinations of the standard ones.

    Example: `ytheta base panda --rotor-inertia`
    """
    model = read_robot(robot, snap=snap, fix_base=fix_base, lengths=length)
    kinds = [kind.strip() for kind in friction.split(",") if kind.strip()]
    found = base_parameters(model, method=method, rotor_inertia=rotor_inertia, friction=kinds)
    if found.gap is not None and found.gap[0] < NARROW_GAP * found.gap[1]:
        counted, left_out = found.gap
        remark(
            f"the count is not clear-cut: a combination seen with {counted:.1e} counts, one with {left_out:.1e} does "
            "not; rounded angles or lengths in the description make such cases",
            warning=True,
        )
    data = answer(found)
    if as_json:
        print_json(data)
    else:
        _print(found, data)


def answer(found: BaseParameters) -> dict[str, Any]:
    """The base parameters as plain data; values are those of the description, None where a length is not set."""
    values = found.beta.tolist() if not found.robot.unset_lengths else [None] * len(found)
    return {
        "name": found.robot.name,
        "count": len(found),
        "method": found.method,
        "standard_parameters": len(found.asked),
        "parameters": [
            {"name": name, "expression": expression, "value": value}
            for name, expression, value in zip(found.names, found.expressions, values, strict=True)
        ],
        "verdicts": {name: verdict.value for name, verdict in found.verdicts.items()},
        "gap": list(found.gap) if found.gap else None,
    }


def _print(found: BaseParameters, data: dict[str, Any]) -> None:
    out = console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("base parameter", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("combination of standard parameters", overflow="fold")
    for row, size in zip(data["parameters"], _sizes(found), strict=True):
        value = "?" if row["value"] is None else "0" if abs(row["value"]) < ROUNDING * size else f"{row['value']:.5g}"
        table.add_row(*(Text(printable(words)) for words in (row["name"], value, row["expression"])))
    out.print(table)
    for line in _last_words(found):
        out.print(Text(printable(line)))


def _sizes(found: BaseParameters) -> list[float]:
    """What goes into each base parameter, signs left out: a value far below is the rounding of a zero."""
    if found.robot.unset_lengths:
        return [0.0] * len(found)
    sizes: list[float] = (abs(found.K) @ abs(found.robot.theta)).tolist()
    return sizes


def _last_words(found: BaseParameters) -> Iterator[str]:
    for verdict in Verdict:
        names = [name for name, given in found.verdicts.items() if given is verdict]
        yield f"{verdict.value}: {', '.join(names) or 'nothing'}"
    gap = ""
    if found.gap is not None:
        gap = f"; seen at least {found.gap[0]:.1e}, all else at most {found.gap[1]:.1e}"
    robot = found.robot.name
    yield f"{robot}: {len(found)} base parameters of {len(found.asked)} standard ones (method {found.method}{gap})"
