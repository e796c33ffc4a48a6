"""A simulation for a terminal of any width: the outcome, joints, parameters, quantiles of the runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ytheta.report.numbers import MAX_PERCENT, NO_VALUE, format_plain, parameter_unit
from ytheta.report.simulation.statistics import QUANTILES, Parameter, SimulationStatistics
from ytheta.report.terminal import Column, fit_table, print_note, print_table, render_text, safe_text, safe_texts

if TYPE_CHECKING:
    from ytheta.simulation.result import Simulation

MAX_PARAMETERS = 12  # rows of the table of parameters, unless the output is verbose
SIGNIFICANT_DIGITS = 4
QUANTILE_LABELS = {
    "tracking_rms": "tracking RMS",
    "last_tracking_rms": "tracking RMS, last fifth",
    "initial_parameter_error": "parameter error at the start",
    "parameter_error": "parameter error at the end",
}


def simulation_text(simulation: Simulation, *, width: int = 120, verbose: bool = False) -> str:
    """Return the text without colours."""
    return render_text(lambda console: print_simulation(console, simulation, verbose=verbose), width=width)


def print_simulation(console: Console, simulation: Simulation, *, verbose: bool = False) -> None:
    """Print outcome, joints, parameters and remarks. Advice about runs that diverged is the last line."""
    statistics = SimulationStatistics(simulation)
    console.print(safe_text(statistics.headline, "bold"))
    _print_joints(console, statistics)
    if simulation.unknown_names:
        _print_parameters(console, statistics, verbose=verbose)
    if statistics.quantiles:
        _print_quantiles(console, statistics)
    for remark in statistics.remarks:
        console.print(safe_text(remark), soft_wrap=True)
    if statistics.advice:
        console.print(safe_text(statistics.advice, "bold red"), soft_wrap=True)


def _print_joints(console: Console, statistics: SimulationStatistics) -> None:
    """Print the errors of each joint in the runs that did not diverge. The last row is for all joints together."""
    robot = statistics.simulation.robot
    torque_units = ["N" if name in robot.prismatic_joints else "Nm" for name in robot.actuated]
    unlimited = not statistics.enforces_limits and math.isinf(min(statistics.limits, default=math.inf))

    def positions(values: Iterable[float], total: float) -> list[Text]:
        cells = [_format_with_unit(value, unit) for value, unit in zip(values, statistics.units, strict=True)]
        return safe_texts(
            [*cells, _format_with_unit(total, statistics.unit if statistics.unit in statistics.units else "")]
        )

    def torques(values: Iterable[float]) -> list[Text]:
        cells = [_format_with_unit(value, unit) for value, unit in zip(values, torque_units, strict=True)]
        return safe_texts([*cells, ""])

    columns = [
        Column("joint", safe_texts([*robot.actuated, "all joints"]), align_left=True),
        Column("tracking RMS", positions(statistics.tracking, statistics.total_tracking), short_heading="RMS"),
        Column("last fifth", positions(statistics.last_tracking, statistics.total_last_tracking)),
        Column("largest torque", torques(statistics.largest_torque), short_heading="torque"),
    ]
    if not unlimited:
        columns.append(Column("limit", torques(statistics.limits), drop_priority=1))
    print_table(console, fit_table(columns, console.width, has_total_row=True))
    if not unlimited and not statistics.enforces_limits:
        print_note(console, "torque limits are those of the description; the controller does not enforce them")


def _print_parameters(console: Console, statistics: SimulationStatistics, *, verbose: bool) -> None:
    sliding = statistics.simulation.robot.prismatic_joints
    complete = verbose or len(statistics.parameters) <= MAX_PARAMETERS
    rows = statistics.parameters if complete else statistics.by_decreasing_error()[:MAX_PARAMETERS]
    columns = [
        Column("parameter", safe_texts(row.name for row in rows), align_left=True),
        Column("truth", safe_texts(format_plain(row.truth, SIGNIFICANT_DIGITS) for row in rows)),
        Column("start", safe_texts(format_plain(row.start, SIGNIFICANT_DIGITS) for row in rows)),
        Column("end", safe_texts(format_plain(row.end, SIGNIFICANT_DIGITS) for row in rows)),
        Column("error %", safe_texts(map(_format_error, rows))),
        Column(
            "unit", safe_texts(parameter_unit(row.unknown, sliding) for row in rows), align_left=True, drop_priority=1
        ),
    ]
    print_table(console, fit_table(columns, console.width))
    if len(rows) < len(statistics.parameters):
        limit = f"the {MAX_PARAMETERS} with the largest errors, relative to the largest value of their unit"
        print_note(
            console,
            f"{limit}; all {len(statistics.parameters)}: --verbose, or simulation.to_text(verbose=True) in Python",
        )
    if any(row.name != row.unknown for row in rows):
        print_note(console, "a star marks combinations; ytheta base shows them, or base_parameters(robot) in Python")
    if len(statistics.simulation) > 1:
        which = "the median by tracking error" if len(statistics.finished) else "the one that lasted longest"
        print_note(console, f"parameters are those of run {statistics.shown}, {which}")


def _print_quantiles(console: Console, statistics: SimulationStatistics) -> None:
    names = list(statistics.quantiles)
    columns = [
        Column(f"{len(statistics.finished)} runs", safe_texts(QUANTILE_LABELS[name] for name in names), align_left=True)
    ]
    for k, level in enumerate(QUANTILES):
        cells = [_format_quantile(name, float(statistics.quantiles[name][k]), statistics.unit) for name in names]
        columns.append(Column(f"{100.0 * level:g} %", safe_texts(cells)))
    print_table(console, fit_table(columns, console.width))


def _format_quantile(name: str, value: float, unit: str) -> str:
    if name.endswith("parameter_error"):
        return _format_with_unit(100.0 * value, "%")
    return _format_with_unit(value, unit if unit in ("rad", "m") else "")


def _format_with_unit(value: float, unit: str) -> str:
    if math.isnan(value):
        return NO_VALUE
    return f"{format_plain(value)} {unit}".rstrip() if math.isfinite(value) else format_plain(value)


def _format_error(row: Parameter) -> str:
    if not math.isfinite(row.percent):
        return NO_VALUE
    sign = "+" if row.percent > 0.0 else ""
    if abs(row.percent) > MAX_PERCENT:
        return f"> +{MAX_PERCENT:g}" if sign else f"< -{MAX_PERCENT:g}"
    return f"{sign}{format_plain(row.percent)}"
