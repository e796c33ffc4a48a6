"""Texts and numbers about a designed trajectory that the terminal and the page share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ytheta.report.numbers import MAX_PERCENT, format_plain, parameter_unit

if TYPE_CHECKING:
    from ytheta.excitation.limit_check import LimitUse
    from ytheta.excitation.result import Excitation

QUANTITIES = ("position", "velocity", "acceleration", "jerk", "torque")


@dataclass(frozen=True)
class ParameterRow:
    """A base parameter: value of the description, expected standard deviation, and that of earlier measurements.

    ``percent`` is relative to the described value; NaN if that is zero.
    """

    name: str
    value: float
    std: float
    percent: float
    before: float | None
    unit: str


def list_parameters(excitation: Excitation) -> list[ParameterRow]:
    base, sliding = excitation.base, excitation.robot.prismatic_joints
    before = [None] * len(base) if excitation.std_before is None else excitation.std_before.tolist()
    units = [parameter_unit(name, sliding) for name in base.independent]
    percent = [
        share if value else math.nan
        for share, value in zip(excitation.relative_std_percent.tolist(), base.beta.tolist(), strict=True)
    ]
    columns = (base.names, base.beta.tolist(), excitation.std.tolist(), percent)
    return [ParameterRow(*row) for row in zip(*columns, before, units, strict=True)]


def describe_motion(excitation: Excitation) -> str:
    """Return duration, periods and parametrisation."""
    trajectory = excitation.trajectory
    size = trajectory.basis.size
    kind = (
        f"Fourier series with {size // 2} harmonics"
        if trajectory.basis.name == "fourier"
        else f"B-splines through {size} via-points"
    )
    periods = f"{trajectory.periods} periods" if trajectory.periods > 1 else "1 period"
    return (
        f"{format_plain(excitation.seconds, 4)} s from rest to rest, {periods} of "
        f"{format_plain(trajectory.basis.period, 4)} s, {kind}"
    )


def describe_origin(excitation: Excitation) -> str:
    """Return the criterion of a design, or that the motion was only assessed."""
    if excitation.design is not None:
        return f"criterion {excitation.design.criterion}"
    if excitation.slow == 1.0:
        return "assessed, not designed"
    return f"assessed, not designed; slowed by {format_plain(excitation.slow, 4)}"


def describe_conditions(excitation: Excitation) -> str:
    plain, scaled = format_plain(excitation.condition_number, 4), format_plain(excitation.scaled_condition_number, 4)
    return (
        f"condition number of W_b: {plain} with columns in SI units, {scaled} with columns scaled to length one "
        f"({excitation.columns})"
    )


def describe_slowed(excitation: Excitation) -> str:
    parts = [
        f"{format_plain(each.condition_number)} and {format_plain(each.scaled_condition_number)} at "
        f"{100.0 * each.speed:g} %"
        for each in excitation.slowed
    ]
    return f"if slowed: {', '.join(parts)} of the speed" if parts else ""


def describe_noise(excitation: Excitation) -> str:
    """Return the assumption behind the expected standard deviations."""
    robot = excitation.robot
    units = ["N" if name in robot.prismatic_joints else "Nm" for name in robot.actuated]
    noise = [f"{format_plain(value)} {unit}" for value, unit in zip(excitation.noise.tolist(), units, strict=True)]
    same = len(set(noise)) == 1
    return (
        f"the expected standard deviations assume torque noise of {noise[0] if same else ', '.join(noise)}, "
        f"independent in {format_plain(excitation.rate, 4)} samples per second"
    )


def describe_reference(excitation: Excitation) -> str:
    """Return how the expected standard deviations compare with those of a D-optimal trajectory; empty if unknown."""
    relative = excitation.relative_to_d_optimal
    if relative is None:
        return ""
    return (
        f"the expected standard deviations are {format_plain(relative.mean)} times those of a D-optimal trajectory "
        f"(geometric mean), the largest {format_plain(relative.worst)} times"
    )


def describe_search(excitation: Excitation) -> str:
    """Return the work of the search; empty if there was none."""
    if excitation.design is None:
        return ""
    search = excitation.design.statistics
    feasible = "all" if search.feasible == search.starts else f"{search.feasible}"
    return (
        f"{search.starts} random starts ({feasible} ended within the limits), {search.polished} polished, "
        f"{search.seconds:.3g} s; {search.ending}"
    )


def describe_verdict(excitation: Excitation) -> str:
    count = len(excitation.violations)
    if not count:
        if not excitation.is_self_collision_checked:
            return "All limits that were checked are kept, between samples too; self-collision was not checked."
        return "All limits are kept, between samples too."
    return f"{count} {'limit is' if count == 1 else 'limits are'} exceeded: do not run this motion."


def list_limit_rows(excitation: Excitation) -> Iterator[tuple[str, dict[str, LimitUse]]]:
    """Yield each joint with its uses by quantity; joints that loops move have positions only."""
    rows: dict[str, dict[str, LimitUse]] = {}
    for use in excitation.uses:
        if use.quantity in QUANTITIES:
            rows.setdefault(use.name, {})[use.quantity] = use
    yield from rows.items()


def list_clearances(excitation: Excitation) -> list[LimitUse]:
    """Return the smallest margins of path constraints, smallest first."""
    return sorted((use for use in excitation.uses if use.quantity == "clearance"), key=lambda use: use.value)


def format_std_percent(percent: float) -> str:
    return f"> {MAX_PERCENT:g}" if percent > MAX_PERCENT else format_plain(percent)
