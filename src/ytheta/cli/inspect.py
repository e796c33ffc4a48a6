"""``ytheta inspect ROBOT``: the tree, joints, parameters, consistency and loops of a description."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.options import (
    AllowPaths,
    Angles,
    AsJson,
    FixBase,
    FloatingBase,
    Lengths,
    Lock,
    PackagePaths,
    RobotArgument,
    Snap,
    Strict,
    XacroArguments,
    parse_assignments,
    print_all_findings,
    print_value,
    read_robot,
)
from ytheta.conventions import SNAP

Pose = Annotated[
    list[str] | None,
    typer.Option("--at", metavar="NAME=VALUE", help="Close the loops at this position of an actuated coordinate."),
]


def inspect(
    robot: RobotArgument,
    at: Pose = None,
    as_json: AsJson = False,
    snap: Snap = SNAP,
    strict: Strict = False,
    fix_base: FixBase = False,
    floating_base: FloatingBase = False,
    length: Lengths = None,
    angle: Angles = None,
    lock: Lock = None,
    xacro_arg: XacroArguments = None,
    package_path: PackagePaths = None,
    allow_path: AllowPaths = None,
) -> None:
    """Show a robot: its tree, joints, parameters, consistency and loops.

    Example: `ytheta inspect walker --at q5=0.8 --at q7=1.3`
    """
    pose = parse_assignments(at, "--at")
    description = read_robot(
        robot,
        snap=snap,
        strict=strict,
        fix_base=fix_base,
        floating_base=floating_base,
        lengths=length,
        angles=angle,
        lock=lock,
        xacro_args=xacro_arg,
        package_paths=package_path,
        allow_paths=allow_path,
    )
    inspection = yt.inspect(description, at=pose)
    print_all_findings(inspection.pose_findings)
    print_value(inspection, as_json=as_json)
