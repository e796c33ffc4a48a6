"""The options of every command that reads a robot: one group, so that no command lacks one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.completion import complete_robot
from ytheta.cli.options import (
    Command,
    parse_assignments,
    parse_locks,
    parse_xacro_arguments,
    print_all_findings,
    take_group,
)
from ytheta.conventions import SNAP

RobotArgument = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="A catalog name; a .urdf, .xacro, .xml (MJCF), .sdf or .toml file; a folder with robot.urdf and "
        "robot.yaml; or rd:NAME of the package robot_descriptions.",
        autocompletion=complete_robot,
    ),
]
Snap = Annotated[
    float,
    typer.Option(metavar="RAD", help="Round angles this close to a multiple of pi/6 to it; 0 keeps them as they are."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse inertias that are not physically consistent.")]
FixBase = Annotated[bool, typer.Option("--fix-base", help="Fix a floating base at its position in the file.")]
FloatingBase = Annotated[
    bool, typer.Option("--floating-base", help="Let the base float, although the file does not say so.")
]
Lengths = Annotated[
    list[str] | None, typer.Option("--length", metavar="NAME=VALUE", help="Set a symbolic length, in metres.")
]
UnknownGeometry = Annotated[
    bool,
    typer.Option("--unknown-geometry", help="Treat all symbolic lengths and angles as unknown, even with values."),
]
ZeroParameters = Annotated[
    str | None,
    typer.Option(
        "--zero",
        metavar="NAMES",
        help="Link parameters that are zero by symmetry, such as 'link1.my,link[34].m[xy]'; they are not estimated.",
    ),
]
Angles = Annotated[
    list[str] | None,
    typer.Option("--angle", metavar="NAME=VALUE", help="Set a symbolic angle, in radians, such as pi/2."),
]

Lock = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE,…",
        help="Fix these joints (names or patterns such as '*finger*') at positions in rad or m; without a value, at "
        "home. Their masses stay.",
    ),
]
XacroArguments = Annotated[
    list[str] | None, typer.Option("--xacro-arg", metavar="NAME=VALUE", help="Set an argument of a .xacro file.")
]
PackagePaths = Annotated[
    list[str] | None,
    typer.Option(
        "--package-path",
        metavar="DIR",
        help="A folder with ROS packages or models of Gazebo, for package://, model:// and $(find …).",
    ),
]
AllowPaths = Annotated[
    list[str] | None,
    typer.Option("--allow-path", metavar="DIR", help="A folder whose files the robot may open beside its own folder."),
]


@dataclass(frozen=True)
class RobotOptions:
    """How the robot of a command is read, as on the command line; the arguments of ``load``."""

    snap: Snap = SNAP
    fix_base: FixBase = False
    floating_base: FloatingBase = False
    length: Lengths = None
    angle: Angles = None
    lock: Lock = None
    xacro_arg: XacroArguments = None
    package_path: PackagePaths = None
    allow_path: AllowPaths = None

    @property
    def need_load(self) -> bool:
        """Whether an option is given that only ``load`` takes, not the functions that also read identified models."""
        return bool(self.floating_base or self.lock or self.xacro_arg or self.package_path or self.allow_path)


def take_robot_options(command: Command) -> Command:
    """Return the command with the options of RobotOptions in place of its argument ``robot_options``."""
    return take_group(command, "robot_options", RobotOptions)


def read_robot(source: str, robot_options: RobotOptions, *, strict: bool = False) -> yt.Robot:
    """Read the robot of a command, and print the reader's findings on stderr."""
    robot = yt.load(
        source,
        snap=robot_options.snap,
        strict=strict,
        fix_base=robot_options.fix_base,
        floating_base=robot_options.floating_base,
        lengths=parse_assignments(robot_options.length, "--length"),
        angles=parse_assignments(robot_options.angle, "--angle"),
        lock=parse_locks(robot_options.lock),
        xacro_args=parse_xacro_arguments(robot_options.xacro_arg),
        package_paths=robot_options.package_path or (),
        allow_paths=robot_options.allow_path or (),
    )
    print_all_findings(robot.findings)
    return robot
