"""Parameters that jump while a robot moves: a load is grasped, lost, a joint begins to rub."""

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
    """At the first control instant from t on, these standard parameters of the plant have these values."""

    t: float
    values: Mapping[str, float]

    def __post_init__(self) -> None:
        if not (self.t >= 0.0 and math.isfinite(self.t)):
            raise InputError(f"a jump at t = {self.t} s; give a time from 0 on")
        for name, value in self.values.items():
            if not math.isfinite(value):
                raise InputError(f"a jump of {name!r} to {value}; give a number")

    def instant(self, period: float) -> int:
        """The number of the control instant at which it happens."""
        return math.ceil(self.t / period - 1e-9)


def grasp(t: float, inertia: Inertia, *, load: str = "load") -> ParameterChange:
    """The load, a link of the robot that had no mass before (``robot.with_load(Inertia())``), is held from t on."""
    return ParameterChange(t, {parameter_name(load, p): v for p, v in zip(LINK_PARAMETERS, inertia.parameters, strict=True)})


def sort_changes(parameter_changes: Sequence[ParameterChange], period: float, steps: int) -> list[ParameterChange]:
    """Sorted; refused where one comes after the last instant."""
    found = sorted(parameter_changes, key=lambda change: change.t)
    if found and found[-1].instant(period) >= steps:
        raise InputError(f"a jump at t = {found[-1].t:g} s, but all ends at {steps * period:g} s; let it come before")
    return found


def group_by_instant(
    parameter_changes: Sequence[ParameterChange], period: float, names: Sequence[str], steps: int
) -> dict[int, list[tuple[int, float]]]:
    """For every instant at which something jumps the places among ``names`` and the new values."""
    places = {name: k for k, name in enumerate(names)}
    found: dict[int, list[tuple[int, float]]] = {}
    for change in sort_changes(parameter_changes, period, steps):
        for name, value in change.values.items():
            if name not in places:
                raise InputError(
                    f"{name!r} jumps at t = {change.t:g} s, but is no input of this closed loop; add it to ``varied``"
                )
            found.setdefault(change.instant(period), []).append((places[name], value))
    return found


def apply(theta: Float[np.ndarray, "runs varied"], changes: Sequence[tuple[int, float]]) -> None:
    """Write new values into the parameters of all runs."""
    for place, value in changes:
        theta[:, place] = value
