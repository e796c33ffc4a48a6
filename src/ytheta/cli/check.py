"""``ytheta check ROBOT LOG…``: the columns and rows that are used, their conversion and their plausibility."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.log_options import (
    LogArguments,
    LogOptions,
    StrictLogs,
    Verbose,
    parse_gain,
    parse_rows,
    take_log_options,
)
from ytheta.cli.options import AsJson, print_note, print_value
from ytheta.cli.outputs import PAGE_SUFFIXES, Force, check_output, check_report
from ytheta.cli.robot_options import RobotArgument, RobotOptions, read_robot, take_robot_options

Report = Annotated[
    str | None, typer.Option("--report", metavar="HTML", help="Write a report with plots for a browser to this file.")
]


@take_robot_options
@take_log_options
def check(
    robot: RobotArgument,
    logs: LogArguments,
    report: Report = None,
    force: Force = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
    strict: StrictLogs = False,
    *,
    log_options: LogOptions,
    robot_options: RobotOptions,
) -> None:
    """Show which columns of logs are used, how they are converted, and whether they are plausible.

    The exit code is 1 if a log would be refused, and 2 if a file does not exist or an option is wrong.

    Example: `ytheta check ur10e.urdf run1.csv --gain 14.9,13.3,11.1,10.6,11.0,11.5 --rows 600:3500`
    """
    check_output(report, PAGE_SUFFIXES, (robot, *logs, *(log_options.mapping or ())), force=force)
    check_report(report)
    result = yt.check(
        read_robot(robot, robot_options),
        logs,
        mapping=log_options.mapping,
        degrees=log_options.degrees,
        rows=parse_rows(log_options.rows),
        rate=log_options.rate,
        gain=parse_gain(log_options.gain),
        topic=log_options.topic,
        strict=strict,
    )
    if report is not None:
        print_note(f"wrote {result.report(report)}")
    print_value(result, as_json=as_json, verbose=verbose)
    if not result.accepted:
        raise typer.Exit(1)
