"""Which road to the base parameters: the list of them, who accepts what, and the door."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability import numeric
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parameters import FRICTION_PARAMETERS, match_parameters, select_parameters
from ytheta.robot.robot import Robot

# "auto" takes the first that accepts: a closed form where there is one, a rank where there is none.
METHODS = ("lin", "qr", "ha")


def acceptance(robot: Robot, *, friction: Sequence[str] = (), parameters: Sequence[str] = ()) -> dict[str, str | None]:
    """For every method None, or the reason why it does not take this robot."""
    return {method: _reason(robot, method, friction, parameters) for method in METHODS}


def base_parameters(
    robot: Robot,
    *,
    method: str = "auto",
    rotor_inertia: bool = False,
    friction: Sequence[str] = (),
    parameters: Sequence[str] = (),
) -> BaseParameters:
    """The combinations of standard parameters that motion can reveal.

    ``method``: "lin" (closed form), "ha" (regrouping of the Lagrangian), "qr" (numerical rank; takes everything), or
    "auto". ``rotor_inertia`` and ``friction`` ("viscous", "coulomb", "offset") add joint parameters to the question.
    The sizes of declared forces are always asked about: such a force acts whether one asks or not.
    ``parameters``: names or patterns ("link_*", "joint_*.f?", "motor_4.Ia") of exactly the standard parameters that the
    question is about, in the place of the two above; all others count as known.
    """
    for key, texts, what in (("friction", friction, "kinds"), ("parameters", parameters, "names or patterns")):
        if isinstance(texts, str):
            raise InputError(f"{key} is a list of {what}, such as ({texts!r},), not one text")
    if parameters and (rotor_inertia or friction):
        raise InputError("'parameters' already selects the parameters; leave 'rotor_inertia' and 'friction' out")
    for kind in friction:
        if kind not in FRICTION_PARAMETERS:
            raise UnknownNameError(f"there is no friction {kind!r}{suggest_names(kind, FRICTION_PARAMETERS)}")
    if method not in ("auto", *METHODS):
        raise UnknownNameError(f"there is no method {method!r}{suggest_names(method, ('auto', *METHODS))}")
    chosen = method
    if method == "auto":
        chosen = next((name for name in METHODS if _reason(robot, name, friction, parameters) is None), "qr")
    reason = _reason(robot, chosen, friction, parameters)
    if reason is not None:
        others = [
            name for name, no in acceptance(robot, friction=friction, parameters=parameters).items() if no is None
        ]
        named = f"{chosen} does not take this: {reason} (accepted: {', '.join(others)})" if others else reason
        raise InputError(named)
    if chosen == "qr":
        asked = select_parameters(robot, rotor_inertia=rotor_inertia, friction=friction)
        return numeric.base_parameters(robot, asked=match_parameters(robot, parameters) if parameters else asked)
    road: Callable[..., BaseParameters] = import_module(f"ytheta.identifiability.{chosen}").base_parameters
    return road(robot, rotor_inertia=rotor_inertia)


def _reason(robot: Robot, method: str, friction: Sequence[str], parameters: Sequence[str]) -> str | None:
    if method == "qr":
        return numeric.accepts(robot)
    if parameters:
        return "it knows all link parameters together, not a choice of parameters; method qr does"
    if friction:
        return "it knows link parameters and rotor inertias, not friction; method qr does"
    if robot.forces:
        return "it knows link parameters and rotor inertias, not declared forces; method qr does"
    own: str | None = import_module(f"ytheta.identifiability.{method}").accepts(robot)
    return own
