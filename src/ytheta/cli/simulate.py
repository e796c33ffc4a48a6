"""``ytheta simulate ROBOT``: simulate a robot under a controller, print errors, write logs and a report.

First the options, with the parsing of sensor errors, gains and a grasped load; then the command.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

import ytheta as yt
from ytheta.cli.completion import complete_from
from ytheta.cli.log_options import LogOptions, Threads, Verbose, read_prefixed_logs, take_prefixed_log_options
from ytheta.cli.options import AsJson, parse_words, print_note, print_value
from ytheta.cli.outputs import PAGE_SUFFIXES, Force, check_output, check_report
from ytheta.cli.robot_options import RobotArgument, RobotOptions, read_robot, take_robot_options
from ytheta.control.settings import (
    ADAPTATIONS,
    CONTROLLERS,
    DEFAULT_ADAPTATION,
    DEFAULT_CONTROLLER,
    DEFAULT_FEEDBACK,
    FEEDBACKS,
    ControllerSettings,
)
from ytheta.errors import InputError

if TYPE_CHECKING:
    from ytheta.findings import Finding

SENSOR_QUANTITIES = ("q", "qd", "qdd", "tau")
SENSOR_ERRORS = ("noise", "bias", "scale", "step", "delay")

ControllerName = Annotated[
    str,
    typer.Option(
        "--controller",
        metavar="NAME",
        help=f"The control law: {', '.join(CONTROLLERS)}.",
        autocompletion=complete_from(*CONTROLLERS),
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="LOG",
        help="Write the first run as a log (.csv, .parquet or .npz), or up to 100 runs with a name like a-{run}.csv.",
    ),
]
PlantName = Annotated[
    str,
    typer.Option(
        "--plant",
        metavar="NAME",
        help="The forward dynamics: own (those of ytheta) or mujoco.",
        autocompletion=complete_from("own", "mujoco"),
    ),
]
Runs = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Number of runs, which differ by --spread, --gain-spread, --start-offset, --velocity-offset and "
        "--initial-error.",
    ),
]
Seconds = Annotated[
    float | None, typer.Option(metavar="S", help="Duration in s; by default 10, or the duration of --reference.")
]
Rate = Annotated[float, typer.Option(metavar="HZ", help="Rate of the controller and of the log, in Hz.")]
Substeps = Annotated[
    int | None,
    typer.Option(metavar="N", help="Integration steps per control period; by default as many as the damping requires."),
]
Reference = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Follow the positions of this log, or a trajectory of excite (.toml); by default, a motion within the "
        "limits of the robot.",
    ),
]
Gains = Annotated[
    list[str] | None,
    typer.Option(
        "--gain",
        metavar="NAME=VALUE",
        help="Set a gain to one number, or to one per joint, such as damping=35,20,5; may be given several times.",
    ),
]
AdaptationName = Annotated[
    str, typer.Option("--adaptation", metavar="NAME", help=f"The adaptation law: {', '.join(ADAPTATIONS)}.")
]
FeedbackName = Annotated[
    str, typer.Option("--feedback", metavar="NAME", help=f"The feedback law of walker: {', '.join(FEEDBACKS)}.")
]
Learn = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Parameters to adapt, such as 'link3.*,*.fv'; by default, the base parameters."),
]
Friction = Annotated[
    str | None,
    typer.Option(metavar="KINDS", help="Also adapt this friction of all joints: viscous, coulomb, offset, root, load."),
]
InitialError = Annotated[
    float | None,
    typer.Option(
        metavar="PERCENT",
        help="Standard deviation of the initial parameter error; by default 20, or 0 without adaptation.",
    ),
]
Spread = Annotated[
    float, typer.Option(metavar="PERCENT", help="Standard deviation of the robot's parameters between runs.")
]
GainSpread = Annotated[
    float, typer.Option(metavar="PERCENT", help="Standard deviation of the controller's gains between runs.")
]
StartOffset = Annotated[
    float,
    typer.Option(metavar="SIZE", help="Standard deviation of the initial distance from the reference, in rad or m."),
]
VelocityOffset = Annotated[
    float,
    typer.Option(
        metavar="SIZE", help="Standard deviation of the initial velocity minus the reference's, in rad/s or m/s."
    ),
]
SensorErrors = Annotated[
    list[str] | None,
    typer.Option(
        "--sensor",
        metavar="READING.ERROR=VALUE",
        help="Set a sensor error, such as q.noise=1e-4. Readings are q, qd, qdd and tau. Errors are noise, bias, scale "
        "(0.01 is 1 % too large), step (quantization) and delay (s), each one number, or one per joint, such as "
        "q.noise=1e-4,2e-4. May be given several times.",
    ),
]
Grasp = Annotated[
    str | None,
    typer.Option(
        metavar="KG@S",
        help="Mass of a point load, and the time at which the last link grasps it; without @S, at the start.",
    ),
]
Leakage = Annotated[
    float | None,
    typer.Option(
        "--leakage", metavar="RATE", help="Rate in 1/s at which estimates return to the values of the description."
    ),
]
DeadZone = Annotated[
    float | None,
    typer.Option(
        "--dead-zone", metavar="WIDTH", help="Do not adapt if the error is smaller than this width, in rad/s or m/s."
    ),
]
NoTorqueLimits = Annotated[
    bool, typer.Option("--no-torque-limits", help="Ignore the torque limits of the description.")
]
Every = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Record every N-th control instant; by default all instants of a single run or of runs with logs, "
        "otherwise about 500 instants per run.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of all random numbers, 0 or more.")]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="Where runs are computed: local, dask or dask://HOST:PORT.")
]
Report = Annotated[
    str | None, typer.Option("--report", metavar="HTML", help="Write a report for a browser to this file.")
]


def parse_sensors(texts: Sequence[str] | None) -> yt.Sensors | None:
    """Parse sensor errors such as ``q.noise=1e-4``; return None if there are none."""
    if not texts:
        return None
    import numpy as np

    errors: dict[str, dict[str, Any]] = {}
    form = "READING.ERROR=NUMBER such as q.noise=1e-4, or one number per joint"
    for text in texts:
        name, value = _split_setting("--sensor", text, form)
        quantity, _, error = name.partition(".")
        if quantity not in SENSOR_QUANTITIES or error not in SENSOR_ERRORS:
            raise InputError(
                f"--sensor {text!r}: write READING.ERROR=NUMBER such as q.noise=1e-4, where READING is one of "
                f"{', '.join(SENSOR_QUANTITIES)} and ERROR one of {', '.join(SENSOR_ERRORS)}"
            )
        if error in errors.setdefault(quantity, {}):
            raise InputError(f"--sensor {text!r}: {name!r} was already given; keep one of the two")
        numbers = _parse_numbers(value, f"--sensor {text!r}", form)
        errors[quantity][error] = np.array(numbers) if isinstance(numbers, list) else numbers
    return yt.Sensors(**{quantity: yt.Sensor(**sizes) for quantity, sizes in errors.items()})


def parse_gains(texts: Sequence[str] | None) -> dict[str, Any]:
    """Parse gains such as ``damping=35`` or ``damping=35,20,5``."""
    gains: dict[str, Any] = {}
    form = "NAME=NUMBER, or one number per joint, such as damping=35,20,5"
    for text in texts or ():
        name, value = _split_setting("--gain", text, form)
        if name in gains:
            raise InputError(f"--gain {text!r}: {name!r} was already given; keep one of the two")
        gains[name] = _parse_numbers(value, f"--gain {text!r}", form)
    return gains


def parse_grasp(text: str | None) -> yt.Grasp | None:
    """Parse a grasped load such as ``2.5@4``, which is 2.5 kg at 4 s; without ``@``, the time is 0."""
    if text is None:
        return None
    mass, at, t = text.partition("@")
    form = "KILOGRAMS@SECONDS such as 2.5@4"
    kilograms, seconds = (_parse_number(piece, f"--grasp {text!r}", form) for piece in (mass, t if at else "0"))
    return yt.grasp(kilograms, seconds)


def _split_setting(option: str, text: str, form: str) -> tuple[str, str]:
    """Return the name and the value of a setting such as ``damping=35``."""
    name, _, value = (piece.strip() for piece in text.partition("="))
    if not name or not value:
        raise InputError(f"{option} {text!r} has no {'value' if name else 'name'}; write {form}")
    return name, value


def _parse_numbers(text: str, option: str, form: str) -> float | list[float]:
    """Return one number, or a list of the numbers between commas."""
    numbers = [_parse_number(piece, option, form) for piece in text.split(",")]
    return numbers[0] if len(numbers) == 1 else numbers


def _parse_number(text: str, option: str, form: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{option}: {text.strip()!r} is not a finite number; write {form}")
    return value


@take_robot_options
@take_prefixed_log_options
def simulate(
    robot: RobotArgument,
    controller: ControllerName = DEFAULT_CONTROLLER,
    output: Output = None,
    plant: PlantName = "own",
    runs: Runs = 1,
    seconds: Seconds = None,
    rate: Rate = 1000.0,
    substeps: Substeps = None,
    reference: Reference = None,
    gain: Gains = None,
    adaptation: AdaptationName = DEFAULT_ADAPTATION,
    feedback: FeedbackName = DEFAULT_FEEDBACK,
    learn: Learn = None,
    friction: Friction = None,
    initial_error: InitialError = None,
    spread: Spread = 0.0,
    gain_spread: GainSpread = 0.0,
    start_offset: StartOffset = 0.0,
    velocity_offset: VelocityOffset = 0.0,
    sensor: SensorErrors = None,
    grasp: Grasp = None,
    leakage: Leakage = None,
    dead_zone: DeadZone = None,
    no_torque_limits: NoTorqueLimits = False,
    every: Every = None,
    seed: Seed = 0,
    engine: EngineName = "local",
    threads: Threads = None,
    report: Report = None,
    force: Force = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
    *,
    log_options: LogOptions,
    robot_options: RobotOptions,
) -> None:
    """Simulate a robot under a controller. Print tracking and parameter errors, and write a log for identify.

    Gains that are not given are chosen from the robot's masses, the reference and the rate. The exit code is 1 if a
    run diverged or does not follow the reference.

    Example: `ytheta simulate puma560 --controller slotine-li --friction viscous --report puma.html -o puma.parquet`
    """
    inputs = (robot, reference, *(log_options.mapping or ()))
    _check_logs(output, runs, inputs, force=force)
    check_output(report, PAGE_SUFFIXES, inputs, force=force)
    check_report(report)
    settings = ControllerSettings(
        controller,
        gains=parse_gains(gain),
        adaptation=adaptation,
        feedback=feedback,
        learn=parse_words(learn),
        friction=parse_words(friction),
        leakage=leakage,
        dead_zone=dead_zone,
        torque_limits=not no_torque_limits,
    )
    variation = yt.Variation(spread, gain_spread, start_offset, velocity_offset, initial_error)
    sensors, load = parse_sensors(sensor), parse_grasp(grasp)
    described = read_robot(robot, robot_options)
    logs = read_prefixed_logs(described, _list_logs(reference), log_options, log_option="--reference")
    with _show_progress(runs) as progress:
        simulation = yt.simulate(
            described,
            settings,
            seconds=seconds,
            reference=logs[0] if logs else reference,
            runs=runs,
            variation=variation,
            plant=plant,
            rate=rate,
            substeps=substeps,
            sensors=sensors,
            grasp=load,
            rng=seed,
            every=_choose_every(every, output),
            engine=engine,
            threads=threads,
            progress=progress,
        )
    _print_findings(simulation, with_logs=output is not None, verbose=verbose)
    if output is not None:
        for path in simulation.save_finished(output):
            print_note(f"wrote {path}")
    if report is not None:
        print_note(f"wrote {simulation.report(report)}")
    print_value(simulation, as_json=as_json, verbose=verbose)
    if not simulation.tracks.all():
        raise typer.Exit(1)


def _list_logs(reference: str | None) -> list[str]:
    """Return the reference if it is a log, not a trajectory."""
    from pathlib import Path

    from ytheta.excitation.trajectory_files import COEFFICIENT_SUFFIX

    return [] if reference is None or Path(reference).suffix.lower() == COEFFICIENT_SUFFIX else [reference]


def _check_logs(output: str | None, runs: int, inputs: tuple[str | None, ...], *, force: bool) -> None:
    """Raise InputError if a log cannot be written, or if it would overwrite an input."""
    if output is None:
        return
    from ytheta.simulation.result import list_log_paths

    for path in list_log_paths(output, runs):
        check_output(str(path), (), inputs, force=force, kind="simulation")


def _choose_every(every: int | None, output: str | None) -> int | None:
    """Return the recording interval: if every run has a log, the logs contain all instants unless ``every`` is set."""
    from ytheta.simulation.result import names_every_run

    return 1 if every is None and output is not None and names_every_run(output) else every


def _print_findings(simulation: yt.Simulation, *, with_logs: bool, verbose: bool) -> None:
    """Print findings about the inputs on stderr, and findings about logs if logs are written.

    The tables and the JSON object contain the other findings.
    """
    from ytheta.findings import Severity
    from ytheta.simulation.result import ABOUT_LOGS

    def is_printed(finding: Finding) -> bool:
        if finding.code in ABOUT_LOGS:
            return with_logs
        return finding in simulation.input_findings and (verbose or finding.severity is not Severity.NOTE)

    for finding in filter(is_printed, dict.fromkeys(simulation.findings)):
        print_note(finding.text, warning=finding.is_warning)


@contextmanager
def _show_progress(runs: int) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar on stderr if stderr is a terminal; the bar of a single run only shows that work goes on."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if runs == 1:
        with console.status("simulating …"):
            yield None
        return
    columns = (TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TextColumn("runs"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=runs)
        yield lambda done: bar.update(task, completed=done)
