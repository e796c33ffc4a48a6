"""Which road to the base parameters: the list of them, who accepts what, and the door."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from ytheta.errors import InputError, UnknownNameError, nearest
from ytheta.minimal import numeric
from ytheta.minimal.base_parameters import BaseParameters
from ytheta.minimal.standard_parameters import FRICTION, asked_parameters
from ytheta.robot.robot import Robot

# "auto" takes the first that accepts: a closed form where there is one, a rank where there is none.
METHODS = ("lin", "qr", "ha")


def acceptance(robot: Robot, *, friction: Sequence[str] = ()) -> dict[str, str | None]:
    """For every method None, or the reason why it does not take this robot."""
    return {method: _reason(robot, method, friction) for method in METHODS}


def base_parameters(
    robot: Robot, *, method: str = "auto", rotor_inertia: bool = False, friction: Sequence[str] = ()
) -> BaseParameters:
    """The combinations of standard parameters that motion can reveal.

    ``method``: "lin" (closed form), "ha" (regrouping of the Lagrangian), "qr" (numerical rank; takes everything), or
    "auto". ``rotor_inertia`` and ``friction`` ("viscous", "coulomb", "offset") add joint parameters to the question.
    The sizes of declared forces are always asked about: such a force acts whether one asks or not.
    """
    if isinstance(friction, str):
        raise InputError(f"friction is a list of kinds, such as ({friction!r},), not one text")
    for kind in friction:
        if kind not in FRICTION:
            raise UnknownNameError(f"there is no friction {kind!r}{nearest(kind, FRICTION)}")
    if method not in ("auto", *METHODS):
        raise UnknownNameError(f"there is no method {method!r}{nearest(method, ('auto', *METHODS))}")
    chosen = method
    if method == "auto":
        chosen = next((name for name in METHODS if _reason(robot, name, friction) is None), "qr")
    reason = _reason(robot, chosen, friction)
    if reason is not None:
        others = [name for name, no in acceptance(robot, friction=friction).items() if no is None]
        named = f"{chosen} does not take this: {reason} (accepted: {', '.join(others)})" if others else reason
        raise InputError(named)
    if chosen == "qr":
        return numeric.base_parameters(
            robot, asked=asked_parameters(robot, rotor_inertia=rotor_inertia, friction=friction)
        )
    road: Callable[..., BaseParameters] = import_module(f"ytheta.minimal.{chosen}").base_parameters
    return road(robot, rotor_inertia=rotor_inertia)


def _reason(robot: Robot, method: str, friction: Sequence[str]) -> str | None:
    if method == "qr":
        return numeric.accepts(robot)
    if friction:
        return "it knows link parameters and rotor inertias, not friction; method qr does"
    if robot.forces:
        return "it knows link parameters and rotor inertias, not declared forces; method qr does"
    own: str | None = import_module(f"ytheta.minimal.{method}").accepts(robot)
    return own
