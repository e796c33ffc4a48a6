"""Creation of a controller from its name or its settings: gains, unknown parameters and torque limits are chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ytheta.arguments import check_kind
from ytheta.control.adaptation.adaptation import Adaptation
from ytheta.control.adaptation.dead_zone import DeadZone
from ytheta.control.adaptation.gradient import Gradient
from ytheta.control.adaptation.leakage import Leakage
from ytheta.control.adaptation.natural import Natural
from ytheta.control.feedback.feedback import Feedback
from ytheta.control.gains import Gain
from ytheta.control.laws.law import AdaptiveLaw, Law
from ytheta.control.laws.walker import Walker
from ytheta.control.settings import DEFAULT_ADAPTATION, DEFAULT_FEEDBACK, ControllerSettings, find_controller
from ytheta.control.tuning import ReferenceSamples, suggest_gains
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identifiability.registry import base_parameters
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.parameters import FRICTION_PARAMETERS, select_parameters
from ytheta.robot.robot import Robot, check_is_robot


def create_controller(
    controller: str | ControllerSettings,
    robot: Robot,
    *,
    motion: ReferenceSamples,
    rate: float = 1000.0,
    model: Robot | None = None,
) -> Law:
    """Create a controller for a robot, from the name of a control law or from settings.

    Gains that are not given are suggested for ``motion`` (samples of the reference: q, qd and qdd with one row per
    sample) and for ``rate`` (Hz). ``model`` is the description that a controller without adaptation uses instead of
    ``robot``; it may have other parameter values.
    """
    settings = ControllerSettings(controller) if isinstance(controller, str) else controller
    check_kind("controller", settings, ControllerSettings, "the name of a control law, or ControllerSettings(…)")
    check_is_robot(robot)
    refuse_floating_base(robot, "a controller")
    law = find_controller(settings.name)
    if law is not Walker and settings.feedback != DEFAULT_FEEDBACK:
        raise InputError(f"feedback is a setting of walker, and the controller is {settings.name}; remove it")
    limits = _get_torque_limits(robot) if settings.torque_limits is True else settings.torque_limits
    fields: dict[str, Any] = {} if limits is None or limits is False else {"torque_limits": limits}
    if not issubclass(law, AdaptiveLaw):
        _check_no_adaptation(settings)
        fields |= suggest_gains(settings.name, robot, motion=motion, rate=rate)
        return law(robot if model is None else model, **fields | _check_gains(law, settings))
    base, learn = _select_unknowns(law, settings, robot)
    fields |= suggest_gains(
        settings.name,
        robot,
        base,
        learn=learn,
        motion=motion,
        rate=rate,
        adaptation=settings.adaptation,
        feedback=settings.feedback,
    )
    gains = _check_gains(law, settings, feedback=fields.get("feedback"))
    adaptation = _set_adaptation_gain(fields["adaptation"], gains.pop("adaptation", None))
    fields |= gains | {"learn": learn, "adaptation": _wrap_adaptation(settings, adaptation)}
    return law(robot, base, **fields)


def _get_torque_limits(robot: Robot) -> np.ndarray | None:
    """Return the torque limits of the description, or None if there are none."""
    limits = np.array([limit.effort for limit in robot.actuated_limits])
    limited = np.isfinite(limits) & (limits > 0.0)
    return np.where(limited, limits, np.inf) if limited.any() else None


def _check_gains(law: type[Law], settings: ControllerSettings, *, feedback: Any = None) -> dict[str, Any]:
    """Return the gains that are given; raise an error if the law does not have one of them.

    Gains of a feedback law replace those of ``feedback``, which is the suggested feedback law of walker.
    """
    own = feedback.gain_names if isinstance(feedback, Feedback) else ()
    names = tuple(name for name in law.GAINS if not own or name != "feedback") + own
    names = (*names, "adaptation") if issubclass(law, AdaptiveLaw) else names
    for name in settings.gains:
        if name not in names:
            raise UnknownNameError(f"{settings.name} has no gain {name!r}{suggest_names(name, names)}")
    gains: dict[str, Any] = {name: gain for name, gain in settings.gains.items() if name not in own}
    if isinstance(feedback, Feedback):
        replaced: Any = {name: gain for name, gain in settings.gains.items() if name in own}
        gains["feedback"] = replace(feedback, **replaced)  # type: ignore[type-var]
    return gains


def _check_no_adaptation(settings: ControllerSettings) -> None:
    """Raise an error if a setting of adaptive controllers is given."""
    adaptive_settings = {
        "learn": settings.learn,
        "friction": settings.friction,
        "leakage": settings.leakage,
        "dead_zone": settings.dead_zone,
        "adaptation": settings.adaptation != DEFAULT_ADAPTATION,
    }
    for name, value in adaptive_settings.items():
        if value:
            raise InputError(f"{name} is for adaptive controllers, and {settings.name} is not adaptive; remove it")


def _select_unknowns(
    law: type[Law], settings: ControllerSettings, robot: Robot
) -> tuple[BaseParameters | None, tuple[str, ...] | None]:
    """Return the base parameters (None if they are not adapted) and the names of the unknown parameters."""
    for name in settings.friction:
        if name not in FRICTION_PARAMETERS:
            raise UnknownNameError(f"there is no friction {name!r}{suggest_names(name, FRICTION_PARAMETERS)}")
    friction = tuple(f"*.{FRICTION_PARAMETERS[name]}" for name in settings.friction)
    if settings.learn:
        return None, (*settings.learn, *friction)
    if law is Walker or settings.adaptation == "natural":
        default = ("viscous",) if law is Walker else ()
        return None, select_parameters(robot, rotor_inertia=False, friction=tuple(settings.friction) or default)
    base = base_parameters(robot)
    return base, (*base.independent, *friction)


def _set_adaptation_gain(suggested: Gain | Adaptation, gain: Gain | None) -> Adaptation:
    """Return the suggested adaptation law; a gain that is given replaces the suggested gain."""
    if not isinstance(suggested, Adaptation):
        return Gradient(suggested if gain is None else gain)
    if gain is None:
        return suggested
    if isinstance(suggested, Natural) and np.ndim(gain):
        raise InputError("the gain adaptation of natural adaptation is one number for all parameters; give one number")
    return replace(suggested, gain=gain)  # type: ignore[type-var]


def _wrap_adaptation(settings: ControllerSettings, adaptation: Adaptation) -> Adaptation:
    """Add leakage and a dead zone, which keep the estimate from drifting under noise and disturbances."""
    if settings.leakage is not None:
        adaptation = Leakage(adaptation, settings.leakage)
    return adaptation if settings.dead_zone is None else DeadZone(adaptation, settings.dead_zone)
