"""The options of ``ytheta simulate``, and the parsing of sensor errors, gains and a grasped load."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import ytheta as yt
from ytheta.cli.completion import complete_from
from ytheta.control.settings import ADAPTATIONS, CONTROLLERS, FEEDBACKS
from ytheta.errors import InputError

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
