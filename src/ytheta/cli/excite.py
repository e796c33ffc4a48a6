"""``ytheta excite ROBOT``: a trajectory that reveals the parameters of a robot within its limits.

First the options, with the parsing of limits, poses and noise; then the command.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

import ytheta as yt
from ytheta.cli.completion import CRITERIA, complete_from
from ytheta.cli.interrupts import Interruption, finish_after_interruption
from ytheta.cli.log_options import LogOptions, Threads, Verbose, read_prefixed_logs, take_prefixed_log_options
from ytheta.cli.options import AsJson, parse_ranges, parse_words, print_note, print_value
from ytheta.cli.outputs import PAGE_SUFFIXES, Force, check_output, check_report
from ytheta.cli.robot_options import RobotArgument, RobotOptions, read_robot, take_robot_options
from ytheta.errors import InputError

if TYPE_CHECKING:
    from ytheta.excitation.solver import Progress

Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the trajectory: t, q, qd, qdd (.csv, .parquet, .npz), its coefficients (.toml), or a "
        "JointTrajectory of ROS 2 (.yaml, .mcap); may be given several times.",
    ),
]
TrajectoryFile = Annotated[
    str | None,
    typer.Option("--trajectory", metavar="TOML", help="Design nothing; assess this trajectory, and write it again."),
]
Slow = Annotated[
    float, typer.Option(metavar="FACTOR", help="With --trajectory: pass its path this many times as slowly.")
]
Seconds = Annotated[float | None, typer.Option(metavar="S", help="Duration in s; by default 20, or 12 with --payload.")]
BaseFrequency = Annotated[
    float | None,
    typer.Option(metavar="HZ", help="Periods per second; by default near 0.1, so that the duration has whole periods."),
]
Harmonics = Annotated[
    int, typer.Option(metavar="N", help="Harmonics of the Fourier series; B-splines have 2 N + 1 via-points.")
]
Parametrisation = Annotated[str, typer.Option(metavar="NAME", help="fourier or b-spline.")]
CriterionName = Annotated[
    str,
    typer.Option(
        "--criterion",
        metavar="NAME",
        help="balanced (condition numbers and expected deviations together), plain or scaled (condition numbers), d, a "
        "or e (optimality of the expected deviations), or lin (each joint's own equations).",
        autocompletion=complete_from(*CRITERIA),
    ),
]
Friction = Annotated[
    str | None,
    typer.Option(metavar="KINDS", help="Also reveal this friction: viscous, coulomb, offset, asymmetric, root, load."),
]
RotorInertia = Annotated[bool, typer.Option("--rotor-inertia", help="Also reveal the rotor inertia of every joint.")]
Parameters = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Reveal exactly these: names or patterns such as 'link*,*.fv'.")
]
Payload = Annotated[
    str | None,
    typer.Option(
        metavar="KG[@X,Y,Z]",
        help="Reveal only an unknown load of at most this mass at the last link, in kg; its centre in m.",
    ),
]
ModelFile = Annotated[
    str | None,
    typer.Option("--model", metavar="TOML", help="An earlier model; the design adds what is still weak in it."),
]
Logs = Annotated[
    list[str] | None,
    typer.Option("--log", metavar="LOG", help="An earlier log; the design adds what is still weak; may be repeated."),
]
Start = Annotated[
    str | None,
    typer.Option(
        metavar="POSE",
        help="Start pose: one position per joint, such as 0,0.5, or by name, such as j1=0,j2=0.5; by default chosen.",
    ),
]
Positions = Annotated[
    list[str] | None,
    typer.Option(
        "--position",
        metavar="JOINT=LOWER:UPPER",
        help="Position limits of a joint in rad or m, instead of those of the description; may be repeated.",
    ),
]
Velocities = Annotated[
    list[str] | None,
    typer.Option(
        "--velocity",
        metavar="[JOINT=]LIMIT",
        help="Speed limit of a joint or of all joints, in rad/s or m/s; inf for none; may be repeated.",
    ),
]
Accelerations = Annotated[
    list[str] | None,
    typer.Option(
        "--acceleration", metavar="[JOINT=]LIMIT", help="Acceleration limit, likewise; by default 5/s times the speed."
    ),
]
Jerks = Annotated[
    list[str] | None,
    typer.Option(
        "--jerk", metavar="[JOINT=]LIMIT", help="Jerk limit, likewise; by default 10/s times the acceleration."
    ),
]
Efforts = Annotated[
    list[str] | None, typer.Option("--effort", metavar="[JOINT=]LIMIT", help="Torque or force limit, likewise.")
]
EffortMargin = Annotated[
    float, typer.Option(metavar="SHARE", help="Share of the torque limits kept free for errors of the model.")
]
PositionMargin = Annotated[
    float, typer.Option(metavar="SHARE", help="Share of the position ranges kept free, half of it at either end.")
]
VelocityMargin = Annotated[float, typer.Option(metavar="SHARE", help="Share of the speed limits kept free.")]
NoSelfCollision = Annotated[
    bool, typer.Option("--no-self-collision", help="Allow links to touch each other; by default they must not.")
]
ClearanceDistance = Annotated[
    float,
    typer.Option("--clearance", metavar="M", help="Distance of links from each other, the floor and obstacles, in m."),
]
Floor = Annotated[
    str,
    typer.Option(metavar="M", help="Height of the floor, which no link may touch, in m, or base for that of the base."),
]
NoFloor = Annotated[bool, typer.Option("--no-floor", help="Check no floor; by default, one at the height of the base.")]
Obstacles = Annotated[
    list[str] | None,
    typer.Option(
        "--obstacle",
        metavar="KIND:SIZE@X,Y,Z",
        help="An obstacle in the world, in m: sphere:RADIUS, capsule:RADIUS,LENGTH (along z) or box:X,Y,Z, and its "
        "centre, such as box:0.4,0.4,1@0.8,0,0.5; may be repeated.",
    ),
]
Boxes = Annotated[
    list[str] | None,
    typer.Option(
        "--box",
        metavar="FRAME=X,Y,Z",
        help="A box in the world that a link or marker must not leave, in m, each as LOWER:UPPER; may be repeated.",
    ),
]
Noise = Annotated[
    list[str] | None,
    typer.Option(
        "--noise",
        metavar="[JOINT=]STD",
        help="Standard deviation of the torque noise of a joint or of all joints; by default 1 % of the limits.",
    ),
]
Rate = Annotated[
    float,
    typer.Option(metavar="HZ", help="Samples per second of the files, and of the log whose noise is independent."),
]
Starts = Annotated[
    int, typer.Option(metavar="N", help="Largest number of random starts; the search ends when it gains nothing more.")
]
Polished = Annotated[int, typer.Option(metavar="N", help="How many of the best starts are polished.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of all random numbers, 0 or more.")]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="Where starts are computed: local, dask or dask://HOST:PORT.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="S", help="Time for everything, from the start of the command; keep the best found until then."
    ),
]
Report = Annotated[
    str | None, typer.Option("--report", metavar="HTML", help="Write a report for a browser to this file.")
]


def parse_limits(texts: Sequence[str] | None, option: str) -> float | dict[str, float] | None:
    """Parse one number for all joints, or ``JOINT=NUMBER`` for each; None if the option is not given."""
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return _parse_limit(texts[0], f"{option} {texts[0]!r}")
    limits: dict[str, float] = {}
    for text in texts:
        joint, equals, number = (piece.strip() for piece in text.rpartition("="))
        if not equals or not joint:
            raise InputError(f"{option} {text!r}: write {option} JOINT=NUMBER for each joint, or one number for all")
        if joint in limits:
            raise InputError(f"{option} {text!r}: {joint!r} is given twice; keep one of the two")
        limits[joint] = _parse_limit(number, f"{option} {text!r}")
    return limits


def parse_positions(texts: Sequence[str] | None) -> dict[str, tuple[float, float]] | None:
    """Parse position limits such as ``elbow=-1.5:1.5``."""
    if not texts:
        return None
    limits: dict[str, tuple[float, float]] = {}
    for text in texts:
        joint, _, pair = (piece.strip() for piece in text.rpartition("="))
        if not joint:
            raise InputError(f"--position {text!r}: write a joint and its limits, such as --position elbow=-1.5:1.5")
        if joint in limits:
            raise InputError(f"--position {text!r}: {joint!r} is given twice; keep one of the two")
        limits[joint] = parse_ranges(pair, "--position", ("-1.5:1.5",))[0]
    return limits


def parse_obstacles(texts: Sequence[str] | None) -> list[yt.Obstacle]:
    """Parse obstacles such as ``box:0.4,0.4,1@0.8,0,0.5``."""
    if not texts:
        return []
    from ytheta.excitation.clearance.obstacle import ObstacleKind

    obstacles = []
    form = "KIND:SIZE@X,Y,Z in metres, such as sphere:0.2@0.5,0,0.3"
    for text in texts:
        shape, _, place = text.partition("@")
        kind, _, size = shape.partition(":")
        position = [_parse_number(piece, f"--obstacle {text!r}", form) for piece in place.split(",")]
        if len(position) != 3:
            raise InputError(f"--obstacle {text!r}: write {form}")
        sizes = tuple(_parse_number(piece, f"--obstacle {text!r}", form) for piece in size.split(","))
        kinds = {each.value: each for each in ObstacleKind}
        named = kinds.get(kind.strip())
        if named is None:
            raise InputError(f"--obstacle {text!r}: there is no obstacle {kind.strip()!r}; write {form}")
        obstacles.append(yt.Obstacle(text, named, sizes, yt.Frame.shift(*position)))
    return obstacles


def parse_boxes(texts: Sequence[str] | None) -> dict[str, tuple[list[float], list[float]]] | None:
    """Parse boxes such as ``tool0=-1:1,-1:1,0.1:2``."""
    if not texts:
        return None
    boxes: dict[str, tuple[list[float], list[float]]] = {}
    example = ("-1:1", "-1:1", "0.1:2")
    for text in texts:
        frame, _, ranges = (piece.strip() for piece in text.rpartition("="))
        if not frame:
            raise InputError(f"--box {text!r}: write a frame and its box, such as --box tool0={','.join(example)}")
        if frame in boxes:
            raise InputError(f"--box {text!r}: {frame!r} is given twice; keep one of the two")
        pairs = parse_ranges(ranges, "--box", example)
        boxes[frame] = [lower for lower, _ in pairs], [upper for _, upper in pairs]
    return boxes


def parse_floor(text: str) -> float | str:
    """Parse the height of a floor, or ``base``."""
    return (
        BASE if text == BASE else _parse_number(text, f"--floor {text!r}", "a height in metres, such as -0.8, or base")
    )


def parse_payload(text: str | None) -> float | yt.Inertia | None:
    """Parse a mass, or a mass and its centre such as ``3@0,0,0.1``."""
    if text is None:
        return None
    form = "a mass in kg, such as 3, or with its centre in m, such as 3@0,0,0.1"
    mass, at, place = text.partition("@")
    number = _parse_number(mass, f"--payload {text!r}", form)
    if not at:
        return number
    center = [_parse_number(piece, f"--payload {text!r}", form) for piece in place.split(",")]
    if len(center) != 3 or not number > 0.0:
        raise InputError(f"--payload {text!r}: write {form}")
    return yt.Inertia.point_mass(number, (center[0], center[1], center[2]))


def parse_pose(text: str | None) -> list[float] | dict[str, float] | None:
    """Parse positions separated by commas: for all joints in their order, or ``JOINT=POSITION`` for each."""
    if text is None:
        return None
    form = "one position per joint, such as 0,0.5,-1, or all by name, such as shoulder=0,elbow=0.5"
    pieces = text.split(",")
    if "=" not in text:
        return [_parse_number(piece, f"--start {text!r}", form) for piece in pieces]
    pose: dict[str, float] = {}
    for piece in pieces:
        joint, _, number = (part.strip() for part in piece.rpartition("="))
        if not joint:
            raise InputError(f"--start {text!r}: {piece.strip()!r} has no joint; write {form}")
        if joint in pose:
            raise InputError(f"--start {text!r}: {joint!r} is given twice; keep one of the two")
        pose[joint] = _parse_number(number, f"--start {text!r}", form)
    return pose


def _parse_limit(text: str, place: str) -> float:
    return _parse_number(text, place, "a number such as 1.5, or inf for no limit", allow_infinite=True)


def _parse_number(text: str, place: str, form: str, *, allow_infinite: bool = False) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isnan(value) or (math.isinf(value) and not allow_infinite):
        raise InputError(f"{place}: {text.strip()!r} is not a number; write {form}")
    return value


BASE = "base"  # the floor at the height of the base
MIN_TIME_LIMIT = 0.01  # s; what is left of a time limit that the start of the command has used up
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
    position_margin: PositionMargin = 0.02,
    velocity_margin: VelocityMargin = 0.05,
    effort_margin: EffortMargin = 0.1,
    no_self_collision: NoSelfCollision = False,
    clearance: ClearanceDistance = 0.01,
    floor: Floor = BASE,
    no_floor: NoFloor = False,
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

    Links keep 10 mm from each other and from a floor at the height of the base. Beside each trajectory, the same path
    at a quarter of the speed is written for the first run: motion.slow.csv beside motion.csv.

    Ctrl-C ends the search; the best trajectory found so far is written. The exit code is 1 if the motion is poor (its
    scaled condition number exceeds 30), and if a limit is exceeded; then no trajectory is written.

    With --trajectory, nothing is designed: the trajectory of a file is assessed, at another speed or within other
    limits, and written again.

    Example: `ytheta excite panda -o panda.csv -o panda.toml --report panda.html`
    """
    searched = {name: value for name, value in locals().items() if name in SEARCH_OPTIONS}
    _check_mode(trajectory, slow, searched)
    if no_floor and floor != BASE:
        raise InputError("--floor and --no-floor contradict each other; leave one of the two out")
    inputs = (robot, model, trajectory, *(log or ()), *(log_options.mapping or ()))
    slow_output = [name_slow_file(path) for path in output or ()] if trajectory is None else []
    _check_trajectories([*(output or ()), *slow_output], inputs, force=force)
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
        "position_margin": position_margin,
        "velocity_margin": velocity_margin,
        "effort_margin": effort_margin,
        "self_collision": not no_self_collision,
        "clearance": clearance,
        "floor": None if no_floor else parse_floor(floor),
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
                time_limit=_subtract_start(time_limit),
                progress=progress,
                **shared,
            )
    _print_findings(excitation, verbose=verbose)
    _write_motion(excitation, output or (), slow_output, rate)
    if report is not None:
        print_note(f"wrote {excitation.report(report)}")
    print_value(excitation, as_json=as_json, verbose=verbose)
    if excitation.is_poor or excitation.violations:
        raise typer.Exit(1)


def _subtract_start(time_limit: float | None) -> float | None:
    """Return what is left of the time limit; until now, the processor was busy with the start of the command."""
    return None if time_limit is None or time_limit <= 0.0 else max(time_limit - time.process_time(), MIN_TIME_LIMIT)


def name_slow_file(path: str) -> str:
    """Return the name of the file beside a trajectory that has the same path at a quarter of the speed."""
    from pathlib import Path

    file = Path(path)
    return str(file.with_name(f"{file.stem}.slow{file.suffix}"))


def _write_motion(excitation: yt.Excitation, paths: Sequence[str], slow_paths: Sequence[str], rate: float) -> None:
    """Write the motion and its slow first run, all files or none; say what was written."""
    from ytheta.excitation.trajectory_files import save_trajectory
    from ytheta.files.atomic import write_together

    if excitation.violations:
        for path in paths:
            print_note(f"{path} was not written, since the motion exceeds limits", warning=True)
        return
    slow = excitation.first_run
    with write_together():
        for path in paths:
            excitation.save(path, rate=rate)
        if slow is not None:
            for path in slow_paths:
                save_trajectory(slow, path, rate=rate)
    for path in paths:
        print_note(f"wrote {path}")
    if slow is not None:
        for path in slow_paths:
            print_note(f"wrote {path}: a quarter of the speed, for the first run")


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
