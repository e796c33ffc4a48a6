"""Which parameters a controller learns, and what it takes the others for.

Identity      tau = Y_k theta_k + Y_u theta_u
Reference     [lu1993] (15)-(18): the known and the unknown columns of Y

With base parameters the columns of their independent parameters carry beta = K theta, and whatever else was asked about
is zero: tau = Y_b beta. That holds for the regressor of two velocities too, since its C is made of Christoffel symbols:
what has no part in M has none in C. Parameters that the base parameters were not asked about (friction, mostly) keep
their own columns, and can be learnt beside them.
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
from ytheta.shapes import Float, Shaped


@dataclass(frozen=True, eq=False)
class Unknowns:
    """``theta`` are the values of the description, as columns of Y carry them; ``places`` are those of the unknown."""

    names: tuple[str, ...]
    places: tuple[int, ...]
    theta: Float[np.ndarray, "params"]
    base: BaseParameters | None = None

    def values(self, theta: Float[np.ndarray, "runs params"]) -> Float[np.ndarray, "runs unknown"]:
        """What the unknown are where the standard parameters are these: one row for every robot."""
        return _carried(theta, self.base)[:, list(self.places)]

    @property
    def described(self) -> Float[np.ndarray, "unknown"]:
        """What the description says of the unknown."""
        return self.theta[list(self.places)]

    def filled(self, unknown: Shaped[np.ndarray, "unknown"]) -> Shaped[np.ndarray, "params"]:
        """All parameters, with symbols in the places of the unknown."""
        theta = exact_array(self.theta.tolist()) if len(self.theta) else zeros(0)
        for place, symbol in zip(self.places, unknown, strict=True):
            theta[place] = symbol
        return theta


def select_unknowns(robot: Robot, base: BaseParameters | None, learn: Sequence[str] | None) -> Unknowns:
    """The unknown by names or patterns such as ``link_*.m``; all link parameters where None is given."""
    if isinstance(learn, str):
        raise InputError(f"learn is a list of names or patterns, such as ({learn!r},), not one text")
    columns = {name: k for k, name in enumerate(robot.parameter_names)}
    known: set[str] = set()  # what base parameters have taken in
    if base is not None:
        base.check_robot(robot)
        known = set(base.selected) - set(base.independent)
    theta = _carried(robot.numeric.theta[None], base)[0]
    usual = select_parameters(robot, rotor_inertia=False) if base is None else base.independent
    names = usual if learn is None else _named(robot, learn, known)
    chosen = set(names)
    ordered = tuple(name for name in columns if name in chosen)
    return Unknowns(ordered, tuple(columns[name] for name in ordered), theta, base)


def _carried(theta: Float[np.ndarray, "runs params"], base: BaseParameters | None) -> Float[np.ndarray, "runs params"]:
    """Standard parameters as the columns of Y carry them."""
    carried = theta.copy()
    if base is not None:
        index = {name: k for k, name in enumerate(base.robot.parameter_names)}
        carried[:, [index[name] for name in base.selected]] = 0.0
        carried[:, base.places] = theta @ base.K.T
    return carried


def _named(robot: Robot, patterns: Sequence[str], joined: set[str]) -> set[str]:
    free = [name for name in robot.parameter_names if name not in joined]
    found: set[str] = set()
    for pattern in patterns:
        if pattern in joined:
            raise InputError(f"{pattern!r} is part of base parameters; name their heads, or leave the base out")
        matching = {name for name in free if name == pattern or fnmatchcase(name, pattern)}
        if not matching:
            raise UnknownNameError(
                f"robot {robot.name!r} has no parameter {pattern!r} to learn{suggest_names(pattern, free)}"
            )
        found |= matching
    return found
