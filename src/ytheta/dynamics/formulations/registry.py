"""Which formulation for which robot: the list of them, who accepts what, and why not."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.robot.robot import Robot

# In the order of preference: the first that accepts a robot is its own.
FORMULATIONS = ("newton_euler", "spatial_tree", "lagrange", "kronecker")


def acceptance(robot: Robot) -> dict[str, str | None]:
    """For every formulation None, or the reason why it does not take this robot."""
    return {name: _module(name).accepts(robot) for name in FORMULATIONS}


def formulation_of(robot: Robot, name: str = "") -> ModuleType:
    """The formulation named, or the first that accepts the robot; InputError where the one named does not."""
    if not name:
        return _module(next(name for name, reason in acceptance(robot).items() if reason is None))
    if name not in FORMULATIONS:
        raise UnknownNameError(f"there is no formulation {name!r}{suggest_names(name, FORMULATIONS)}")
    reason = _module(name).accepts(robot)
    if reason is not None:
        others = [other for other, no in acceptance(robot).items() if no is None]
        raise InputError(f"{name} does not take this: {reason} (accepted: {', '.join(others)})")
    return _module(name)


def _module(name: str) -> ModuleType:
    return import_module(f"ytheta.dynamics.formulations.{name}")
