"""The regressor of a robot's links as equations: the formulations with SymPy symbols as scalars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ytheta.dynamics.formulations.registry import choose_formulation
from ytheta.dynamics.mechanism import build_mechanism
from ytheta.dynamics.motion import sympy_motion
from ytheta.errors import InputError, suggest_names
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Shaped


def derive_regressor(
    robot: Robot, *, formulation: str = "", lengths: Mapping[str, Any] | None = None
) -> Shaped[np.ndarray, "joints params"]:
    """Return Y as SymPy expressions of q1, qd1, qdd1 …; its columns are the link parameters that come first in theta.

    The symbolic lengths of the description stay symbols, unless ``lengths`` gives them values or other symbols. Raise
    InputError if the robot has loops or couplings, because their equations are not explicit.
    """
    import sympy

    check_is_robot(robot)
    if robot.loops or robot.couplings:
        raise InputError(f"robot {robot.name!r} has loops or couplings; equations can be derived for trees only")
    names = (*dict(robot.lengths), *robot.unset_lengths)
    for name in lengths or {}:
        if name not in names:
            raise InputError(f"robot {robot.name!r} has no length {name!r}{suggest_names(name, names)}")
    values: dict[str, Any] = {name: sympy.Symbol(name, real=True) for name in names} | dict(lengths or {})
    method = choose_formulation(robot, formulation)
    Y: np.ndarray = method.regressor(build_mechanism(robot, values), sympy_motion(len(robot.movable)))
    return Y
