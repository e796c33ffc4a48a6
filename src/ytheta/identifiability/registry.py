"""The methods that find base parameters: their names, the robots that they accept, and the entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from ytheta.arguments import check_words
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability import numeric
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parameters import FRICTION_PARAMETERS, match_parameters, select_parameters
from ytheta.robot.robot import Robot, check_is_robot

# "auto" uses the first method that accepts the robot: the closed form if there is one, else the numerical rank.
METHODS = ("lin", "qr", "ha")


def explain_refusals(
    robot: Robot, *, friction: Sequence[str] = (), parameters: Sequence[str] = ()
) -> dict[str, str | None]:
    """Return for every method the reason why it does not accept this robot, or None if it does."""
    return {method: _explain_refusal(robot, method, friction, parameters) for method in METHODS}


def base_parameters(
    robot: Robot,
    *,
    method: str = "auto",
    rotor_inertia: bool = False,
    friction: Sequence[str] | None = (),
    parameters: Sequence[str] | None = (),
) -> BaseParameters:
    """Return the combinations of standard parameters that can be identified from motion.

    ``method``: "lin" (closed form), "ha" (regrouping of the Lagrangian), "qr" (numerical rank; accepts every robot), or
    "auto". By default all link parameters and the magnitudes of declared forces are selected.
    ``rotor_inertia`` and ``friction`` ("viscous", "coulomb", "offset") add the drive parameters.
    ``parameters``: names or patterns ("link_*", "joint_*.f?", "motor_4.Ia") of the standard parameters to select; they
    replace the default selection and cannot be combined with the two options above. Parameters that are not selected
    count as known.
    """
    check_is_robot(robot)
    friction = check_words("friction", friction, "kinds", tuple(FRICTION_PARAMETERS))
    parameters = check_words("parameters", parameters, "names or patterns", ("link_*", "joint_*.f?"))
    if parameters and (rotor_inertia or friction):
        raise InputError("'parameters' already selects the parameters; leave 'rotor_inertia' and 'friction' out")
    for kind in friction:
        if kind not in FRICTION_PARAMETERS:
            raise UnknownNameError(f"there is no friction {kind!r}{suggest_names(kind, FRICTION_PARAMETERS)}")
    if method not in ("auto", *METHODS):
        raise UnknownNameError(f"there is no method {method!r}{suggest_names(method, ('auto', *METHODS))}")
    method_name = method
    if method == "auto":
        method_name = next(
            (name for name in METHODS if _explain_refusal(robot, name, friction, parameters) is None), "qr"
        )
    reason = _explain_refusal(robot, method_name, friction, parameters)
    if reason is not None:
        refusals = explain_refusals(robot, friction=friction, parameters=parameters)
        accepting = [name for name, refusal in refusals.items() if refusal is None]
        if not accepting:
            raise InputError(reason)
        raise InputError(f"{method_name} does not accept this robot: {reason} (accepted by: {', '.join(accepting)})")
    if method_name == "qr":
        if parameters:
            return numeric.base_parameters(robot, selected=match_parameters(robot, parameters))
        selected = select_parameters(robot, rotor_inertia=rotor_inertia, friction=friction)
        return numeric.base_parameters(robot, selected=selected)
    compute: Callable[..., BaseParameters] = import_module(f"ytheta.identifiability.{method_name}").base_parameters
    return compute(robot, rotor_inertia=rotor_inertia)


def _explain_refusal(robot: Robot, method: str, friction: Sequence[str], parameters: Sequence[str]) -> str | None:
    if method == "qr":
        return numeric.explain_refusal(robot)
    if parameters:
        return "it handles all link parameters together, not a selection of parameters; method qr does"
    if friction:
        return "it handles link parameters and rotor inertias, not friction; method qr does"
    if robot.forces:
        return "it handles link parameters and rotor inertias, not declared forces; method qr does"
    reason: str | None = import_module(f"ytheta.identifiability.{method}").explain_refusal(robot)
    return reason
