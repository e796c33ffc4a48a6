"""``ytheta base ROBOT``: which combinations of parameters are identifiable."""

from __future__ import annotations

from typing import Annotated

import typer

from ytheta.cli.options import (
    AsJson,
    FixBase,
    Lengths,
    RobotArgument,
    Snap,
    make_console,
    parse_words,
    print_json,
    print_note,
    read_robot,
)
from ytheta.conventions import SNAP
from ytheta.identifiability.registry import base_parameters
from ytheta.report.base_parameters.summary import summarize_base_parameters
from ytheta.report.base_parameters.text import print_base_parameters

# Ratio of the smallest singular value that counts for the rank to the largest that does not. A smaller ratio leaves the
# rank in doubt.
MIN_GAP = 1e3

Method = Annotated[
    str, typer.Option(help="auto, lin (closed form), ha (regrouped Lagrangian) or qr (numerical rank).", metavar="NAME")
]
RotorInertia = Annotated[bool, typer.Option("--rotor-inertia", help="Include the rotor inertia of every joint.")]
Friction = Annotated[
    str, typer.Option(metavar="KINDS", help="Include friction: viscous, coulomb, offset, separated by commas.")
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
    """Print the base parameters: the identifiable combinations of the standard parameters.

    Example: `ytheta base panda --rotor-inertia`
    """
    model = read_robot(robot, snap=snap, fix_base=fix_base, lengths=length)
    parameters = base_parameters(model, method=method, rotor_inertia=rotor_inertia, friction=parse_words(friction))
    if parameters.gap is not None and parameters.gap[0] < MIN_GAP * parameters.gap[1]:
        counted, left_out = parameters.gap
        print_note(
            f"the number of base parameters is not certain: the smallest singular value that counts is {counted:.1e}, "
            f"the largest that does not is {left_out:.1e}; rounded angles or lengths in the description cause this",
            warning=True,
        )
    data = summarize_base_parameters(parameters)
    if as_json:
        print_json(data)
    else:
        print_base_parameters(make_console(), parameters, data)
