"""Plant parameters that change during a run, for example because the robot grasps a load."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ytheta.conventions import LINK_PARAMETERS, parameter_name
from ytheta.errors import InputError
from ytheta.robot.inertia import Inertia
from ytheta.shapes import Float


@dataclass(frozen=True)
class ParameterChange:
    """New values of standard parameters of the plant, from the first control instant at or after time t (s)."""

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


def grasp(t: float, inertia: Inertia, *, load: str = "load") -> ParameterChange:
    """Return the parameter change by which the robot grasps a load: the load has this inertia from time t (s) on.

    ``load`` is the name of a link that has no mass before t; ``robot.with_load(Inertia())`` adds such a link.
    """
    pairs = zip(LINK_PARAMETERS, inertia.parameters, strict=True)
    return ParameterChange(t, {parameter_name(load, parameter): value for parameter, value in pairs})


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
