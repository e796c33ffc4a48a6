"""``ytheta simulate ROBOT``: simulate a robot under a controller, print errors, write logs and a report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

import ytheta as yt
from ytheta.cli.log_options import LogOptions, Threads, Verbose, read_prefixed_logs, take_prefixed_log_options
from ytheta.cli.options import AsJson, make_console, parse_words, print_json, print_note
from ytheta.cli.outputs import PAGE_SUFFIXES, Force, check_output, check_report
from ytheta.cli.robot_options import RobotArgument, RobotOptions, read_robot, take_robot_options
from ytheta.cli.simulate_options import (
    AdaptationName,
    ControllerName,
    DeadZone,
    EngineName,
    Every,
    FeedbackName,
    Friction,
    Gains,
    GainSpread,
    Grasp,
    InitialError,
    Leakage,
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
    VelocityOffset,
    parse_gains,
    parse_grasp,
    parse_sensors,
)
from ytheta.control.settings import DEFAULT_ADAPTATION, DEFAULT_CONTROLLER, DEFAULT_FEEDBACK, ControllerSettings

if TYPE_CHECKING:
    from ytheta.findings import Finding


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
    if as_json:
        print_json(simulation.to_dict())
    else:
        from ytheta.report.simulation import print_simulation

        print_simulation(make_console(), simulation, verbose=verbose)
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
        check_output(str(path), (), inputs, force=force, kind="log")


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
