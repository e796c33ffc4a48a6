"""The options of ``ytheta excite``, and the parsing of limits, poses and noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.completion import CRITERIA, complete_from
from ytheta.cli.options import parse_ranges
from ytheta.errors import InputError

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
NoSelfCollision = Annotated[
    bool, typer.Option("--no-self-collision", help="Allow links to touch each other; by default they must not.")
]
ClearanceDistance = Annotated[
    float,
    typer.Option("--clearance", metavar="M", help="Distance of links from each other, the floor and obstacles, in m."),
]
Floor = Annotated[float | None, typer.Option(metavar="M", help="Height of a floor that no link may touch, in m.")]
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
Starts = Annotated[int, typer.Option(metavar="N", help="Number of random starts.")]
Polished = Annotated[int, typer.Option(metavar="N", help="How many of the best starts are polished.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of all random numbers, 0 or more.")]
EngineName = Annotated[
    str, typer.Option("--engine", metavar="NAME", help="Where starts are computed: local, dask or dask://HOST:PORT.")
]
TimeLimit = Annotated[
    float | None, typer.Option(metavar="S", help="Stop the search after this time, and keep the best found.")
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
