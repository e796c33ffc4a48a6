"""``ytheta simulate ROBOT``: simulate a robot under a controller, print errors, write logs and a report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ytheta.cli.log_options import Threads, Verbose, read_logs, show_progress
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
from ytheta.cli.simulate_options import (
    AdaptationName,
    ControllerName,
    DeadZoneWidth,
    EngineName,
    Friction,
    Gains,
    GainSpread,
    Grasp,
    InitialError,
    LeakageRate,
    Learn,
    NoTorqueLimits,
    Output,
    PlantName,
    Rate,
    Reference,
    Report,
    Runs,
    Seconds,
    Seed,
    SensorErrors,
    Spread,
    StartOffset,
    Substeps,
    parse_gains,
    parse_grasp,
    parse_sensors,
)
from ytheta.control.create import create_controller
from ytheta.control.settings import DEFAULT_ADAPTATION, ControllerSettings
from ytheta.conventions import SNAP
from ytheta.errors import InputError
from ytheta.logs.write import SUFFIXES, write_log
from ytheta.report.simulation.summary import summarize_simulation
from ytheta.report.simulation.text import print_simulation
from ytheta.robot.robot import Robot
from ytheta.simulation.plants.smooth_friction import (
    PRISMATIC_COULOMB_SPEED,
    REVOLUTE_COULOMB_SPEED,
    with_smooth_friction,
)
from ytheta.simulation.references.fourier import default_reference
from ytheta.simulation.references.from_log import reference_from_log
from ytheta.simulation.references.reference import ReferenceTrajectory, sample_reference
from ytheta.simulation.result import Simulation
from ytheta.simulation.simulate import PLANTS
from ytheta.simulation.simulate import simulate as simulate_robot
from ytheta.simulation.variation import Variation, perturb_parameters

RUN_FIELD = "{run}"  # placeholder in the name of a log; it is replaced by the number of the run
DEFAULT_SECONDS = 10.0
INSTANTS_PER_RUN = 500  # recorded instants of each run if there are several runs
MAX_LOGS = 100
MAX_PERIODS = 2_000_000  # control periods of a simulation; more would need too much memory
DEFAULT_INITIAL_ERROR = 20.0  # percent; standard deviation of the initial estimates


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
    adaptation: AdaptationName = DEFAULT_ADAPTATION,
    learn: Learn = None,
    friction: Friction = None,
    initial_error: InitialError = None,
    spread: Spread = 0.0,
    gain_spread: GainSpread = 0.0,
    start_offset: StartOffset = 0.0,
    sensor: SensorErrors = None,
    grasp: Grasp = None,
    leakage: LeakageRate = None,
    dead_zone: DeadZoneWidth = None,
    no_torque_limits: NoTorqueLimits = False,
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
    """Simulate a robot under a controller. Print tracking and parameter errors, and write a log for identify.

    Gains that are not given are chosen from the robot's masses, the reference and the rate. The exit code is 1 if a
    run diverged or does not follow the reference.

    Example: `ytheta simulate puma560 --controller slotine-li --friction viscous --report puma.html -o puma.parquet`
    """
    log_per_run = output is not None and RUN_FIELD in output
    if log_per_run and runs > MAX_LOGS:
        raise InputError(f"{output} would write {runs} logs; write at most {MAX_LOGS} logs, or only the first run")
    check_output(None if output is None else output.replace(RUN_FIELD, "0"), SUFFIXES, (robot, reference))
    check_output(report, PAGE_SUFFIXES, (robot, reference))
    write_page = load_report_writer(report, "ytheta.report.simulation.page", "write_simulation_report")
    if not (rate > 0.0 and np.isfinite(rate)):
        raise InputError(f"--rate {rate:g}: give a positive number of Hz, such as 1000")
    sensors = parse_sensors(sensor)
    options = ControllerSettings(
        controller,
        parse_gains(gain),
        adaptation,
        parse_words(learn),
        parse_words(friction),
        leakage,
        dead_zone,
        torque_limits=not no_torque_limits,
    )
    _check_not_negative(
        {
            "--initial-error": initial_error,
            "--spread": spread,
            "--gain-spread": gain_spread,
            "--start-offset": start_offset,
            "--seed": seed,
        }
    )
    with show_progress() as report_stage:
        report_stage("reading the robot")
        described = read_robot(robot, snap=snap, fix_base=fix_base, lengths=length)
        model, parameter_changes = parse_grasp(grasp, _smooth_friction(described))
        trajectory, duration = _load_reference(reference, model, seconds, verbose=verbose)
        report_stage("choosing gains")
        interval = _choose_interval(runs, duration, rate, log_per_run=log_per_run)
        samples = sample_reference(trajectory, model, np.linspace(0.0, duration, 1001))
        controller_model = model
        if initial_error is not None:
            controller_model = perturb_parameters(model, 0.01 * initial_error, np.random.default_rng(seed))
        law = create_controller(
            options, model, model=controller_model, motion=(samples.q, samples.qd, samples.qdd), rate=rate
        )
        estimate_error = DEFAULT_INITIAL_ERROR if initial_error is None else initial_error
        variation = Variation(
            parameters=0.01 * spread,
            gains=0.01 * gain_spread,
            position=start_offset,
            estimate=0.01 * estimate_error if law.unknown_names else 0.0,
        )
    with _show_progress_bar(runs) as progress:
        simulation = simulate_robot(
            model,
            law,
            seconds=duration,
            reference=trajectory,
            runs=runs,
            variation=variation,
            plant=plant,
            period=1.0 / rate,
            substeps=substeps,
            sensors=sensors,
            parameter_changes=parameter_changes,
            rng=np.random.default_rng(seed),
            every=interval,
            engine=engine,
            threads=threads,
            progress=progress,
        )
    _write_files(simulation, output, report, write_page)
    if as_json:
        print_json(summarize_simulation(simulation))
    else:
        print_simulation(make_console(), simulation, verbose=verbose)
    if not simulation.tracks.all():
        raise typer.Exit(1)


def _smooth_friction(robot: Robot) -> Robot:
    """Return the robot with smooth Coulomb friction, and print a note if its friction was not smooth."""
    smooth = with_smooth_friction(robot)
    if smooth is not robot:
        print_note(
            f"Coulomb friction is smoothed over about {REVOLUTE_COULOMB_SPEED:g} rad/s ({PRISMATIC_COULOMB_SPEED:g} "
            "m/s for prismatic joints); set coulomb_speed in the description to change that"
        )
    return smooth


def _check_not_negative(options: Mapping[str, float | None]) -> None:
    for option, value in options.items():
        if value is not None and not 0.0 <= value < np.inf:
            raise InputError(f"{option} {value:g}: give 0 or more")


def _choose_interval(runs: int, seconds: float, rate: float, *, log_per_run: bool) -> int:
    """Return n such that every n-th control instant is recorded: 1 for one run or for logs, more for several runs."""
    periods = seconds * rate
    if not periods <= MAX_PERIODS:
        raise InputError(
            f"{seconds:g} s at {rate:g} Hz are {periods:.3g} control periods, but at most {MAX_PERIODS:,} fit into "
            "memory; choose a shorter time or a lower rate"
        )
    if log_per_run and runs * periods > MAX_PERIODS:
        raise InputError(
            f"logs of {runs} runs with {periods:.3g} instants each do not fit into memory; write fewer logs"
        )
    return 1 if runs == 1 or log_per_run else max(1, round(periods / INSTANTS_PER_RUN))


def _load_reference(
    path: str | None, robot: Robot, seconds: float | None, *, verbose: bool
) -> tuple[ReferenceTrajectory, float]:
    """Return the reference, read from a log if a path is given, and the duration of the simulation (s)."""
    if path is None:
        duration = DEFAULT_SECONDS if seconds is None else seconds
        return default_reference(robot, duration), duration
    (log,) = read_logs([path], robot, None, require_torque=False, strict=False, verbose=verbose)
    logged = reference_from_log(log)
    return logged, logged.seconds if seconds is None else seconds


def _write_files(
    simulation: Simulation, output: str | None, report: str | None, write_page: Callable[..., object] | None
) -> None:
    if output is not None:
        for run in range(len(simulation) if RUN_FIELD in output else 1):
            if simulation.finished[run]:
                path = output.replace(RUN_FIELD, str(run))
                write_log(simulation.log(run), path)
                print_note(f"wrote {path}")
            else:
                print_note(f"run {run} diverged; its log is not written", warning=True)
    if write_page is not None and report is not None:
        write_page(simulation, Path(report))
        print_note(f"wrote {report}")


@contextmanager
def _show_progress_bar(runs: int) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar on stderr if stderr is a terminal and there is more than one run."""
    if runs == 1 or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TextColumn("runs"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=runs)
        yield lambda done: bar.update(task, completed=done)
