"""``ytheta view ROBOT``: the robot in 3-D in the browser."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.interrupts import finish_after_interruption
from ytheta.cli.log_options import LogOptions, Verbose, parse_gain, parse_rows, print_findings, take_log_options
from ytheta.cli.options import AsJson, print_json
from ytheta.cli.robot_options import RobotArgument, RobotOptions, read_robot, take_robot_options

LogOption = Annotated[str | None, typer.Option(metavar="LOG", help="Play the recorded motion of this log.")]
TrajectoryOption = Annotated[
    str | None, typer.Option(metavar="TOML", help="Play this trajectory, which excite wrote as TOML.")
]
Port = Annotated[int, typer.Option(metavar="N", help="Port on this machine; the next free one if it is in use.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Do not open the browser; print the address only.")]


@take_robot_options
@take_log_options
def view(
    robot: RobotArgument,
    log: LogOption = None,
    trajectory: TrajectoryOption = None,
    port: Port = 8080,
    no_open: NoOpen = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
    *,
    log_options: LogOptions,
    robot_options: RobotOptions,
) -> None:
    """Show a robot in 3-D in the browser: inertia ellipsoids, collision capsules, sliders for the joints.

    Only this machine can open the page. Ctrl-C ends the command.

    Example: `ytheta view ur10e.model.toml --log run.parquet`
    """
    loaded = read_robot(robot, robot_options)
    viewer = yt.view(
        loaded,
        log=log,
        mapping=log_options.single_mapping,
        degrees=log_options.degrees,
        rows=parse_rows(log_options.rows),
        rate=log_options.rate,
        gain=parse_gain(log_options.gain),
        topic=log_options.topic,
        trajectory=trajectory,
        port=port,
    )
    with finish_after_interruption():
        try:
            print_findings(viewer.findings, verbose=verbose)
            if as_json:
                print_json({"address": viewer.address, "robot": loaded.name, "joints": list(loaded.actuated)})
            else:
                typer.echo(f"{viewer.address} shows {loaded.name}; press Ctrl-C to end")
            sys.stdout.flush()
            if not no_open:
                typer.launch(viewer.address)
            viewer.run()
        except KeyboardInterrupt:
            pass
        finally:
            viewer.stop()
