"""The regressor of a robot's links as equations: the formulations with SymPy symbols as scalars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ytheta.dynamics.formulations import lagrange
from ytheta.dynamics.formulations.registry import choose_formulation
from ytheta.dynamics.formulations.sixteen import LINK_CASES, check_case
from ytheta.dynamics.mechanism import Mechanism, build_mechanism, sympy_motion
from ytheta.errors import InputError, suggest_names
from ytheta.robot.floating import refuse_floating_base
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Shaped


def derive_regressor(
    robot: Robot,
    *,
    formulation: str = "",
    lengths: Mapping[str, Any] | None = None,
    angles: Mapping[str, Any] | None = None,
) -> Shaped[np.ndarray, "joints params"]:
    """Return Y as SymPy expressions of q1, qd1, qdd1 …; its columns are the link parameters that come first in theta.

    The symbolic lengths and angles of the description stay symbols, unless ``lengths`` and ``angles`` give them values
    or other symbols. Raise InputError if the robot has loops or couplings, because their equations are not explicit.
    """
    mechanism = _build_symbolic_mechanism(robot, lengths, angles)
    Y: np.ndarray = choose_formulation(robot, formulation).regressor(mechanism, sympy_motion(mechanism.joints))
    return Y


def derive_link_regressor(
    robot: Robot,
    link: str,
    *,
    case: str = "general",
    lengths: Mapping[str, Any] | None = None,
    angles: Mapping[str, Any] | None = None,
) -> dict[str, Shaped[np.ndarray, " joints"]]:
    """Return the columns of one link in the parameters of Lu and Meng, as SymPy expressions by parameter.

    ``case`` is "general" (sixteen parameters), "point-mass" (ten), or "center-on-x" and "center-on-z" (six): the
    principal axes of the link are the axes of its frame, and its centre of mass lies on the x or the z axis.
    ``reduce_parameters`` gives the values of these parameters. Lengths, angles and errors are those of
    ``derive_regressor``.
    """
    check_case(case)
    mechanism = _build_symbolic_mechanism(robot, lengths, angles)
    motion = sympy_motion(mechanism.joints)
    if case == "general":
        Y = lagrange.sixteen_columns(mechanism, motion, link)
    elif case == "point-mass":
        Y = lagrange.point_mass_columns(mechanism, motion, link)
    else:
        Y = lagrange.principal_axes_columns(mechanism, motion, link, center="x" if case == "center-on-x" else "z")
    return dict(zip(LINK_CASES[case], Y.T, strict=True))


def _build_symbolic_mechanism(
    robot: Robot, lengths: Mapping[str, Any] | None, angles: Mapping[str, Any] | None
) -> Mechanism:
    import sympy

    check_is_robot(robot)
    refuse_floating_base(robot, "the symbolic derivation of regressors")
    if robot.loops or robot.couplings:
        raise InputError(f"robot {robot.name!r} has loops or couplings; equations can be derived for trees only")

    def choose_scalars(kind: str, names: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
        for name in given:
            if name not in names:
                raise InputError(f"robot {robot.name!r} has no {kind} {name!r}{suggest_names(name, names)}")
        return {name: sympy.Symbol(name, real=True) for name in names} | dict(given)

    values = choose_scalars("length", list(dict(robot.lengths)), lengths or {})
    twists = choose_scalars("angle", list(dict(robot.angles)), angles or {})
    pairs = {name: (sympy.cos(angle), sympy.sin(angle)) for name, angle in twists.items()}
    return build_mechanism(robot, values, pairs)
