"""Plant parameters that change during a run: new values at a time, and a load that the robot grasps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.conventions import LINK_PARAMETERS, parameter_name
from ytheta.errors import InputError
from ytheta.robot.frame import IDENTITY, Frame
from ytheta.robot.inertia import Inertia
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

GRASPED = "grasped"  # name of the link that is added for a grasped load


@dataclass(frozen=True)
class ParameterChange:
    """New values of standard parameters of the plant, from the first control instant at or after time t (s).

    Attributes
    ----------
    t       time of the change, s
    values  the new values, by the names of the parameters
    """

    t: float
    values: Mapping[str, float]

    def __post_init__(self) -> None:
        if not (self.t >= 0.0 and math.isfinite(self.t)):
            raise InputError(f"the time of a parameter change is {self.t} s; give a time of 0 or later")
        for name, value in self.values.items():
            if not math.isfinite(value):
                raise InputError(f"the new value of {name!r} is {value}; give a finite number")

    def find_instant(self, period: float) -> int:
        """Return the index of the control instant at which the change takes effect."""
        return math.ceil(self.t / period - 1e-9)


@dataclass(frozen=True, repr=False)
class Grasp:
    """A load that the robot grasps during a simulation; ``grasp`` creates it.

    Attributes
    ----------
    inertia  inertia of the load in its own frame
    t        time at which the robot grasps the load, s
    on       the link that grasps the load; None for the last link
    frame    pose of the load in the frame of that link
    name     name of the load, a link of the robot that has no mass before t
    """

    inertia: Inertia
    t: float = 0.0
    on: str | None = None
    frame: Frame = IDENTITY
    name: str = GRASPED

    def __repr__(self) -> str:
        return f"Grasp({self.inertia.mass:g} kg at {self.t:g} s on {self.on or 'the last link'})"

    @property
    def change(self) -> ParameterChange:
        """The parameter change that gives the load its inertia."""
        pairs = zip(LINK_PARAMETERS, self.inertia.parameters, strict=True)
        return ParameterChange(self.t, {parameter_name(self.name, parameter): value for parameter, value in pairs})

    def add_load(self, robot: Robot) -> Robot:
        """Return the robot with a load without mass; the robot itself if it has a link with the name of the load."""
        if any(link.name == self.name for link in robot.links):
            return robot
        return robot.with_load(Inertia(), name=self.name, on=self.on, frame=self.frame)


def grasp(
    load: float | Inertia, t: float = 0.0, *, on: str | None = None, frame: Frame = IDENTITY, name: str = GRASPED
) -> Grasp:
    """Return a load for the argument ``grasp`` of ``simulate``: the robot grasps the load at time t (s).

    ``load`` is the mass of a point load in kg, or an inertia. ``on`` is the link that grasps the load, by default the
    last one; ``frame`` is the pose of the load in the frame of this link.
    """
    if isinstance(load, Inertia):
        inertia, mass = load, load.mass
    else:
        inertia, mass = Inertia((load, *([0.0] * 9))), load
    if not (mass > 0.0 and math.isfinite(mass)):
        raise InputError(f"the mass of a grasped load is {mass:g} kg; give a positive number")
    if not (t >= 0.0 and math.isfinite(t)):
        raise InputError(f"a load is grasped at {t:g} s; give a time of 0 or later")
    return Grasp(inertia, t, on, frame, name)


def sort_changes(changes: Sequence[ParameterChange], period: float, steps: int) -> list[ParameterChange]:
    """Return the changes in order of time. Raise an error if a change comes after the last control instant."""
    in_order = sorted(changes, key=lambda change: change.t)
    if in_order and in_order[-1].find_instant(period) >= steps:
        raise InputError(
            f"a parameter change is set for t = {in_order[-1].t:g} s, but the simulation ends at {steps * period:g} s; "
            "choose an earlier time or a longer simulation"
        )
    return in_order


def group_by_instant(
    changes: Sequence[ParameterChange], period: float, names: Sequence[str], steps: int
) -> dict[int, list[tuple[int, float]]]:
    """Return the changes at each control instant that has any, as pairs (index in ``names``, new value)."""
    indices = {name: k for k, name in enumerate(names)}
    grouped: dict[int, list[tuple[int, float]]] = {}
    for change in sort_changes(changes, period, steps):
        for name, value in change.values.items():
            if name not in indices:
                raise InputError(
                    f"{name!r} changes at t = {change.t:g} s, but it is not an input of this closed loop; add it to "
                    "``varied``"
                )
            grouped.setdefault(change.find_instant(period), []).append((indices[name], value))
    return grouped


def apply_changes(theta: Float[np.ndarray, "runs varied"], changes: Sequence[tuple[int, float]]) -> None:
    """Write the new values, given as pairs of index and value, into the parameters of all runs."""
    for index, value in changes:
        theta[:, index] = value
