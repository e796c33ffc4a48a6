"""The registry of formulations of the regressor."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.robot.robot import Robot, check_is_robot

# In order of preference: the first formulation that accepts a robot is the default.
FORMULATIONS = ("newton_euler", "spatial_tree", "lagrange", "kronecker")


def formulations(robot: Robot) -> dict[str, str | None]:
    """Return for every formulation of the regressor None if it accepts the robot, else the reason why not."""
    check_is_robot(robot)
    return {name: _import_formulation(name).explain_refusal(robot) for name in FORMULATIONS}


def choose_formulation(robot: Robot, name: str = "") -> ModuleType:
    """Return the named formulation or, without a name, the first that accepts the robot.

    Raise InputError if the named formulation does not accept the robot.
    """
    if not name:
        return _import_formulation(next(name for name, reason in formulations(robot).items() if reason is None))
    if name not in FORMULATIONS:
        raise UnknownNameError(f"there is no formulation {name!r}{suggest_names(name, FORMULATIONS)}")
    reason = _import_formulation(name).explain_refusal(robot)
    if reason is not None:
        accepting = [other for other, refusal in formulations(robot).items() if refusal is None]
        raise InputError(f"{name} does not accept this robot: {reason} (accepted by: {', '.join(accepting)})")
    return _import_formulation(name)


def _import_formulation(name: str) -> ModuleType:
    return import_module(f"ytheta.dynamics.formulations.{name}")
