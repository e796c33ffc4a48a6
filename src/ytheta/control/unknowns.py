"""The unknown parameters of a controller: which ones it adapts, and the values of all others.

Identity      tau = Y_k theta_k + Y_u theta_u
Reference     [lu1993] (15)-(18): the known and the unknown columns of Y

With base parameters, the columns of the independent parameters carry beta = K theta and the dependent parameters are
zero: tau = Y_b beta. This also holds for the regressor of two velocities: its C is made of Christoffel symbols, so a
parameter without effect on M has no effect on C. Parameters outside the base parameters (usually friction) keep their
own columns and can be unknown as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from ytheta.dynamics.mechanism import exact_array
from ytheta.dynamics.vectors import zeros
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.robot.parameters import select_parameters
from ytheta.robot.robot import Robot
from ytheta.shapes import AnyPerParameter, AnyPerUnknown, Float, PerUnknown


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The parameters that a controller adapts.

    Attributes
    ----------
    names    the unknown parameters, in the order of theta; with base parameters, their independent parameters
    indices  their positions in theta
    theta    values of all columns of Y, from the robot description; combined into beta if there are base parameters
    base     the base parameters, if there are any
    """

    names: tuple[str, ...]
    indices: tuple[int, ...]
    theta: Float[np.ndarray, "params"]
    base: BaseParameters | None = None

    @property
    def nominal(self) -> PerUnknown:
        """The values of the unknown parameters in the robot description."""
        return self.theta[list(self.indices)]

    def extract(self, theta: Float[np.ndarray, "runs params"]) -> Float[np.ndarray, "runs unknown"]:
        """Return the values of the unknown parameters for these standard parameters, one row per robot."""
        return _combine(theta, self.base)[:, list(self.indices)]

    def fill(self, values: AnyPerUnknown) -> AnyPerParameter:
        """Return all parameters, with these values or symbols for the unknown ones."""
        theta = exact_array(self.theta.tolist()) if len(self.theta) else zeros(0)
        for index, value in zip(self.indices, values, strict=True):
            theta[index] = value
        return theta


def select_unknowns(robot: Robot, base: BaseParameters | None, learn: Sequence[str] | None) -> Unknowns:
    """Select unknown parameters by names or patterns such as ``link_*.m``.

    None selects the base parameters, or all parameters of the links if there are no base parameters.
    """
    if isinstance(learn, str):
        raise InputError(f"learn is a list of names or patterns, such as ({learn!r},), not a single string")
    positions = {name: k for k, name in enumerate(robot.parameter_names)}
    dependent: set[str] = set()
    if base is not None:
        base.check_robot(robot)
        dependent = set(base.selected) - set(base.independent)
    theta = _combine(robot.numeric.theta[None], base)[0]
    default = select_parameters(robot, rotor_inertia=False) if base is None else base.independent
    selected = set(default if learn is None else _match(robot, learn, dependent))
    names = tuple(name for name in positions if name in selected)
    return Unknowns(names, tuple(positions[name] for name in names), theta, base)


def _combine(theta: Float[np.ndarray, "runs params"], base: BaseParameters | None) -> Float[np.ndarray, "runs params"]:
    """Replace standard parameters by beta at the independent ones and zero at the dependent ones."""
    combined = theta.copy()
    if base is not None:
        index = {name: k for k, name in enumerate(base.robot.parameter_names)}
        combined[:, [index[name] for name in base.selected]] = 0.0
        combined[:, base.places] = theta @ base.K.T
    return combined


def _match(robot: Robot, patterns: Sequence[str], dependent: set[str]) -> set[str]:
    candidates = [name for name in robot.parameter_names if name not in dependent]
    names: set[str] = set()
    for pattern in patterns:
        if pattern in dependent:
            raise InputError(
                f"{pattern!r} is part of base parameters; give their independent parameters, or leave base out"
            )
        matching = {name for name in candidates if name == pattern or fnmatchcase(name, pattern)}
        if not matching:
            raise UnknownNameError(
                f"robot {robot.name!r} has no parameter {pattern!r} to learn{suggest_names(pattern, candidates)}"
            )
        names |= matching
    return names
