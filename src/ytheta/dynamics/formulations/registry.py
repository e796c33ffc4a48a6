"""The registry of formulations of the regressor."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.robot.robot import Robot, check_is_robot

# In order of preference: the first formulation that accepts a robot is the default.
FORMULATIONS = ("newton_euler", "spatial_tree", "inward_newton_euler", "lagrange", "kronecker")
# The formulations of inverse dynamics, likewise. newton_euler accepts every robot: the torques of the opened tree are
# enough for a robot with loops.
RECURSIONS = ("minimal_newton_euler", "newton_euler", "composite_newton_euler")


def formulations(robot: Robot) -> dict[str, str | None]:
    """Return for every formulation of the regressor None if it accepts the robot, else the reason why not."""
    check_is_robot(robot)
    return {name: _import_formulation(name).explain_refusal(robot) for name in FORMULATIONS}


def choose_formulation(robot: Robot, name: str = "") -> ModuleType:
    """Return the named formulation or, without a name, the first that accepts the robot.

    Raise InputError if the named formulation does not accept the robot.
    """
    if not name:
        check_is_robot(robot)
        modules = map(_import_formulation, FORMULATIONS)  # imported one after the other, up to the first that accepts
        return next(module for module in modules if module.explain_refusal(robot) is None)
    if name in RECURSIONS and name not in FORMULATIONS:
        raise UnknownNameError(
            f"{name} is a formulation of inverse dynamics, not of the regressor; choose from: {', '.join(FORMULATIONS)}"
        )
    if name not in FORMULATIONS:
        raise UnknownNameError(f"there is no formulation {name!r}{suggest_names(name, FORMULATIONS)}")
    reason = _import_formulation(name).explain_refusal(robot)
    if reason is not None:
        accepting = [other for other, refusal in formulations(robot).items() if refusal is None]
        raise InputError(f"{name} does not accept this robot: {reason} (accepted by: {', '.join(accepting)})")
    return _import_formulation(name)


def explain_recursion_refusals(robot: Robot, *, theta_input: bool = False) -> dict[str, str | None]:
    """Return for every formulation of inverse dynamics None if it accepts the robot, else the reason why not.

    ``theta_input``: whether the parameters are inputs instead of numbers.
    """
    return {name: _explain_recursion_refusal(robot, name, theta_input=theta_input) for name in RECURSIONS}


def choose_recursion(robot: Robot, name: str = "", *, theta_input: bool = False) -> str:
    """Return the name of a formulation of inverse dynamics: the given one or, without a name, the first that accepts.

    Raise InputError if the named formulation cannot be used.
    """
    if name in FORMULATIONS and name not in RECURSIONS:
        raise UnknownNameError(
            f"{name} is a formulation of the regressor, not of inverse dynamics; choose from: {', '.join(RECURSIONS)}"
        )
    if name and name not in RECURSIONS:
        raise UnknownNameError(f"inverse dynamics has no formulation {name!r}{suggest_names(name, RECURSIONS)}")
    if not name:
        return next(
            name for name in RECURSIONS if _explain_recursion_refusal(robot, name, theta_input=theta_input) is None
        )
    reason = _explain_recursion_refusal(robot, name, theta_input=theta_input)
    if reason is not None:
        raise InputError(f"{name} cannot be used: {reason}")
    return name


def _explain_recursion_refusal(robot: Robot, name: str, *, theta_input: bool) -> str | None:
    if name == "newton_euler":
        return None
    reason: str | None = _import_formulation(name).explain_refusal(robot)
    if reason is None and theta_input:
        return "its constants are computed before tracing, so theta cannot be an input; use newton_euler"
    return reason


def _import_formulation(name: str) -> ModuleType:
    return import_module(f"ytheta.dynamics.formulations.{name}")
