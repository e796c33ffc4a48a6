"""``ytheta excite ROBOT``: a trajectory that reveals the parameters of a robot within its limits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any

import typer

import ytheta as yt
from ytheta.cli.excite_options import (
    Accelerations,
    BaseFrequency,
    Boxes,
    ClearanceDistance,
    CriterionName,
    EffortMargin,
    Efforts,
    EngineName,
    Floor,
    Friction,
    Harmonics,
    Jerks,
    Logs,
    ModelFile,
    Noise,
    NoSelfCollision,
    Obstacles,
    Outputs,
    Parameters,
    Parametrisation,
    Payload,
    Polished,
    Positions,
    Rate,
    Report,
    RotorInertia,
    Seconds,
    Seed,
    Slow,
    Start,
    Starts,
    TimeLimit,
    TrajectoryFile,
    Velocities,
    parse_boxes,
    parse_limits,
    parse_obstacles,
    parse_payload,
    parse_pose,
    parse_positions,
)
from ytheta.cli.interrupts import Interruption, finish_after_interruption
from ytheta.cli.log_options import LogOptions, Threads, Verbose, read_prefixed_logs, take_prefixed_log_options
from ytheta.cli.options import AsJson, parse_words, print_note, print_value
from ytheta.cli.outputs import PAGE_SUFFIXES, Force, check_output, check_report
from ytheta.cli.robot_options import RobotArgument, RobotOptions, read_robot, take_robot_options
from ytheta.errors import InputError

if TYPE_CHECKING:
    from ytheta.excitation.solver import Progress


# Options of a search, which have no effect on a trajectory that is only assessed.
SEARCH_OPTIONS = (
    *("seconds", "base_frequency", "harmonics", "parametrisation", "criterion", "start"),
    *("starts", "polished", "seed", "engine", "threads", "time_limit"),
)


@take_robot_options
@take_prefixed_log_options
def excite(
    robot: RobotArgument,
    output: Outputs = None,
    trajectory: TrajectoryFile = None,
    slow: Slow = 1.0,
    seconds: Seconds = None,
    base_frequency: BaseFrequency = None,
    harmonics: Harmonics = 5,
    rate: Rate = 100.0,
    parametrisation: Parametrisation = "fourier",
    criterion: CriterionName = "balanced",
    friction: Friction = None,
    rotor_inertia: RotorInertia = False,
    parameters: Parameters = None,
    payload: Payload = None,
    model: ModelFile = None,
    log: Logs = None,
    start: Start = None,
    position: Positions = None,
    velocity: Velocities = None,
    acceleration: Accelerations = None,
    jerk: Jerks = None,
    effort: Efforts = None,
    effort_margin: EffortMargin = 0.1,
    no_self_collision: NoSelfCollision = False,
    clearance: ClearanceDistance = 0.0,
    floor: Floor = None,
    obstacle: Obstacles = None,
    box: Boxes = None,
    noise: Noise = None,
    starts: Starts = 96,
    polished: Polished = 24,
    seed: Seed = 0,
    engine: EngineName = "local",
    threads: Threads = None,
    time_limit: TimeLimit = None,
    report: Report = None,
    force: Force = False,
    as_json: AsJson = False,
    verbose: Verbose = False,
    *,
    log_options: LogOptions,
    robot_options: RobotOptions,
) -> None:
    """Design a periodic motion, from rest to rest, that reveals a robot's parameters and keeps all its limits.

    Ctrl-C ends the search; the best trajectory found so far is written. The exit code is 1 if a limit is exceeded; then
    no trajectory is written.

    With --trajectory, nothing is designed: the trajectory of a file is assessed, at another speed or within other
    limits, and written again.

    Example: `ytheta excite panda -o panda.csv -o panda.toml --report panda.html`
    """
    searched = {name: value for name, value in locals().items() if name in SEARCH_OPTIONS}
    _check_mode(trajectory, slow, searched)
    inputs = (robot, model, trajectory, *(log or ()), *(log_options.mapping or ()))
    _check_trajectories(output or (), inputs, force=force)
    if trajectory is None:
        _check_samples(output or (), seconds, rate, has_payload=payload is not None)
    check_output(report, PAGE_SUFFIXES, inputs, force=force)
    check_report(report)
    limits = {
        name: parse_limits(texts, f"--{name}")
        for name, texts in (
            ("velocity", velocity),
            ("acceleration", acceleration),
            ("jerk", jerk),
            ("effort", effort),
            ("noise", noise),
        )
    }
    positions, pose, load = parse_positions(position), parse_pose(start), parse_payload(payload)
    obstacles, boxes = parse_obstacles(obstacle), parse_boxes(box)
    described = read_robot(robot, robot_options)
    shared: dict[str, Any] = {
        "friction": parse_words(friction),
        "rotor_inertia": rotor_inertia,
        "parameters": parse_words(parameters),
        "payload": load,
        "model": model,
        "logs": read_prefixed_logs(described, log or (), log_options, log_option="--log"),
        "position": positions,
        **limits,
        "effort_margin": effort_margin,
        "self_collision": not no_self_collision,
        "clearance": clearance,
        "floor": floor,
        "obstacles": obstacles,
        "box": boxes,
        "rate": rate,
    }
    if trajectory is not None:
        excitation = yt.assess_trajectory(described, trajectory, slow=slow, **shared)
    else:
        with finish_after_interruption() as interruption, _show_search(interruption) as progress:
            excitation = yt.excite(
                described,
                seconds=seconds,
                base_frequency=base_frequency,
                harmonics=harmonics,
                parametrisation=parametrisation,
                criterion=criterion,
                start=pose,
                starts=starts,
                polished=polished,
                rng=seed,
                engine=engine,
                threads=threads,
                time_limit=time_limit,
                progress=progress,
                **shared,
            )
    _print_findings(excitation, verbose=verbose)
    for path in output or ():
        if excitation.violations:
            print_note(f"{path} was not written, since the motion exceeds limits", warning=True)
        else:
            print_note(f"wrote {excitation.save(path, rate=rate)}")
    if report is not None:
        print_note(f"wrote {excitation.report(report)}")
    print_value(excitation, as_json=as_json, verbose=verbose)
    if excitation.violations:
        raise typer.Exit(1)


def _check_mode(trajectory: str | None, slow: float, searched: Mapping[str, object]) -> None:
    """Raise InputError if an option has no effect, because a trajectory is designed, or because none is."""
    if trajectory is None:
        if slow != 1.0:
            raise InputError("--slow changes the speed of a trajectory; name its file with --trajectory FILE.toml")
        return
    for name, value in searched.items():
        if value != signature(excite).parameters[name].default:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for a design, but --trajectory is only assessed; leave one of the two out")


def _check_trajectories(paths: Sequence[str], inputs: Sequence[str | None], *, force: bool) -> None:
    """Raise an error if a trajectory cannot be written, or if it would overwrite an input or another output."""
    if not paths:
        return
    from pathlib import Path

    from ytheta.excitation.trajectory_files import check_trajectory_path

    for k, path in enumerate(paths):
        check_trajectory_path(path)
        check_output(path, (), inputs, force=force, kind="trajectory")
        if Path(path).resolve() in [Path(other).resolve() for other in paths[:k]]:
            raise InputError(f"{path} is given twice with --output; give each file once")


def _check_samples(paths: Sequence[str], seconds: float | None, rate: float, *, has_payload: bool) -> None:
    """Raise InputError if a file of samples would have too few or too many, before the search finds the motion."""
    if not paths:
        return
    from pathlib import Path

    from ytheta.excitation.problem import choose_seconds
    from ytheta.excitation.trajectory_files import COEFFICIENT_SUFFIX, count_steps

    if any(Path(path).suffix.lower() != COEFFICIENT_SUFFIX for path in paths):
        count_steps(choose_seconds(seconds, has_payload=has_payload), rate)


def _print_findings(excitation: yt.Excitation, *, verbose: bool) -> None:
    """Print findings on stderr, except those that the tables contain."""
    from ytheta.excitation.result import IN_TABLES

    for finding in dict.fromkeys(excitation.findings):
        if verbose or finding.code not in IN_TABLES:
            print_note(finding.text, warning=finding.is_warning)


@contextmanager
def _show_search(interruption: Interruption) -> Iterator[Callable[[Progress], None]]:
    """Show the state of the search in one line on stderr if stderr is a terminal; end it if it was interrupted."""
    if not sys.stderr.isatty():
        yield lambda _: interruption.raise_if_swallowed()
        return
    from rich.console import Console

    with Console(stderr=True).status("preparing the search …") as status:

        def show(progress: Progress) -> None:
            interruption.raise_if_swallowed()
            step = f"{progress.stage} {progress.done} of {progress.total}"
            status.update(f"{step}, best value {progress.best:.4g}, {progress.seconds:.0f} s; Ctrl-C keeps the best …")

        yield show
