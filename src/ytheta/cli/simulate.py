"""``ytheta simulate ROBOT``: a robot under a controller that learns; tracking and parameter errors, a log, plots."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ytheta.cli.log_options import Threads, Verbose, read_logs
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
from ytheta.cli.simulate_options import GRADIENT, Wanted, chosen_controller, gains, load_grasped, sensors
from ytheta.control.laws.registry import CONTROLLERS
from ytheta.control.tuning.adaptation_gains import ADAPTATIONS
from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.logs.write import ENDINGS, write_log
from ytheta.report.simulation.summary import simulation_summary
from ytheta.report.simulation.text import print_simulation
from ytheta.robot.robot import Robot
from ytheta.simulation.plants.smooth_friction import SLIDING, TURNING, with_smooth_friction
from ytheta.simulation.references.fourier import default_reference
from ytheta.simulation.references.from_log import reference_from_log
from ytheta.simulation.references.reference import ReferenceTrajectory, sample_reference
from ytheta.simulation.result import Simulation
from ytheta.simulation.simulate import PLANTS
from ytheta.simulation.simulate import simulate as simulated
from ytheta.simulation.variation import Variation, perturb_parameters

RUN = "{run}"  # in the name of a log: one for every run
SECONDS = 10.0
KEPT = 500  # instants of each of many runs
MOST_LOGS = 100
MOST_PERIODS = 2_000_000
WRONG = 20.0  # percent, of what is learnt

ControllerName = Annotated[str, typer.Option("--controller", metavar="NAME", help=f"{', '.join(CONTROLLERS)}.")]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="LOG",
        help="Write the first run as a log (.csv, .parquet, .npz); a-{run}.csv: all, up to 100.",
    ),
]
PlantName = Annotated[str, typer.Option("--plant", metavar="NAME", help=f"What is controlled: {' or '.join(PLANTS)}.")]
Runs = Annotated[int, typer.Option(metavar="N", help="How many runs, each with draws of its own.")]
Seconds = Annotated[float | None, typer.Option(metavar="S", help="How long; 10, or as long as the reference.")]
Rate = Annotated[float, typer.Option(metavar="HZ", help="At which the controller works, and the log is written.")]
Substeps = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Steps of the plant in a period of the controller; as many as its damping needs if not given."
    ),
]
Reference = Annotated[
    str | None, typer.Option(metavar="LOG", help="Follow the positions of this log instead of wandering around.")
]
Gains = Annotated[
    list[str] | None,
    typer.Option(
        "--gain", metavar="NAME=VALUE", help="One number, or one for each joint; for several gains, repeat it."
    ),
]
AdaptationName = Annotated[str, typer.Option("--adaptation", metavar="NAME", help=f"{', '.join(ADAPTATIONS)}.")]
Learn = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Learn these parameters, such as `link3.*,*.fv`; base parameters if not given."),
]
Friction = Annotated[str | None, typer.Option(metavar="KINDS", help="Learn viscous, coulomb, offset friction too.")]
Wrong = Annotated[
    float | None,
    typer.Option(
        metavar="PERCENT", help="How wrong what the controller begins with is, about; 20, or 0 if it learns nothing."
    ),
]
Spread = Annotated[float, typer.Option(metavar="PERCENT", help="How far the robots of the runs differ, about.")]
GainSpread = Annotated[float, typer.Option(metavar="PERCENT", help="How far the gains of the runs differ, about.")]
Beside = Annotated[float, typer.Option(metavar="SIZE", help="How far from the reference runs start, in rad or m.")]
SensorErrors = Annotated[
    list[str] | None,
    typer.Option(
        "--sensor",
        metavar="READING.ERROR=VALUE",
        help="q, qd, qdd, tau; noise, bias, scale (0.01: 1 % more), step, delay (s); repeat it.",
    ),
]
Grasp = Annotated[
    str | None,
    typer.Option(metavar="KG@S", help="A load that the last link holds from this time on; without @S, at once."),
]
LeakageRate = Annotated[
    float | None, typer.Option("--leakage", metavar="RATE", help="Let estimates leak back to the description, in 1/s.")
]
Width = Annotated[
    float | None,
    typer.Option("--dead-zone", metavar="WIDTH", help="Learn from errors beyond this alone, in rad/s or m/s."),
]
Unlimited = Annotated[bool, typer.Option("--no-torque-limits", help="Let torques be as large as they want.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Of everything that is drawn.")]
EngineName = Annotated[str, typer.Option("--engine", metavar="NAME", help="local, dask or dask://HOST:PORT.")]
Report = Annotated[str | None, typer.Option("--report", metavar="HTML", help="Write plots for a browser here.")]


def simulate(
    robot: RobotArgument,
    controller: ControllerName = "slotine-li",
    output: Output = None,
    plant: PlantName = PLANTS[0],
    runs: Runs = 1,
    seconds: Seconds = None,
    rate: Rate = 1000.0,
    substeps: Substeps = None,
    reference: Reference = None,
    gain: Gains = None,
    adaptation: AdaptationName = GRADIENT,
    learn: Learn = None,
    friction: Friction = None,
    wrong: Wrong = None,
    spread: Spread = 0.0,
    gain_spread: GainSpread = 0.0,
    beside: Beside = 0.0,
    sensor: SensorErrors = None,
    grasp: Grasp = None,
    leakage: LeakageRate = None,
    dead_zone: Width = None,
    no_torque_limits: Unlimited = False,
    seed: Seed = 0,
    engine: EngineName = "local",
    threads: Threads = None,
    report: Report = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    snap: Snap = SNAP,
    fix_base: FixBase = False,
    length: Lengths = None,
) -> None:
    """Move a robot under a controller: how well it tracks, what it learns, and a log that identify reads.

    Gains that are not given are suggested, from the robot's masses, the reference and the rate. Ends with code 1 where
    a run diverged (it left all bounds) or does not follow the reference.

    Example: `ytheta simulate puma560 --controller slotine-li --friction viscous --report puma.html -o puma.parquet`
    """
    if output is not None and RUN in output and runs > MOST_LOGS:
        raise InputError(f"{output}: a log for each of {runs} runs; write {MOST_LOGS} at most, or the first alone")
    check_output(None if output is None else output.replace(RUN, "0"), ENDINGS, (robot, reference))
    check_output(report, PAGE_SUFFIXES, (robot, reference))
    writer = load_report_writer(report, "ytheta.report.simulation.page", "write_simulation_report")
    if not (rate > 0.0 and np.isfinite(rate)):
        raise InputError(f"--rate {rate:g}: give a positive number of Hz, such as 1000")
    errors = sensors(sensor)
    said = Wanted(
        controller,
        gains(gain),
        adaptation,
        parse_words(learn),
        parse_words(friction),
        leakage,
        dead_zone,
        limited=not no_torque_limits,
    )
    _check_sizes(
        {"--wrong": wrong, "--spread": spread, "--gain-spread": gain_spread, "--beside": beside, "--seed": seed}
    )
    with show_progress() as tell:
        tell("reading the robot")
        described = read_robot(robot, snap=snap, fix_base=fix_base, lengths=length)
        model, parameter_changes = load_grasped(grasp, _smooth(described))
        course, lasts = _course(reference, model, seconds, verbose=verbose)
        tell("choosing gains")
        every = _kept(runs, lasts, rate, each=RUN in (output or ""))
        wanted = sample_reference(course, model, np.linspace(0.0, lasts, 1001))
        known = model if wrong is None else perturb_parameters(model, 0.01 * wrong, np.random.default_rng(seed))
        law = chosen_controller(said, model, known, (wanted.q, wanted.qd, wanted.qdd), 1.0 / rate)
        variation = Variation(
            parameters=0.01 * spread,
            gains=0.01 * gain_spread,
            position=beside,
            estimate=0.01 * (WRONG if wrong is None else wrong) if law.unknown_names else 0.0,
        )
    with _bar(runs) as count:
        found = simulated(
            model,
            law,
            seconds=lasts,
            course=course,
            runs=runs,
            variation=variation,
            plant=plant,
            period=1.0 / rate,
            substeps=substeps,
            sensors=errors,
            parameter_changes=parameter_changes,
            rng=np.random.default_rng(seed),
            every=every,
            engine=engine,
            threads=threads,
            progress=count,
        )
    _write(found, output, report, writer)
    if as_json:
        print_json(simulation_summary(found))
    else:
        print_simulation(make_console(), found, verbose=verbose)
    if not found.tracks.all():
        raise typer.Exit(1)


def _smooth(robot: Robot) -> Robot:
    """With Coulomb friction that changes gradually, for plant and controller."""
    found = with_smooth_friction(robot)
    if found is not robot:
        print_note(
            f"Coulomb friction changes its sign gradually here, over about {TURNING:g} rad/s ({SLIDING:g} m/s where "
            "joints slide); a coulomb_speed in the description says otherwise"
        )
    return found


def _check_sizes(given: Mapping[str, float | None]) -> None:
    for option, value in given.items():
        if value is not None and not 0.0 <= value < np.inf:
            raise InputError(f"{option} {value:g}: give 0 or more")


def _kept(runs: int, seconds: float, rate: float, *, each: bool) -> int:
    """Of how many instants one is kept: all where they go into logs, some of them of many runs."""
    periods = seconds * rate
    if not periods <= MOST_PERIODS:
        raise InputError(
            f"{seconds:g} s at {rate:g} Hz are {periods:.3g} periods of the controller; at most {MOST_PERIODS:,} fit "
            "into memory: ask for less time or a lower rate"
        )
    if each and runs * periods > MOST_PERIODS:
        raise InputError(f"logs of {runs} runs with {periods:.3g} instants each do not fit into memory; write fewer")
    return 1 if runs == 1 or each else max(1, round(periods / KEPT))


def _course(
    reference: str | None, robot: Robot, seconds: float | None, *, verbose: bool
) -> tuple[ReferenceTrajectory, float]:
    """What to follow, and for how long."""
    if reference is None:
        lasts = SECONDS if seconds is None else seconds
        return default_reference(robot, lasts), lasts
    (log,) = read_logs([reference], robot, None, torque=False, strict=False, verbose=verbose)
    recorded = reference_from_log(log)
    return recorded, recorded.seconds if seconds is None else seconds


def _write(found: Simulation, output: str | None, report: str | None, writer: Callable[..., object] | None) -> None:
    if output is not None:
        for run in range(len(found) if RUN in output else 1):
            if found.finished[run]:
                path = output.replace(RUN, str(run))
                write_log(found.log(run), path)
                print_note(f"wrote {path}")
            else:
                print_note(f"run {run} left all bounds, and no log of it is written", warning=True)
    if writer is not None and report is not None:
        writer(found, Path(report))
        print_note(f"wrote {report}")


@contextmanager
def _bar(runs: int) -> Iterator[Callable[[int], None] | None]:
    """A bar on stderr while a person looks and there is more than one run."""
    if runs == 1 or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TextColumn("runs"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=runs)
        yield lambda done: bar.update(task, completed=done)
