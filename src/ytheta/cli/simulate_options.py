"""What ``ytheta simulate`` is told, as values: gains, sensors, loads, what is learnt and how."""

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

GRADIENT = "gradient"
READINGS = ("q", "qd", "qdd", "tau")
ERRORS = ("noise", "bias", "scale", "step", "delay")


def sensors(texts: Sequence[str] | None) -> Sensors | None:
    """``q.noise=1e-4`` and the like."""
    if not texts:
        return None
    found: dict[str, dict[str, float]] = {}
    for text in texts:
        name, _, value = (piece.strip() for piece in text.partition("="))
        reading, _, error = name.partition(".")
        if reading not in READINGS or error not in ERRORS:
            raise InputError(
                f"--sensor {text!r}: write READING.ERROR=NUMBER such as q.noise=1e-4, with a reading of "
                f"{', '.join(READINGS)} and an error of {', '.join(ERRORS)}"
            )
        if error in found.setdefault(reading, {}):
            raise InputError(f"--sensor {text!r}: {name!r} was given before; keep one of the two")
        found[reading][error] = _number(value, f"--sensor {text!r}", "READING.ERROR=NUMBER such as q.noise=1e-4")
    return Sensors(**{reading: Sensor(**errors) for reading, errors in found.items()})


def gains(texts: Sequence[str] | None) -> dict[str, Any]:
    """``damping=35`` or ``damping=35,20,5``."""
    found: dict[str, Any] = {}
    for text in texts or ():
        name, _, value = (piece.strip() for piece in text.partition("="))
        form = "NAME=NUMBER, or one number for each joint, such as damping=35,20,5"
        numbers = [_number(piece, f"--gain {text!r}", form) for piece in value.split(",")]
        if name in found:
            raise InputError(f"--gain {text!r}: {name!r} was given before; keep one of the two")
        found[name] = numbers[0] if len(numbers) == 1 else numbers
    return found


def load_grasped(text: str | None, robot: Robot) -> tuple[Robot, tuple[ParameterChange, ...]]:
    """``2.5@4``: the robot with a load that has no mass yet, and the jump in which it gets it; without @, at once."""
    if text is None:
        return robot, ()
    mass, at, t = text.partition("@")
    form = "KILOGRAMS@SECONDS such as 2.5@4"
    kilograms, seconds = (_number(piece, f"--grasp {text!r}", form) for piece in (mass, t if at else "0"))
    if kilograms <= 0.0 or seconds < 0.0:
        raise InputError(f"--grasp {text!r}: {kilograms:g} kg at {seconds:g} s; write {form}")
    name = "grasped"
    held = robot.with_load(Inertia(), name=name)
    point = Inertia((kilograms, *([0.0] * 9)))
    return held, (grasp(seconds, point, load=name),)


def torque_limits(robot: Robot) -> np.ndarray | None:
    """Those of the description; None where it has none."""
    limits = np.array([limit.effort for limit in robot.actuated_limits])
    given = np.isfinite(limits) & (limits > 0.0)
    return np.where(given, limits, np.inf) if given.any() else None


@dataclass(frozen=True)
class Wanted:
    """What was said of the controller."""

    name: str
    gains: Mapping[str, Any]
    adaptation: str = GRADIENT
    learn: tuple[str, ...] = ()
    friction: tuple[str, ...] = ()
    leakage: float | None = None
    dead_zone: float | None = None
    limited: bool = True


def chosen_controller(wanted: Wanted, robot: Robot, known: Robot, motion: ReferenceSamples, period: float) -> Law:
    """A controller with gains for this motion where none were given; one that does not learn is told what is known."""
    kind = find_controller(wanted.name)
    limits = torque_limits(robot) if wanted.limited else None
    settings: dict[str, Any] = {} if limits is None else {"torque_limits": limits}
    if not issubclass(kind, AdaptiveLaw):
        _nothing_to_learn(wanted)
        settings |= suggest_gains(wanted.name, robot, motion=motion, period=period)
        return kind(known, **settings | _known_gains(kind, wanted.gains))
    base, learn = _learnt(kind, wanted, robot)
    settings |= suggest_gains(
        wanted.name, robot, base, learn=learn, motion=motion, period=period, adaptation=wanted.adaptation
    )
    given = _known_gains(kind, wanted.gains)
    adaptation = _adaptation(settings["adaptation"], given.pop("adaptation", None))
    settings |= given | {"learn": learn, "adaptation": _guarded(wanted, adaptation)}
    return kind(robot, base, **settings)


def _known_gains(kind: type[Law], given: Mapping[str, Any]) -> dict[str, Any]:
    known = (*kind.GAINS, "adaptation") if issubclass(kind, AdaptiveLaw) else tuple(kind.GAINS)
    for name in given:
        if name not in known:
            raise UnknownNameError(
                f"--gain {name}: this controller has no gain of that name{suggest_names(name, known)}"
            )
    return dict(given)


def _nothing_to_learn(wanted: Wanted) -> None:
    said = {
        "--learn": wanted.learn,
        "--friction": wanted.friction,
        "--leakage": wanted.leakage,
        "--dead-zone": wanted.dead_zone,
        "--adaptation": wanted.adaptation != GRADIENT,
    }
    for option, value in said.items():
        if value:
            raise InputError(f"{option} is for controllers that learn, and {wanted.name} does not; leave it out")


def _learnt(kind: type[Law], wanted: Wanted, robot: Robot) -> tuple[BaseParameters | None, tuple[str, ...] | None]:
    """Base parameters where the law and its adaptation can have them, and the names of what is unknown."""
    for name in wanted.friction:
        if name not in FRICTION_PARAMETERS:
            raise UnknownNameError(
                f"--friction {name}: there is no such kind{suggest_names(name, FRICTION_PARAMETERS)}"
            )
    friction = tuple(f"*.{FRICTION_PARAMETERS[name]}" for name in wanted.friction)
    if wanted.learn:
        return None, (*wanted.learn, *friction)
    if kind is Walker or wanted.adaptation == "natural":
        usual = ("viscous",) if kind is Walker else ()
        return None, select_parameters(robot, rotor_inertia=False, friction=wanted.friction or usual)
    base = base_parameters(robot)
    return base, (*base.independent, *friction)


def _adaptation(found: Gain | Adaptation, gain: Gain | None) -> Adaptation:
    """What was suggested, with the gain that was given where one was."""
    if not isinstance(found, Adaptation):
        return Gradient(found if gain is None else gain)
    if gain is None:
        return found
    if isinstance(found, Natural) and not isinstance(gain, float):
        raise InputError("--gain adaptation: natural adaptation has one gain for all; give one number")
    return replace(found, gain=gain)  # type: ignore[type-var]


def _guarded(wanted: Wanted, adaptation: Adaptation) -> Adaptation:
    """With what keeps noise and disturbances from carrying the estimate away."""
    if wanted.leakage is not None:
        adaptation = Leakage(adaptation, wanted.leakage)
    return adaptation if wanted.dead_zone is None else DeadZone(adaptation, wanted.dead_zone)


def _number(text: str, where: str, form: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{where}: {text.strip()!r} is no finite number; write {form}")
    return value
