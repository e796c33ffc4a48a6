"""Options of ``ytheta simulate`` as values: sensors, gains, a grasped load, and the controller."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.control.adaptation.dead_zone import DeadZone
from ytheta.control.adaptation.gradient import Gradient
from ytheta.control.adaptation.leakage import Leakage
from ytheta.control.adaptation.natural import Natural
from ytheta.control.gains import Gain
from ytheta.control.laws.adaptive_law import AdaptiveLaw
from ytheta.control.laws.law import Law
from ytheta.control.laws.registry import find_controller
from ytheta.control.laws.walker import Walker
from ytheta.control.tuning.feedback_gains import ReferenceSamples
from ytheta.control.tuning.suggest import suggest_gains
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import FRICTION_PARAMETERS, select_parameters
from ytheta.robot.robot import Robot
from ytheta.simulation.parameter_changes import ParameterChange, grasp
from ytheta.simulation.sensors.sensors import Sensor, Sensors

DEFAULT_ADAPTATION = "gradient"
READINGS = ("q", "qd", "qdd", "tau")
ERRORS = ("noise", "bias", "scale", "step", "delay")


def parse_sensors(texts: Sequence[str] | None) -> Sensors | None:
    """Parse sensor errors such as ``q.noise=1e-4``; None without any."""
    if not texts:
        return None
    errors: dict[str, dict[str, float]] = {}
    for text in texts:
        name, _, value = (piece.strip() for piece in text.partition("="))
        reading, _, error = name.partition(".")
        if reading not in READINGS or error not in ERRORS:
            raise InputError(
                f"--sensor {text!r}: write READING.ERROR=NUMBER such as q.noise=1e-4, where READING is one of "
                f"{', '.join(READINGS)} and ERROR one of {', '.join(ERRORS)}"
            )
        if error in errors.setdefault(reading, {}):
            raise InputError(f"--sensor {text!r}: {name!r} was already given; keep one of the two")
        errors[reading][error] = _parse_number(value, f"--sensor {text!r}", "READING.ERROR=NUMBER such as q.noise=1e-4")
    return Sensors(**{reading: Sensor(**sizes) for reading, sizes in errors.items()})


def parse_gains(texts: Sequence[str] | None) -> dict[str, Any]:
    """Parse gains such as ``damping=35`` or ``damping=35,20,5``."""
    gains: dict[str, Any] = {}
    for text in texts or ():
        name, _, value = (piece.strip() for piece in text.partition("="))
        form = "NAME=NUMBER, or one number per joint, such as damping=35,20,5"
        numbers = [_parse_number(piece, f"--gain {text!r}", form) for piece in value.split(",")]
        if name in gains:
            raise InputError(f"--gain {text!r}: {name!r} was already given; keep one of the two")
        gains[name] = numbers[0] if len(numbers) == 1 else numbers
    return gains


def parse_grasp(text: str | None, robot: Robot) -> tuple[Robot, tuple[ParameterChange, ...]]:
    """Parse a grasped load such as ``2.5@4``, 2.5 kg at 4 s; without ``@`` it is held from the start.

    Return the robot with a load that has no mass yet, and the change that gives it its mass.
    """
    if text is None:
        return robot, ()
    mass, at, t = text.partition("@")
    form = "KILOGRAMS@SECONDS such as 2.5@4"
    kilograms, seconds = (_parse_number(piece, f"--grasp {text!r}", form) for piece in (mass, t if at else "0"))
    if kilograms <= 0.0 or seconds < 0.0:
        raise InputError(f"--grasp {text!r}: {kilograms:g} kg at {seconds:g} s; write {form}")
    name = "grasped"
    point_mass = Inertia((kilograms, *([0.0] * 9)))
    return robot.with_load(Inertia(), name=name), (grasp(seconds, point_mass, load=name),)


@dataclass(frozen=True)
class ControllerOptions:
    """The options that select and set up the controller."""

    name: str
    gains: Mapping[str, Any]
    adaptation: str = DEFAULT_ADAPTATION
    learn: tuple[str, ...] = ()
    friction: tuple[str, ...] = ()
    leakage: float | None = None
    dead_zone: float | None = None
    torque_limited: bool = True


def create_controller(
    options: ControllerOptions, robot: Robot, known: Robot, motion: ReferenceSamples, period: float
) -> Law:
    """Create the controller; gains that are not given are suggested for this motion.

    ``known`` is the description that a controller without adaptation uses.
    """
    law = find_controller(options.name)
    limits = _torque_limits(robot) if options.torque_limited else None
    settings: dict[str, Any] = {} if limits is None else {"torque_limits": limits}
    if not issubclass(law, AdaptiveLaw):
        _check_no_adaptation(options)
        settings |= suggest_gains(options.name, robot, motion=motion, period=period)
        return law(known, **settings | _check_gains(law, options.gains))
    base, learn = _select_unknowns(law, options, robot)
    settings |= suggest_gains(
        options.name, robot, base, learn=learn, motion=motion, period=period, adaptation=options.adaptation
    )
    gains = _check_gains(law, options.gains)
    adaptation = _set_adaptation_gain(settings["adaptation"], gains.pop("adaptation", None))
    settings |= gains | {"learn": learn, "adaptation": _wrap_adaptation(options, adaptation)}
    return law(robot, base, **settings)


def _torque_limits(robot: Robot) -> np.ndarray | None:
    """The torque limits of the description; None if it has none."""
    limits = np.array([limit.effort for limit in robot.actuated_limits])
    limited = np.isfinite(limits) & (limits > 0.0)
    return np.where(limited, limits, np.inf) if limited.any() else None


def _check_gains(law: type[Law], gains: Mapping[str, Any]) -> dict[str, Any]:
    """Return the gains; raise an error if the law does not have one of them."""
    names = (*law.GAINS, "adaptation") if issubclass(law, AdaptiveLaw) else tuple(law.GAINS)
    for name in gains:
        if name not in names:
            raise UnknownNameError(
                f"--gain {name}: this controller does not have this gain{suggest_names(name, names)}"
            )
    return dict(gains)


def _check_no_adaptation(options: ControllerOptions) -> None:
    """Raise an error if an option of adaptive controllers is given."""
    given = {
        "--learn": options.learn,
        "--friction": options.friction,
        "--leakage": options.leakage,
        "--dead-zone": options.dead_zone,
        "--adaptation": options.adaptation != DEFAULT_ADAPTATION,
    }
    for option, value in given.items():
        if value:
            raise InputError(f"{option} is for adaptive controllers, and {options.name} is not adaptive; remove it")


def _select_unknowns(
    law: type[Law], options: ControllerOptions, robot: Robot
) -> tuple[BaseParameters | None, tuple[str, ...] | None]:
    """Return base parameters, if law and adaptation can use them, and the names of the unknown parameters."""
    for name in options.friction:
        if name not in FRICTION_PARAMETERS:
            raise UnknownNameError(
                f"--friction {name}: unknown kind of friction{suggest_names(name, FRICTION_PARAMETERS)}"
            )
    friction = tuple(f"*.{FRICTION_PARAMETERS[name]}" for name in options.friction)
    if options.learn:
        return None, (*options.learn, *friction)
    if law is Walker or options.adaptation == "natural":
        default = ("viscous",) if law is Walker else ()
        return None, select_parameters(robot, rotor_inertia=False, friction=options.friction or default)
    base = base_parameters(robot)
    return base, (*base.independent, *friction)


def _set_adaptation_gain(suggested: Gain | Adaptation, gain: Gain | None) -> Adaptation:
    """Return the suggested adaptation law, with another gain if one is given."""
    if not isinstance(suggested, Adaptation):
        return Gradient(suggested if gain is None else gain)
    if gain is None:
        return suggested
    if isinstance(suggested, Natural) and not isinstance(gain, float):
        raise InputError("--gain adaptation: natural adaptation has one gain for all parameters; give one number")
    return replace(suggested, gain=gain)  # type: ignore[type-var]


def _wrap_adaptation(options: ControllerOptions, adaptation: Adaptation) -> Adaptation:
    """Add leakage and a dead zone, which keep the estimate from drifting under noise and disturbances."""
    if options.leakage is not None:
        adaptation = Leakage(adaptation, options.leakage)
    return adaptation if options.dead_zone is None else DeadZone(adaptation, options.dead_zone)


def _parse_number(text: str, option: str, form: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{option}: {text.strip()!r} is not a finite number; write {form}")
    return value
