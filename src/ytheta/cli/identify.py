"""``ytheta identify ROBOT LOG…``: the model, its standard deviations, its verdict."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.log_options import (
    AUTO,
    AveragePeriods,
    Cutoff,
    Derivative,
    Mappings,
    MinSpeed,
    StrictLogs,
    Threads,
    Verbose,
    parse_number_or_auto,
    parse_speeds,
    print_findings,
    show_progress,
)
from ytheta.cli.options import (
    Angles,
    AsJson,
    FixBase,
    Lengths,
    RobotArgument,
    Snap,
    UnknownGeometry,
    parse_words,
    print_note,
    print_value,
    read_robot,
)
from ytheta.cli.outputs import PAGE_SUFFIXES, check_output, check_report
from ytheta.conventions import SNAP

LogArguments = Annotated[
    list[str], typer.Argument(metavar="LOG", help="Recorded motion: CSV, Parquet, NPZ or ROS bag.")
]
Validate = Annotated[
    list[str] | None,
    typer.Option(metavar="LOG", help="Validate the model on this log of other motion; may be given several times."),
]
HoldOut = Annotated[
    float | None,
    typer.Option(metavar="PERCENT", help="Hold out this percentage at the end of the log, and validate on it."),
]
EstimatorName = Annotated[
    str,
    typer.Option(
        "--estimator",
        metavar="NAME",
        help="auto, weighted, least-squares, sequential, huber, recursive, lin, instrumental-variables or "
        "total-least-squares.",
    ),
]
Forgetting = Annotated[
    float | None,
    typer.Option(
        metavar="FACTOR", help="Forgetting factor per sample, such as 0.999; for recursive and sequential only."
    ),
]
FormName = Annotated[
    str,
    typer.Option(
        "--form", metavar="NAME", help="differential, or without accelerations: integral, cumulative, momentum."
    ),
]
Window = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Length of the windows; for the integral and the cumulative form only."),
]
Friction = Annotated[
    str | None,
    typer.Option(
        metavar="KINDS",
        help="viscous, coulomb, offset or asymmetric, separated by commas, or none; by default viscous,coulomb,offset.",
    ),
]
RotorInertia = Annotated[bool, typer.Option("--rotor-inertia", help="Estimate the rotor inertia of every joint too.")]
Parameters = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Estimate exactly these: names or patterns such as 'link*,*.fv'."),
]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="MODEL", help="Write the model to this file (.toml).")
]
Report = Annotated[
    str | None, typer.Option("--report", metavar="HTML", help="Write a report for a browser to this file.")
]


def identify(
    robot: RobotArgument,
    logs: LogArguments,
    validate: Validate = None,
    hold_out: HoldOut = None,
    mapping: Mappings = None,
    estimator: EstimatorName = AUTO,
    forgetting: Forgetting = None,
    form: FormName = "differential",
    friction: Friction = None,
    rotor_inertia: RotorInertia = False,
    parameters: Parameters = None,
    unknown_geometry: UnknownGeometry = False,
    window: Window = None,
    cutoff: Cutoff = AUTO,
    derivative: Derivative = "central",
    average_periods: AveragePeriods = None,
    min_speed: MinSpeed = None,
    threads: Threads = None,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    strict: StrictLogs = False,
    snap: Snap = SNAP,
    fix_base: FixBase = False,
    length: Lengths = None,
    angle: Angles = None,
) -> None:
    """Identify a robot's dynamic model from logs: values, standard deviations, and a verdict.

    If lengths or angles of the robot have no value, the parameters of its regrouped Lagrangian are identified instead.

    The exit code is 1 if the model should not be used: the motion does not excite it enough, or it predicts poorly.

    Example: `ytheta identify ur10e.urdf run1.parquet --validate run2.parquet --rotor-inertia -o ur10e.model.toml`
    """
    inputs = (robot, *logs, *(validate or ()), *(mapping or ()))
    check_output(output, (".toml",), inputs)
    check_output(report, PAGE_SUFFIXES, inputs)
    check_report(report)
    with show_progress() as report_stage:
        report_stage("reading the robot")
        identification = yt.identify(
            read_robot(robot, snap=snap, fix_base=fix_base, lengths=length, angles=angle),
            logs,
            validate=validate,
            hold_out=hold_out,
            mapping=mapping,
            estimator=estimator,
            forgetting=forgetting,
            form=form,
            friction=None if friction is None else parse_words(friction),
            rotor_inertia=rotor_inertia,
            parameters=None if parameters is None else parse_words(parameters),
            unknown_geometry=unknown_geometry,
            window=window,
            cutoff=parse_number_or_auto(cutoff, "--cutoff", "Hz"),
            derivative=derivative,
            average_periods=parse_number_or_auto(average_periods, "--average-periods", "seconds"),
            min_speed=parse_speeds(min_speed),
            threads=threads,
            strict=strict,
            report_stage=report_stage,
        )
        print_findings(identification.findings, verbose=verbose)
        if output is not None:
            report_stage("writing the model")
            print_note(f"wrote {identification.save(output)}")
        if report is not None:
            report_stage("writing the report")
            print_note(f"wrote {identification.report(report)}")
    print_value(identification, as_json=as_json, verbose=verbose)
    if not identification.verdict.solved:
        raise typer.Exit(1)
