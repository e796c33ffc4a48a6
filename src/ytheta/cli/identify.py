"""``ytheta identify ROBOT LOG…``: the model, its certainty, its verdict."""

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
    preparation,
    progress,
    read_logs,
    speeds,
    tell_findings,
)
from ytheta.cli.options import (
    AsJson,
    FixBase,
    Lengths,
    RobotArgument,
    Snap,
    console,
    listed,
    print_json,
    read_robot,
    remark,
)
from ytheta.cli.outputs import PAGES, check_output, report_writer
from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.identification.estimators.estimate import Estimator
from ytheta.identification.estimators.recursive import Recursive
from ytheta.identification.estimators.registry import estimator as estimator_named
from ytheta.identification.identify import FRICTION
from ytheta.identification.identify import identify as identify_robot
from ytheta.identification.model_file import ENDING, save_model
from ytheta.logs.log import Log
from ytheta.report.identification.summary import summary
from ytheta.report.identification.text import print_identification

LogArguments = Annotated[list[str], typer.Argument(metavar="LOG...", help="Recorded motion: CSV, Parquet, NPZ, bag.")]
Validate = Annotated[
    list[str] | None,
    typer.Option(metavar="LOG", help="Judge the model by this log of other motion; may be given several times."),
]
HoldOut = Annotated[
    float | None, typer.Option(metavar="PERCENT", help="Judge by this last part of the log, which is not learnt from.")
]
EstimatorName = Annotated[
    str,
    typer.Option(
        "--estimator", metavar="NAME", help="auto, weighted, least-squares, sequential, huber, recursive or lin."
    ),
]
Forgetting = Annotated[
    float | None,
    typer.Option(metavar="FACTOR", help="What a sample counts one sample later, such as 0.999; for recursive only."),
]
FormName = Annotated[
    str, typer.Option("--form", metavar="NAME", help="differential, or without accelerations: integral, momentum.")
]
Friction = Annotated[
    str | None,
    typer.Option(
        metavar="KINDS",
        help=f"viscous, coulomb, offset or asymmetric with commas between, or none; by default {','.join(FRICTION)}.",
    ),
]
RotorInertia = Annotated[bool, typer.Option("--rotor-inertia", help="Learn the rotor inertia of every joint too.")]
Parameters = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Learn exactly these instead: names or patterns such as 'link*,*.fv'."),
]
Output = Annotated[str | None, typer.Option("--output", "-o", metavar="MODEL", help="Write the model (.toml) here.")]
Report = Annotated[str | None, typer.Option("--report", metavar="HTML", help="Write a report for a browser here.")]


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
    """Learn a robot's dynamic model from logs of its motion: values, certainty, and a verdict.

    Ends with code 1 where the model should not be used: the motion does not show all of it, or it predicts poorly.

    Example: `ytheta identify ur10e.urdf run1.parquet --validate run2.parquet --rotor-inertia -o ur10e.model.toml`
    """
    read_here = (robot, *logs, *(validate or ()), *(mapping or ()))
    check_output(output, (ENDING,), read_here)
    check_output(report, PAGES, read_here)
    write_report = report_writer(report, "ytheta.report.identification.page", "write_report")
    settings = preparation(cutoff, derivative, average_periods)
    method = _estimator(estimator, forgetting)  # says at once where there is none of this name
    exactly = _exactly(parameters, friction, rotor_inertia=rotor_inertia)
    with progress() as tell:
        tell("reading the robot")
        model = read_robot(robot, snap=snap, fix_base=fix_base, lengths=length)
        tell("reading the logs")
        read = read_logs([*logs, *(validate or ())], model, mapping, strict=strict, verbose=verbose)
        fitted, judged = _split(read[: len(logs)], read[len(logs) :], hold_out)
        found = identify_robot(
            model,
            fitted,
            validate=judged,
            estimator=method,
            form=form,
            friction=FRICTION if friction is None else listed(friction),
            rotor_inertia=rotor_inertia,
            parameters=exactly,
            settings=settings,
            min_speed=speeds(min_speed, model),
            threads=threads,
            tell=tell,
        )
        told = {finding for log in read for finding in log.findings}
        new = [finding for finding in found.findings if replace(finding, source="") not in told]
        tell_findings(new, verbose=verbose)
        data = summary(found)
        if output is not None:
            tell("writing the model")
            save_model(found, output)
            remark(f"wrote {output}")
        if write_report is not None and report is not None:
            tell("writing the report")
            write_report(found, Path(report))
            remark(f"wrote {report}")
    if as_json:
        print_json(data)
    else:
        print_identification(console(), found, verbose=verbose)
    if not found.verdict.solved:
        raise typer.Exit(1)


def _estimator(name: str, forgetting: float | None) -> Estimator:
    """The estimator of a name; one of them may forget."""
    chosen = estimator_named(name)
    if forgetting is None:
        return chosen
    if not isinstance(chosen, Recursive):
        raise InputError(f"--forgetting is for --estimator recursive; {chosen.name} forgets nothing")
    return Recursive(forgetting=forgetting)


def _split(fitted: Sequence[Log], judged: Sequence[Log], percent: float | None) -> tuple[list[Log], list[Log]]:
    """What to learn from and what to judge by."""
    if percent is None:
        return list(fitted), list(judged)
    if judged:
        raise InputError("--hold-out and --validate both say what to judge by; keep one of them")
    if len(fitted) != 1:
        raise InputError(f"--hold-out splits one log, and there are {len(fitted)}; name one of them under --validate")
    if not 0.0 < percent < 100.0:
        raise InputError(f"--hold-out {percent:g}: give percent of the log between 0 and 100, such as 30")
    if percent < 1.0:
        raise InputError(f"--hold-out {percent:g} is less than one percent of the log; did you mean {100 * percent:g}?")
    (log,) = fitted
    first = len(log) - round(0.01 * percent * len(log))
    last_part = replace(log.rows(first, len(log)), source=f"{log.source} (the last {percent:g} %)")
    return [log.rows(0, first)], [last_part]


def _exactly(parameters: str | None, friction: str | None, *, rotor_inertia: bool) -> tuple[str, ...]:
    """The names or patterns of the parameters that alone are asked about; none where they are not given."""
    if parameters is None:
        return ()
    names = tuple(word.strip() for word in parameters.split(",") if word.strip())
    if not names:
        raise InputError("--parameters names none; give names or patterns such as 'link*,*.fv', or leave it out")
    if friction is not None or rotor_inertia:
        other = "--rotor-inertia" if friction is None else "--friction"
        kind = "'*.Ia'" if friction is None else "'*.fv,*.fc,*.fo'"
        raise InputError(f"--parameters says exactly what to learn; leave {other} out and name {kind} among them")
    return names
