"""The methods that find base parameters: their names, the robots that they accept, and the entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from ytheta.arguments import check_words
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability import numeric
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import check_friction, declare_zero, match_parameters, select_parameters
from ytheta.robot.robot import Robot, check_is_robot

if TYPE_CHECKING:
    from ytheta.identifiability.regrouping import Regrouping

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
    zero: Sequence[str] | None = (),
) -> BaseParameters:
    """Return the combinations of standard parameters that can be identified from motion.

    ``method``: "lin" (closed form), "ha" (regrouping of the Lagrangian), "qr" (numerical rank; accepts every robot), or
    "auto". By default all link parameters and the magnitudes of declared forces are selected.
    ``rotor_inertia`` and ``friction`` ("viscous", "coulomb", "offset", "root", "load") add the drive parameters;
    those of "root" and "load" exist only for drives with these laws.
    ``parameters``: names or patterns ("link_*", "joint_*.f?", "motor_4.Ia") of the standard parameters to select; they
    replace the default selection and cannot be combined with the two options above. Parameters that are not selected
    count as known.
    ``zero``: names or patterns ("link3.mx", "link4.m[xy]") of link parameters that are zero by symmetry; the robot of
    the result declares them zero, too.
    """
    check_is_robot(robot)
    robot = declare_zero(robot, zero)
    friction = check_friction(friction)
    parameters = check_words("parameters", parameters, "names or patterns", ("link_*", "joint_*.f?"))
    if parameters and (rotor_inertia or friction):
        raise InputError("'parameters' already selects the parameters; leave 'rotor_inertia' and 'friction' out")
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


def model_parameters(
    robot: Robot,
    *,
    method: str = "auto",
    rotor_inertia: bool = False,
    friction: Sequence[str] | None = (),
    parameters: Sequence[str] | None = (),
    zero: Sequence[str] | None = (),
    unknown_geometry: bool = False,
) -> BaseParameters | Regrouping:
    """Return the parameters that can be identified from motion, with or without known geometry.

    With method "ha", if a length or an angle has no value, these are the parameters of the regrouped Lagrangian, which
    need no geometry; otherwise they are the value of ``base_parameters``, whose arguments these are. If
    ``unknown_geometry`` is true, all symbolic lengths and angles count as unknown, even if they have values. The robot
    of a regrouped Lagrangian has no inertias and no values of unknown lengths and angles, because they take no part.
    """
    check_is_robot(robot)
    robot = declare_zero(robot, zero)
    if not (unknown_geometry or (method == "ha" and robot.unset_symbols)):
        return base_parameters(
            robot, method=method, rotor_inertia=rotor_inertia, friction=friction, parameters=parameters
        )
    if method not in ("auto", "ha"):
        raise InputError(f"method {method} needs the geometry; use method ha, or leave unknown_geometry out")
    if parameters:
        raise InputError("with unknown geometry all parameters are selected together; leave 'parameters' out")
    if robot.forces:
        raise InputError(
            f"robot {robot.name!r} has declared forces, which a Lagrangian with unknown geometry does not cover; set "
            "the lengths and angles, or remove the forces"
        )
    if not robot.symbolic_lengths and not robot.symbolic_angles:
        raise InputError(
            f"robot {robot.name!r} has no symbolic lengths or angles, so its geometry is known; declare unknown ones "
            "under [lengths] and [angles] in its TOML file"
        )
    from ytheta.identifiability import ha  # imported here, since it is rarely needed

    reason = ha.explain_refused_regrouping(robot, "set its lengths and angles, and leave unknown_geometry out")
    if reason is not None:
        raise InputError(reason)
    unknown = robot.symbolic_lengths | robot.symbolic_angles if unknown_geometry else robot.unset_symbols
    described = replace(
        robot.with_inertias({link.name: Inertia() for link in robot.links}),
        lengths=tuple((name, None if name in unknown else value) for name, value in robot.lengths),
        angles=tuple((name, None if name in unknown else value) for name, value in robot.angles),
        inertias_unknown=True,
    )
    return ha.regroup_lagrangian(
        described,
        rotor_inertia=rotor_inertia,
        friction=friction,
        lengths=described.unset_lengths,
        angles=described.unset_angles,
    )


def _explain_refusal(robot: Robot, method: str, friction: Sequence[str], parameters: Sequence[str]) -> str | None:
    if robot.unset_angles:
        name = robot.unset_angles[0]
        return (
            f"robot {robot.name!r} has an angle without a value, {name!r}, on which the number of base parameters "
            f"depends; set it with robot.with_angles({name}=…) or --angle {name}=VALUE, or use method ha of "
            "model_parameters (base --method ha), which keeps it as a symbol"
        )
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
