"""``ytheta export MODEL --to FORMAT -o PATH``: the model in the formats of controllers and simulators."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.completion import FORMATS, complete_from, complete_robot
from ytheta.cli.options import (
    AsJson,
    parse_assignments,
    parse_words,
    parse_xacro_arguments,
    print_all_findings,
    print_json,
    print_note,
)
from ytheta.cli.robot_options import RobotOptions, read_robot, take_robot_options

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model written by identify, or any robot with inertias: a name or a file.",
        autocompletion=complete_robot,
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="FORMAT",
        help="c, casadi, urdf, mjcf, toml, franka-load, ur-payload, friction-table, mujoco-actuators or "
        "isaac-actuators.",
        autocompletion=complete_from(*FORMATS),
    ),
]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="PATH", help="The file to write; for c, the folder to create.")
]
Description = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="urdf, mjcf: keep everything of this file except inertias and friction; by default the file beside the "
        "model from which it was identified.",
    ),
]
Load = Annotated[
    str | None, typer.Option(metavar="LINK", help="franka-load, ur-payload: the load; by default the only one.")
]
Flange = Annotated[
    str | None,
    typer.Option(metavar="FRAME", help="franka-load, ur-payload: the flange; by default *link8 (Franka), *tool0 (UR)."),
]
Precision = Annotated[str, typer.Option(metavar="TYPE", help="c: double or float.")]
Parameters = Annotated[
    str, typer.Option(metavar="MODE", help="c, casadi: baked (values in the code) or passed (arguments).")
]
Functions = Annotated[
    str, typer.Option(metavar="NAMES", help="c, casadi: functions, separated by commas; by default all.")
]
Controllers = Annotated[
    str, typer.Option(metavar="NAMES", help="c: controllers, such as computed-torque, separated by commas.")
]
Rate = Annotated[float, typer.Option(metavar="HZ", help="c: steps of the controllers per second.")]
Name = Annotated[
    str | None, typer.Option(metavar="PREFIX", help="c: prefix of all names; by default the robot's name.")
]
Trigonometry = Annotated[str, typer.Option(metavar="NAME", help="c: own (sine and cosine without a library) or libm.")]
BaseOrientation = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="c, casadi: of a floating base, as rotation-vector, quaternion or gravity (in base axes)."
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite existing files, and export models that are inconsistent or graded bad."),
]


@take_robot_options
def export(
    model: ModelArgument,
    to: Format,
    output: Output,
    description: Description = None,
    load: Load = None,
    flange: Flange = None,
    precision: Precision = "double",
    parameters: Parameters = "baked",
    functions: Functions = "",
    controllers: Controllers = "",
    rate: Rate = 1000.0,
    name: Name = None,
    trigonometry: Trigonometry = "own",
    base_orientation: BaseOrientation = "rotation-vector",
    force: Force = False,
    as_json: AsJson = False,
    *,
    robot_options: RobotOptions,
) -> None:
    """Write a model or a robot in the format of a controller or a simulator.

    Files appear whole or not at all. What the format cannot express is named. The paths of the files are printed.

    Example: `ytheta export ur10e.model.toml --to urdf -o ur10e_identified.urdf --description ur10e.urdf`
    """
    from ytheta.exporting.export import export_source, find_leftovers, find_losses, make_options
    from ytheta.exporting.source import find_source

    settings = {
        "load": load,
        "flange": flange,
        "precision": precision if precision != "double" else None,
        "parameters": parameters if parameters != "baked" else None,
        "functions": parse_words(functions) or None,
        "controllers": parse_words(controllers) or None,
        "rate": rate if rate != 1000.0 else None,
        "name": name,
        "trigonometry": trigonometry if trigonometry != "own" else None,
        "base_orientation": base_orientation if base_orientation != "rotation-vector" else None,
    }
    options = make_options(to, {key: value for key, value in settings.items() if value is not None})
    described: str | yt.Robot = model
    whole = bool(robot_options.lock or robot_options.allow_path)  # options that only ``load`` takes
    if whole:
        described = read_robot(model, robot_options)
    source = find_source(
        described,
        description=description,
        force=force,
        force_option="--force",
        snap=robot_options.snap,
        fix_base=robot_options.fix_base and not whole,
        floating_base=robot_options.floating_base and not whole,
        lengths=parse_assignments(robot_options.length, "--length"),
        angles=parse_assignments(robot_options.angle, "--angle"),
        xacro_args=parse_xacro_arguments(robot_options.xacro_arg),
        package_paths=robot_options.package_path or (),
    )
    losses = find_losses(source, to=to, path=output)
    leftovers = find_leftovers(source, to=to, path=output, options=options) if force else ()
    files = export_source(source, to=to, path=output, options=options, force=force, force_option="--force")
    print_all_findings(losses)
    if leftovers:
        print_note(f"removed {', '.join(map(str, leftovers))}, which an export under another name had written")
    if as_json:
        print_json({"format": to, "files": [str(file) for file in files], "findings": [loss.data for loss in losses]})
    else:
        for file in files:
            typer.echo(file)
