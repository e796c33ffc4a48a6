"""``ytheta predict MODEL LOG``: torques from a model, and their errors on a log."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli import log_options as log_inputs
from ytheta.cli.completion import complete_robot
from ytheta.cli.options import AsJson, parse_assignments, print_all_findings, print_note, print_value
from ytheta.cli.outputs import PAGE_SUFFIXES, Force, check_output, check_report
from ytheta.cli.robot_options import RobotOptions, read_robot, take_robot_options

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model written by identify, or any robot with inertias: a name or a file.",
        autocompletion=complete_robot,
    ),
]
Cutoff = Annotated[
    str | None, typer.Option(metavar="HZ|auto", help="Cut-off of the low-pass; by default that of the model's errors.")
]
Derivative = Annotated[
    str | None, typer.Option(metavar="NAME", help="central or spline; by default that of the identification.")
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write t, measured and predicted torques and std: .csv or .parquet."
    ),
]
Report = Annotated[
    str | None, typer.Option("--report", metavar="HTML", help="Write a report for a browser to this file.")
]


@take_robot_options
@log_inputs.take_log_options
def predict(
    model: ModelArgument,
    log: log_inputs.LogArgument,
    cutoff: Cutoff = None,
    derivative: Derivative = None,
    velocity: log_inputs.Velocity = log_inputs.AUTO,
    min_speed: log_inputs.MinSpeed = None,
    threads: log_inputs.Threads = None,
    output: Output = None,
    report: Report = None,
    force: Force = False,
    as_json: AsJson = False,
    verbose: log_inputs.Verbose = False,
    strict: log_inputs.StrictLogs = False,
    *,
    log_options: log_inputs.LogOptions,
    robot_options: RobotOptions,
) -> None:
    """Predict the torques of a log from a model, and compare them with the measured ones.

    Measured and predicted torques pass the same low-pass. Without measured torques there are no errors to print.

    Example: `ytheta predict ur10e.model.toml run3.parquet -o torques.csv`
    """
    mapping = log_options.single_mapping
    check_output(output, (".csv", ".parquet"), (model, log, mapping), force=force, kind="prediction")
    check_output(report, PAGE_SUFFIXES, (model, log, mapping), force=force)
    check_report(report)
    with log_inputs.show_progress() as report_stage:
        described: str | yt.Robot = model
        if robot_options.need_load:
            described, robot_options = read_robot(model, robot_options), RobotOptions()
        prediction = yt.predict(
            described,
            log,
            mapping=mapping,
            degrees=log_options.degrees,
            rows=log_inputs.parse_rows(log_options.rows),
            rate=log_options.rate,
            gain=log_inputs.parse_gain(log_options.gain),
            topic=log_options.topic,
            cutoff=log_inputs.parse_number_or_auto(cutoff, "--cutoff", "Hz"),
            derivative=derivative,
            velocity=velocity,
            min_speed=log_inputs.parse_speeds(min_speed),
            threads=threads,
            strict=strict,
            snap=robot_options.snap,
            fix_base=robot_options.fix_base,
            lengths=parse_assignments(robot_options.length, "--length"),
            angles=parse_assignments(robot_options.angle, "--angle"),
            report_stage=report_stage,
        )
        if described == model:
            print_all_findings(prediction.robot.findings)
        log_inputs.print_findings(prediction.findings, verbose=verbose)
        if output is not None:
            print_note(f"wrote {prediction.save(output)}")
        if report is not None:
            report_stage("writing the report")
            print_note(f"wrote {prediction.report(report)}")
    print_value(prediction, as_json=as_json, verbose=verbose)
