"""``ytheta bench [ROBOT]``: speed beside that of installed peers."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.completion import complete_robot
from ytheta.cli.log_options import show_progress
from ytheta.cli.options import AsJson, print_value
from ytheta.cli.robot_options import RobotOptions, read_robot, take_robot_options

RobotArgument = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A name or a file; by default ur10.", autocompletion=complete_robot)
]
Samples = Annotated[int, typer.Option(metavar="N", help="Number of states of one call.")]
Repeats = Annotated[int, typer.Option(metavar="N", help="Repetitions, of which the shortest time counts.")]


@take_robot_options
def bench(
    robot: RobotArgument = "ur10",
    samples: Samples = 1024,
    repeats: Repeats = 7,
    as_json: AsJson = False,
    *,
    robot_options: RobotOptions,
) -> None:
    """Measure the speed of dynamics beside that of Pinocchio and MuJoCo, as far as they are installed.

    Values are compared before times are measured.

    Example: `ytheta bench panda --samples 4096`
    """
    with show_progress() as report_stage:
        benchmark = yt.bench(
            read_robot(robot, robot_options), samples=samples, repeats=repeats, report_stage=report_stage
        )
    print_value(benchmark, as_json=as_json)
