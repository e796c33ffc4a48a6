"""``ytheta inspect ROBOT``: the tree, joints, parameters, consistency and loops of a description."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.options import AsJson, parse_assignments, print_all_findings, print_value
from ytheta.cli.robot_options import RobotArgument, RobotOptions, Strict, read_robot, take_robot_options

Pose = Annotated[
    list[str] | None,
    typer.Option("--at", metavar="NAME=VALUE", help="Close the loops at this position of an actuated coordinate."),
]


@take_robot_options
def inspect(
    robot: RobotArgument,
    at: Pose = None,
    as_json: AsJson = False,
    strict: Strict = False,
    *,
    robot_options: RobotOptions,
) -> None:
    """Show a robot: its tree, joints, parameters, consistency and loops.

    Example: `ytheta inspect walker --at q5=0.8 --at q7=1.3`
    """
    pose = parse_assignments(at, "--at")
    description = read_robot(robot, robot_options, strict=strict)
    inspection = yt.inspect(description, at=pose)
    print_all_findings((*inspection.pose_findings, *inspection.base_findings))
    print_value(inspection, as_json=as_json)
