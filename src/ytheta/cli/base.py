"""``ytheta base ROBOT``: which combinations of parameters are identifiable."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.completion import BASE_METHODS, complete_from
from ytheta.cli.options import AsJson, parse_words, print_all_findings, print_value
from ytheta.cli.robot_options import (
    RobotArgument,
    RobotOptions,
    UnknownGeometry,
    ZeroParameters,
    read_robot,
    take_robot_options,
)

Method = Annotated[
    str,
    typer.Option(
        help="auto, lin (closed form), ha (regrouped Lagrangian) or qr (numerical rank).",
        metavar="NAME",
        autocompletion=complete_from(*BASE_METHODS),
    ),
]
RotorInertia = Annotated[bool, typer.Option("--rotor-inertia", help="Include the rotor inertia of every drive.")]
Friction = Annotated[
    str,
    typer.Option(
        metavar="KINDS", help="Include friction: viscous, coulomb, offset, root, load, separated by commas; or none."
    ),
]
Parameters = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Select only these standard parameters, such as 'link3.*,*.fv'; all others count as known.",
    ),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Also print the combinations of Theorem 2 of Lin 1995, if the method is lin.")
]


@take_robot_options
def base(
    robot: RobotArgument,
    method: Method = "auto",
    rotor_inertia: RotorInertia = False,
    friction: Friction = "",
    parameters: Parameters = None,
    zero: ZeroParameters = None,
    unknown_geometry: UnknownGeometry = False,
    verbose: Verbose = False,
    as_json: AsJson = False,
    *,
    robot_options: RobotOptions,
) -> None:
    """Print the base parameters: the identifiable combinations of the standard parameters.

    If lengths or angles are unknown, `--method ha` prints the regrouped Lagrangian: functions F and combinations X.

    Example: `ytheta base panda --rotor-inertia`
    """
    description = read_robot(robot, robot_options)
    result = yt.model_parameters(
        description,
        method=method,
        rotor_inertia=rotor_inertia,
        friction=parse_words(friction),
        parameters=parse_words(parameters),
        zero=parse_words(zero),
        unknown_geometry=unknown_geometry,
    )
    print_all_findings(result.findings)
    print_value(result, as_json=as_json, verbose=verbose)
