"""``ytheta identify ROBOT LOG…``: the model, its standard deviations, its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

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
    parse_preparation,
    parse_speeds,
    print_findings,
    read_logs,
    show_progress,
)
from ytheta.cli.options import (
    AsJson,
    FixBase,
    Lengths,
    RobotArgument,
    Snap,
    make_console,
    parse_words,
    print_json,
    print_note,
    read_robot,
)
from ytheta.cli.outputs import PAGE_SUFFIXES, check_output, load_report_writer
from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.identification.estimators.estimate import Estimator
from ytheta.identification.estimators.recursive import Recursive
from ytheta.identification.estimators.registry import get_estimator
from ytheta.identification.identify import FRICTION
from ytheta.identification.identify import identify as identify_robot
from ytheta.identification.model_file import SUFFIX, save_model
from ytheta.logs.log import Log
from ytheta.report.identification.summary import summarize_identification
from ytheta.report.identification.text import print_identification

LogArguments = Annotated[
    list[str], typer.Argument(metavar="LOG...", help="Recorded motion: CSV, Parquet, NPZ or ROS bag.")
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
        "--estimator", metavar="NAME", help="auto, weighted, least-squares, sequential, huber, recursive or lin."
    ),
]
Forgetting = Annotated[
    float | None,
    typer.Option(metavar="FACTOR", help="Forgetting factor per sample, such as 0.999; for recursive only."),
]
FormName = Annotated[
    str, typer.Option("--form", metavar="NAME", help="differential, or without accelerations: integral, momentum.")
]
Friction = Annotated[
    str | None,
    typer.Option(
        metavar="KINDS",
        help=f"viscous, coulomb, offset or asymmetric, separated by commas, or none; by default {','.join(FRICTION)}.",
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
) -> None:
    """Identify a robot's dynamic model from logs: values, standard deviations, and a verdict.

    The exit code is 1 if the model should not be used: the motion does not excite it enough, or it predicts poorly.

    Example: `ytheta identify ur10e.urdf run1.parquet --validate run2.parquet --rotor-inertia -o ur10e.model.toml`
    """
    inputs = (robot, *logs, *(validate or ()), *(mapping or ()))
    check_output(output, (SUFFIX,), inputs)
    check_output(report, PAGE_SUFFIXES, inputs)
    write_page = load_report_writer(report, "ytheta.report.identification.page", "write_identification_report")
    settings = parse_preparation(cutoff, derivative, average_periods)
    method = _choose_estimator(estimator, forgetting)  # before logs are read, to report a wrong name at once
    names = _parse_parameter_names(parameters, friction, rotor_inertia=rotor_inertia)
    with show_progress() as report_stage:
        report_stage("reading the robot")
        model = read_robot(robot, snap=snap, fix_base=fix_base, lengths=length)
        report_stage("reading the logs")
        read = read_logs([*logs, *(validate or ())], model, mapping, strict=strict, verbose=verbose)
        fit_logs, validation_logs = _split_validation(read[: len(logs)], read[len(logs) :], hold_out)
        identification = identify_robot(
            model,
            fit_logs,
            validate=validation_logs,
            estimator=method,
            form=form,
            friction=FRICTION if friction is None else parse_words(friction),
            rotor_inertia=rotor_inertia,
            parameters=names,
            settings=settings,
            min_speed=parse_speeds(min_speed, model),
            threads=threads,
            report_stage=report_stage,
        )
        printed = {finding for log in read for finding in log.findings}
        new = [finding for finding in identification.findings if replace(finding, source="") not in printed]
        print_findings(new, verbose=verbose)
        data = summarize_identification(identification)
        if output is not None:
            report_stage("writing the model")
            save_model(identification, output)
            print_note(f"wrote {output}")
        if write_page is not None and report is not None:
            report_stage("writing the report")
            write_page(identification, Path(report))
            print_note(f"wrote {report}")
    if as_json:
        print_json(data)
    else:
        print_identification(make_console(), identification, verbose=verbose)
    if not identification.verdict.solved:
        raise typer.Exit(1)


def _choose_estimator(name: str, forgetting: float | None) -> Estimator:
    """Return the estimator with this name; if ``forgetting`` is given, it is the forgetting factor."""
    chosen = get_estimator(name)
    if forgetting is None:
        return chosen
    if not isinstance(chosen, Recursive):
        raise InputError(f"--forgetting needs --estimator recursive; {chosen.name} has no forgetting factor")
    return Recursive(forgetting=forgetting)


def _split_validation(
    fit_logs: Sequence[Log], validation_logs: Sequence[Log], percent: float | None
) -> tuple[list[Log], list[Log]]:
    """Return the logs for the fit and those for the validation."""
    if percent is None:
        return list(fit_logs), list(validation_logs)
    if validation_logs:
        raise InputError("--hold-out and --validate both choose the validation data; keep one of them")
    if len(fit_logs) != 1:
        raise InputError(
            f"--hold-out splits a single log, but there are {len(fit_logs)}; use --validate for one of them"
        )
    if not 0.0 < percent < 100.0:
        raise InputError(f"--hold-out {percent:g}: give a percentage of the log between 0 and 100, such as 30")
    if percent < 1.0:
        raise InputError(f"--hold-out {percent:g} is less than one percent of the log; did you mean {100 * percent:g}?")
    (log,) = fit_logs
    first = len(log) - round(0.01 * percent * len(log))
    last_part = replace(log.select_rows(first, len(log)), source=f"{log.source} (the last {percent:g} %)")
    return [log.select_rows(0, first)], [last_part]


def _parse_parameter_names(parameters: str | None, friction: str | None, *, rotor_inertia: bool) -> tuple[str, ...]:
    """Return the names or patterns given by --parameters, or nothing without this option."""
    if parameters is None:
        return ()
    names = tuple(word.strip() for word in parameters.split(",") if word.strip())
    if not names:
        raise InputError("--parameters is empty; give names or patterns such as 'link*,*.fv', or remove it")
    if friction is not None or rotor_inertia:
        other = "--rotor-inertia" if friction is None else "--friction"
        kind = "'*.Ia'" if friction is None else "'*.fv,*.fc,*.fo'"
        raise InputError(f"--parameters lists all parameters to estimate; remove {other} and add {kind} to the list")
    return names
