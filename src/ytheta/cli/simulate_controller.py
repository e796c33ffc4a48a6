"""The controller that ``ytheta simulate`` creates from its options."""

from __future__ import annotations

from collections.abc import Mapping
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
from ytheta.robot.parameters import FRICTION_PARAMETERS, select_parameters
from ytheta.robot.robot import Robot

DEFAULT_ADAPTATION = "gradient"


@dataclass(frozen=True)
class ControllerOptions:
    """The options of the command that concern the controller."""

    name: str
    gains: Mapping[str, Any]
    adaptation: str = DEFAULT_ADAPTATION
    learn: tuple[str, ...] = ()
    friction: tuple[str, ...] = ()
    leakage: float | None = None
    dead_zone: float | None = None
    torque_limited: bool = True


def create_controller(
    options: ControllerOptions, robot: Robot, model: Robot, motion: ReferenceSamples, period: float
) -> Law:
    """Create the controller. Gains that are not given are suggested for this motion.

    ``model`` is the description that a controller without adaptation uses.
    """
    law = find_controller(options.name)
    limits = _get_torque_limits(robot) if options.torque_limited else None
    settings: dict[str, Any] = {} if limits is None else {"torque_limits": limits}
    if not issubclass(law, AdaptiveLaw):
        _check_no_adaptation(options)
        settings |= suggest_gains(options.name, robot, motion=motion, period=period)
        return law(model, **settings | _check_gains(law, options.gains))
    base, learn = _select_unknowns(law, options, robot)
    settings |= suggest_gains(
        options.name, robot, base, learn=learn, motion=motion, period=period, adaptation=options.adaptation
    )
    gains = _check_gains(law, options.gains)
    adaptation = _set_adaptation_gain(settings["adaptation"], gains.pop("adaptation", None))
    settings |= gains | {"learn": learn, "adaptation": _wrap_adaptation(options, adaptation)}
    return law(robot, base, **settings)


def _get_torque_limits(robot: Robot) -> np.ndarray | None:
    """Return the torque limits of the description, or None if there are none."""
    limits = np.array([limit.effort for limit in robot.actuated_limits])
    limited = np.isfinite(limits) & (limits > 0.0)
    return np.where(limited, limits, np.inf) if limited.any() else None


def _check_gains(law: type[Law], gains: Mapping[str, Any]) -> dict[str, Any]:
    """Return the gains; raise an error if the law does not have one of them."""
    names = (*law.GAINS, "adaptation") if issubclass(law, AdaptiveLaw) else tuple(law.GAINS)
    for name in gains:
        if name not in names:
            raise UnknownNameError(f"--gain {name}: this controller has no such gain{suggest_names(name, names)}")
    return dict(gains)


def _check_no_adaptation(options: ControllerOptions) -> None:
    """Raise an error if an option of adaptive controllers is given."""
    adaptive_options = {
        "--learn": options.learn,
        "--friction": options.friction,
        "--leakage": options.leakage,
        "--dead-zone": options.dead_zone,
        "--adaptation": options.adaptation != DEFAULT_ADAPTATION,
    }
    for option, value in adaptive_options.items():
        if value:
            raise InputError(f"{option} is for adaptive controllers, and {options.name} is not adaptive; remove it")


def _select_unknowns(
    law: type[Law], options: ControllerOptions, robot: Robot
) -> tuple[BaseParameters | None, tuple[str, ...] | None]:
    """Return the base parameters (None if they are not adapted) and the names of the unknown parameters."""
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
    """Return the suggested adaptation law; a gain that is given replaces the suggested gain."""
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
