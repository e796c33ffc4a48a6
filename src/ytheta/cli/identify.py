"""``ytheta identify ROBOT LOG…``: the model, its standard deviations, its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli import log_options as log_inputs
from ytheta.cli.completion import ESTIMATORS, FORMS, complete_from
from ytheta.cli.options import AsJson, parse_ranges, parse_words, print_note, print_value
from ytheta.cli.outputs import PAGE_SUFFIXES, Force, check_output, check_report
from ytheta.cli.robot_options import (
    RobotArgument,
    RobotOptions,
    UnknownGeometry,
    ZeroParameters,
    read_robot,
    take_robot_options,
)
from ytheta.errors import InputError

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
        help="auto, evidence, weighted, least-squares, sequential, huber, recursive, lin, instrumental-variables or "
        "total-least-squares. auto means evidence.",
        autocompletion=complete_from(*ESTIMATORS),
    ),
]
Forgetting = Annotated[
    float | None,
    typer.Option(
        metavar="FACTOR", help="Forgetting factor per sample, such as 0.999; for recursive and sequential only."
    ),
]
OneByOne = Annotated[
    bool,
    typer.Option(
        "--one-by-one",
        help="Keep the estimate joint by joint of sequential and lin even if its errors grow from joint to joint.",
    ),
]
FormName = Annotated[
    str,
    typer.Option(
        "--form",
        metavar="NAME",
        help="differential, or without accelerations: integral, cumulative, momentum.",
        autocompletion=complete_from(*FORMS),
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
        help="viscous, coulomb, offset, asymmetric, root, load or smooth, separated by commas, or none; by default "
        "viscous,coulomb,offset, and root, load and smooth if the data speak for them.",
    ),
]
RotorInertia = Annotated[
    bool | None,
    typer.Option(
        "--rotor-inertia/--no-rotor-inertia",
        help="Whether to estimate the rotor inertia of every joint; by default the data decide.",
        show_default=False,
    ),
]
PriorFile = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="FILE|none",
        help="Expect the parameters of this model or description instead of those of ROBOT; or use no prior.",
    ),
]
PriorStrength = Annotated[
    float | None,
    typer.Option(
        metavar="X",
        help="Expect a relative deviation of 1/X from the prior, such as 5 for 20 %; by default the data decide.",
    ),
]
AddLoad = Annotated[
    list[str] | None,
    typer.Option(metavar="LINK", help="Estimate an unknown load on this link too; may be given several times."),
]
TotalMass = Annotated[
    str | None,
    typer.Option(metavar="LOWER:UPPER", help="Bounds of the mass of all moving links together, in kg."),
]
Masses = Annotated[
    list[str] | None,
    typer.Option(
        "--mass",
        metavar="LINK=LOWER:UPPER",
        help="Bounds of the mass of a link in kg, such as link2=1:5 or link2=:5; may be given several times.",
    ),
]
Centers = Annotated[
    list[str] | None,
    typer.Option(
        "--center",
        metavar="LINK=X,Y,Z",
        help="Bounds of the centre of mass of a link in m, in its frame, each as LOWER:UPPER; may be given several "
        "times.",
    ),
]
Parameters = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Estimate exactly these: names or patterns such as 'link*,*.fv'."),
]
ReportCutoff = Annotated[
    float | None,
    typer.Option(
        metavar="HZ", help="Also state the errors at this cut-off, to compare them with those of other tools."
    ),
]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="MODEL", help="Write the model to this file (.toml).")
]
Report = Annotated[
    str | None, typer.Option("--report", metavar="HTML", help="Write a report for a browser to this file.")
]


@take_robot_options
@log_inputs.take_log_options
def identify(
    robot: RobotArgument,
    logs: log_inputs.LogArguments,
    validate: Validate = None,
    hold_out: HoldOut = None,
    estimator: EstimatorName = log_inputs.AUTO,
    forgetting: Forgetting = None,
    one_by_one: OneByOne = False,
    form: FormName = "differential",
    friction: Friction = None,
    rotor_inertia: RotorInertia = None,
    parameters: Parameters = None,
    zero: ZeroParameters = None,
    unknown_geometry: UnknownGeometry = False,
    prior: PriorFile = None,
    prior_strength: PriorStrength = None,
    add_load: AddLoad = None,
    total_mass: TotalMass = None,
    mass: Masses = None,
    center: Centers = None,
    window: Window = None,
    cutoff: log_inputs.Cutoff = log_inputs.AUTO,
    derivative: log_inputs.Derivative = "central",
    velocity: log_inputs.Velocity = log_inputs.AUTO,
    average_periods: log_inputs.AveragePeriods = None,
    report_cutoff: ReportCutoff = None,
    min_speed: log_inputs.MinSpeed = log_inputs.AUTO,
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
    """Identify a robot's dynamic model from logs: values, standard deviations, and a verdict.

    If lengths or angles of the robot have no value, the parameters of its regrouped Lagrangian are identified instead.

    The exit code is 1 if the model should not be used: the motion does not excite it enough, or it predicts poorly.

    Example: `ytheta identify ur10e.urdf run1.parquet --validate run2.parquet -o ur10e.model.toml`
    """
    inputs = (robot, *logs, *(validate or ()), *(log_options.mapping or ()), prior)
    check_output(output, (".toml",), inputs, force=force, kind="model")
    check_output(report, PAGE_SUFFIXES, inputs, force=force)
    check_report(report)
    bounds = parse_body_bounds(total_mass, mass, center)
    with log_inputs.show_progress() as report_stage:
        report_stage("reading the robot")
        identification = yt.identify(
            read_robot(robot, robot_options),
            logs,
            validate=validate,
            hold_out=hold_out,
            mapping=log_options.mapping,
            degrees=log_options.degrees,
            rows=log_inputs.parse_rows(log_options.rows),
            rate=log_options.rate,
            gain=log_inputs.parse_gain(log_options.gain),
            topic=log_options.topic,
            estimator=estimator,
            forgetting=forgetting,
            one_by_one=one_by_one,
            form=form,
            friction=None if friction is None else parse_words(friction),
            rotor_inertia=rotor_inertia,
            parameters=None if parameters is None else parse_words(parameters),
            zero=parse_words(zero),
            unknown_geometry=unknown_geometry,
            prior=prior,
            prior_strength=prior_strength,
            add_load=add_load or (),
            bounds=bounds,
            window=window,
            cutoff=log_inputs.parse_number_or_auto(cutoff, "--cutoff", "Hz"),
            derivative=derivative,
            velocity=velocity,
            average_periods=log_inputs.parse_number_or_auto(average_periods, "--average-periods", "seconds"),
            report_cutoff=report_cutoff,
            min_speed=log_inputs.parse_speeds(min_speed),
            threads=threads,
            strict=strict,
            report_stage=report_stage,
        )
        log_inputs.print_findings(identification.findings, verbose=verbose, columns=True)
        if output is not None:
            report_stage("writing the model")
            print_note(f"wrote {identification.save(output)}")
        if report is not None:
            report_stage("writing the report")
            print_note(f"wrote {identification.report(report)}")
    print_value(identification, as_json=as_json, verbose=verbose)
    if not identification.verdict.solved:
        raise typer.Exit(1)


def parse_body_bounds(
    total_mass: str | None, masses: Sequence[str] | None, centers: Sequence[str] | None
) -> yt.BodyBounds | None:
    """Return the bounds of the three options; None if none of them is given."""
    if total_mass is None and not masses and not centers:
        return None
    mass = {link: ranges[0] for link, ranges in _parse_links(masses, "--mass", ("1:5",))}
    center = {
        link: ([lower for lower, _ in ranges], [upper for _, upper in ranges])
        for link, ranges in _parse_links(centers, "--center", ("-0.1:0.1", "0:0.2", "-0.1:0.1"))
    }
    total = None if total_mass is None else parse_ranges(total_mass, "--total-mass", ("20:30",))[0]
    return yt.BodyBounds(mass=mass, center=center, total_mass=total)


def _parse_links(
    texts: Sequence[str] | None, option: str, example: Sequence[str]
) -> Iterator[tuple[str, tuple[tuple[float, float], ...]]]:
    """Yield link and ranges of every ``LINK=RANGES``; a link must not occur twice."""
    known: set[str] = set()
    for text in texts or ():
        link, _, ranges = text.rpartition("=")
        if not link:
            raise InputError(
                f"{option} {text!r}: write a link and its bounds, such as {option} link2={','.join(example)}"
            )
        if link in known:
            raise InputError(f"{option} {text!r}: bounds of {link!r} are given twice; keep one of them")
        known.add(link)
        yield link, parse_ranges(ranges, option, example)
