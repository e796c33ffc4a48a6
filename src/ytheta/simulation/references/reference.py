"""Reference trajectories: a function of time, sampled once for all runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ytheta.errors import InputError
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

Columns: TypeAlias = Float[np.ndarray, "instants joints"]
TOUCH = 1e-3  # of a range, and rad or m at most, by which limits may be passed: smoothed samples and rounding do

ReferenceTrajectory: TypeAlias = Callable[[Float[np.ndarray, "instants"]], tuple[Columns, Columns, Columns]]


@dataclass(frozen=True, eq=False)
class SampledReference:
    """q, qd and qdd wanted at instants."""

    t: Float[np.ndarray, "instants"]
    q: Columns
    qd: Columns
    qdd: Columns


def check_period(period: float, substeps: int, longest: float) -> None:
    """Refuse times that nothing can be computed with, or that are too long for what the controller promises."""
    if not (period > 0.0 and np.isfinite(period)):
        raise InputError(f"the period of the controller is {period} s; give a positive one such as 1e-3")
    if substeps < 1:
        raise InputError(f"{substeps} steps of the plant per period; give at least 1")
    if period > longest * (1.0 + 1e-9):
        raise InputError(
            f"the adaptation keeps its promise for steps up to {longest:g} s, but the controller works every "
            f"{period:g} s; give the adaptation step={period:g}"
        )


def periods(seconds: float, period: float, every: int) -> int:
    """How many periods come nearest to so many seconds; at least one."""
    if not (np.isfinite(seconds) and round(seconds / period) >= 1 and every >= 1):
        raise InputError(f"{seconds} s in periods of {period} s, every {every}th kept; give at least one")
    return round(seconds / period)


def sample_reference(course: ReferenceTrajectory, robot: Robot, t: Float[np.ndarray, "instants"]) -> SampledReference:
    """The course at these instants; refused where it has another shape, is not finite, or leaves the limits."""
    wanted = (len(t), len(robot.actuated))
    found = [np.ascontiguousarray(values, dtype=float) for values in course(t)]
    if [values.shape for values in found] != [wanted] * 3:
        raise InputError(
            f"the reference must give q, qd and qdd of shape {wanted}, one column for each of "
            f"{', '.join(robot.actuated)}; it gives shapes {[values.shape for values in found]}"
        )
    for name, values in zip(("q", "qd", "qdd"), found, strict=True):
        strange = np.argwhere(~np.isfinite(values))
        if len(strange):
            k, joint = strange[0]
            raise InputError(f"the reference {name} of {robot.actuated[joint]!r} is {values[k, joint]} at t = {t[k]:g}")
    _check_limits(robot, t, found[0], found[1])
    return SampledReference(t, *found)


def _check_limits(robot: Robot, t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> None:
    for k, (name, limits) in enumerate(zip(robot.actuated, robot.actuated_limits, strict=True)):
        fastest = limits.velocity or np.inf  # 0 is what exporters write who do not know it
        for what, values, lower, upper in (
            ("position", q[:, k], limits.lower, limits.upper),
            ("velocity", qd[:, k], -fastest, fastest),
        ):
            touch = TOUCH * min(1.0, upper - lower or 1.0)
            out = np.flatnonzero((values < lower - touch) | (values > upper + touch))
            if len(out):
                raise InputError(
                    f"the reference {what} of {name!r} is {values[out[0]]:.8g} at t = {t[out[0]]:.6g} s, outside its "
                    f"limits {lower:.8g} … {upper:.8g}; choose a smaller or slower reference"
                )
