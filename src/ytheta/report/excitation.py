"""A designed trajectory for a terminal of any width, and as the output of ``ytheta excite --json``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import ytheta
from ytheta.excitation.result import MAX_SCALED_CONDITION, DesignGrade
from ytheta.excitation.surroundings import FLOOR
from ytheta.report.numbers import MAX_PERCENT, NO_VALUE, format_plain, parameter_unit, replace_nonfinite
from ytheta.report.terminal import TerminalColumn, fit_table, print_note, print_table, safe_text, safe_texts

if TYPE_CHECKING:
    from rich.console import Console

    from ytheta.excitation.limit_check import LimitUse
    from ytheta.excitation.result import Excitation, SearchStatistics

MAX_PARAMETERS = 12  # rows of the table of parameters, unless the output is verbose
MAX_CLEARANCES = 5  # rows of the table of clearances, unless the output is verbose


def print_excitation(console: Console, excitation: Excitation, *, verbose: bool = False) -> None:
    """Print motion, condition numbers, limits, clearances and expected deviations. The verdict is the last line."""
    headline = f"{excitation.robot.name}: {describe_motion(excitation)}; {describe_origin(excitation)}"
    console.print(safe_text(headline, "bold"))
    for text in (describe_conditions(excitation), describe_slowed(excitation)):
        if text:
            console.print(safe_text(text))
    _print_limits(console, excitation)
    _print_clearances(console, excitation, verbose=verbose)
    _print_parameters(console, excitation, verbose=verbose)
    search = describe_search(excitation)
    for text in (describe_noise(excitation), describe_reference(excitation), search and f"search: {search}"):
        if text:
            console.print(safe_text(text))
    for use in excitation.violations:
        console.print(safe_text(use.text, "red"))
    console.print(safe_text(describe_verdict(excitation), STYLES[excitation.grade]))


def _print_limits(console: Console, excitation: Excitation) -> None:
    """Print how far each joint uses its limits, in percent."""
    rows = list(list_limit_rows(excitation))
    columns = [TerminalColumn("joint", safe_texts(name for name, _ in rows), align_left=True)]
    for priority, quantity in enumerate(QUANTITIES):
        cells = [safe_text(_format_share(uses.get(quantity)), _choose_style(uses.get(quantity))) for _, uses in rows]
        columns.append(
            TerminalColumn(f"{quantity} %", cells, short_heading=f"{quantity[:3]} %", drop_priority=priority)
        )
    print_table(console, fit_table(columns, console.width))
    print_note(
        console,
        describe_margins(excitation),
    )


def _print_clearances(console: Console, excitation: Excitation, *, verbose: bool) -> None:
    clearances = list_clearances(excitation)
    if not clearances:
        return
    shown = clearances if verbose else clearances[:MAX_CLEARANCES]
    columns = [
        TerminalColumn("clearance", safe_texts(use.name for use in shown), align_left=True),
        TerminalColumn("smallest margin / m", safe_texts(format_plain(use.value) for use in shown)),
        TerminalColumn("at / s", safe_texts(format_plain(use.time) for use in shown), drop_priority=1),
    ]
    print_table(console, fit_table(columns, console.width))
    if len(shown) < len(clearances):
        print_note(console, f"the {len(shown)} smallest of {len(clearances)} margins; all: --verbose")
    for text in list_assumptions(excitation):
        print_note(console, text)


def _print_parameters(console: Console, excitation: Excitation, *, verbose: bool) -> None:
    rows = list_parameters(excitation)
    complete = verbose or len(rows) <= MAX_PARAMETERS
    shown = rows if complete else sorted(rows, key=_rank)[:MAX_PARAMETERS]
    columns = [
        TerminalColumn("base parameter", safe_texts(row.name for row in shown), align_left=True),
        TerminalColumn("described", safe_texts(format_plain(row.value, 4) for row in shown)),
        TerminalColumn("expected std", safe_texts(format_plain(row.std) for row in shown), short_heading="std"),
        TerminalColumn("std %", safe_texts(format_std_percent(row.percent) for row in shown)),
        TerminalColumn("unit", safe_texts(row.unit for row in shown), align_left=True, drop_priority=2),
    ]
    if excitation.std_before is not None:
        cells = [NO_VALUE if row.before is None else format_plain(row.before) for row in shown]
        columns.insert(3, TerminalColumn("before", safe_texts(cells), drop_priority=1))
    print_table(console, fit_table(columns, console.width))
    if not complete:
        print_note(console, f"the {MAX_PARAMETERS} with the largest std % of {len(rows)} parameters; all: --verbose")


def _rank(row: ParameterRow) -> tuple[bool, float]:
    """Return a key that sorts by decreasing relative standard deviation; rows without one are last."""
    return math.isnan(row.percent), -row.percent


def _format_share(use: LimitUse | None) -> str:
    return NO_VALUE if use is None else f"{100.0 * use.share:.1f}"


def _choose_style(use: LimitUse | None) -> str:
    return "bold red" if use is not None and use.violated else ""


# A designed trajectory as plain data: the output of ``ytheta excite --json``, also embedded in the page.
#
# ``condition_number`` and ``scaled_condition_number`` belong to the columns that ``columns`` describes. ``seconds`` is
# the duration of the motion. ``violations`` lists the limits that the motion exceeds; it is empty if it exceeds none.


def summarize_excitation(excitation: Excitation) -> dict[str, Any]:
    """Return the result of a design; infinite and undefined numbers become None."""
    trajectory, bounds, design = excitation.trajectory, excitation.bounds, excitation.design
    relative = excitation.relative_to_d_optimal
    limits = ("lower", "upper", "velocity", "acceleration", "jerk", "effort")
    data = {
        "ytheta": ytheta.__version__,
        "robot": excitation.robot.name,
        "condition_number": float(excitation.condition_number),
        "scaled_condition_number": float(excitation.scaled_condition_number),
        "columns": excitation.columns,
        "seconds": float(excitation.seconds),
        "violations": [_summarize_use(use) for use in excitation.violations],
        "grade": str(excitation.grade),
        "unchecked": list(excitation.unchecked),
        "margins": {name: float(getattr(bounds.margins, name)) for name in ("position", "velocity", "effort")},
        "criterion": None if design is None else design.criterion,
        "value": None if design is None else float(design.value),
        "slow": float(excitation.slow),
        "parametrisation": trajectory.basis.name,
        "coefficients_per_joint": trajectory.basis.size,
        "base_frequency": float(trajectory.base_frequency),
        "periods": trajectory.periods,
        "start": dict(zip(trajectory.joints, trajectory.start.tolist(), strict=True)),
        "slowed": [
            {
                "speed": float(each.speed),
                "condition_number": float(each.condition_number),
                "scaled_condition_number": float(each.scaled_condition_number),
            }
            for each in excitation.slowed
        ],
        "relative_to_d_optimal": None if relative is None else {"mean": relative.mean, "worst": relative.worst},
        "rate": float(excitation.rate),
        "joints": [
            {"name": name, "noise": float(excitation.noise[k])}
            | {key: float(getattr(bounds, key)[k]) for key in limits}
            for k, name in enumerate(bounds.joints)
        ],
        "parameters": _summarize_parameters(excitation),
        "limits": [_summarize_use(use) for use in excitation.uses],
        "search": None if design is None else _summarize_search(design.statistics),
        "findings": [finding.data for finding in excitation.findings],
    }
    return {key: replace_nonfinite(value) for key, value in data.items()}


def _summarize_search(search: SearchStatistics) -> dict[str, Any]:
    return {
        "ending": str(search.ending),
        "starts": search.starts,
        "feasible": search.feasible,
        "polished": search.polished,
        "evaluations": search.evaluations,
        "seconds": search.seconds,
        "first_seconds": search.first_seconds,
    }


def _summarize_parameters(excitation: Excitation) -> list[dict[str, Any]]:
    base, sliding = excitation.base, excitation.robot.prismatic_joints
    before = [None] * len(base) if excitation.std_before is None else excitation.std_before.tolist()
    percent = np.where(base.beta != 0.0, excitation.relative_std_percent, np.nan).tolist()
    columns = (
        base.names,
        base.beta.tolist(),
        excitation.std.tolist(),
        percent,
        before,
    )
    keys = ("name", "value", "std", "std_percent", "std_before")
    return [
        dict(zip(keys, row, strict=True)) | {"unit": parameter_unit(independent, sliding)}
        for independent, *row in zip(base.independent, *columns, strict=True)
    ]


def _summarize_use(use: LimitUse) -> dict[str, Any]:
    return {
        "quantity": use.quantity,
        "name": use.name,
        "value": float(use.value),
        "limit": float(use.limit),
        "share": float(use.share),
        "t": float(use.time),
        "violated": use.violated,
    }


# Texts and numbers about a designed trajectory that the terminal and the page share.


QUANTITIES = ("position", "velocity", "acceleration", "jerk", "torque")
STYLES = {
    DesignGrade.GOOD: "bold green",
    DesignGrade.UNCHECKED: "bold yellow",
    DesignGrade.POOR: "bold red",
    DesignGrade.UNSAFE: "bold red",
}


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
    """Return whether the motion is safe, what was not checked, and whether it is worth running."""
    count = len(excitation.violations)
    if count:
        return f"{count} {'limit is' if count == 1 else 'limits are'} exceeded: do not run this motion."
    parts = [describe_poor(excitation)] if excitation.is_poor else []
    if excitation.unchecked:
        parts.append("All limits that were checked are kept, between samples too.")
        parts.append(f"Not checked: {'; '.join(excitation.unchecked)}.")
    else:
        parts.append("All limits are kept, between samples too.")
    if excitation.first_run is not None and excitation.slow == 1.0:
        parts.append(f"Run it at {100.0 * excitation.slowed[-1].speed:g} % of the speed first.")
    return " ".join(parts)


def describe_poor(excitation: Excitation) -> str:
    return (
        f"Poor: the scaled condition number {format_plain(excitation.judged_condition_number)} is above "
        f"{format_plain(MAX_SCALED_CONDITION)}, so that some combinations of parameters are not told apart."
    )


def describe_margins(excitation: Excitation) -> str:
    margins = excitation.bounds.margins
    return (
        f"largest values in percent of the limits, which are reduced by {100.0 * margins.position:.3g} % (position), "
        f"{100.0 * margins.velocity:.3g} % (velocity) and {100.0 * margins.effort:.3g} % (torque)"
    )


def list_assumptions(excitation: Excitation) -> list[str]:
    """Return where the floor was assumed."""
    return [finding.statement for finding in excitation.findings if finding.code == FLOOR]


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
