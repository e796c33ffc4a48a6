"""A simulation for people at a terminal: what came out, joints, parameters, how runs differ."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ytheta.identifiability.standard_parameters import sliding_joints
from ytheta.report.terminal import Column, fitted
from ytheta.report.numbers import HUGE, NONE, plain, unit
from ytheta.report.printable import printable
from ytheta.report.simulation.figures import QUANTILES, Figures, Parameter

if TYPE_CHECKING:
    from ytheta.simulation.result import Simulation

DOZEN = 12  # parameters, unless all are asked for
DIGITS = 4
NAMES = {
    "tracking_rms": "tracking RMS",
    "last_tracking_rms": "tracking RMS, last fifth",
    "initial_parameter_error": "parameter error at the start",
    "parameter_error": "parameter error at the end",
}


def simulation_text(found: Simulation, *, width: int = 120, verbose: bool = False) -> str:
    """The same without colours."""
    out = Console(file=io.StringIO(), width=width, highlight=False, markup=False, emoji=False, color_system=None)
    print_simulation(out, found, verbose=verbose)
    assert isinstance(out.file, io.StringIO)
    return "\n".join(line.rstrip() for line in out.file.getvalue().splitlines())


def print_simulation(console: Console, found: Simulation, *, verbose: bool) -> None:
    """Everything worth reading at once; what happened to runs that were lost is the last line."""
    figures = Figures(found)
    console.print(Text(printable(figures.headline), style="bold"))
    _print_joints(console, figures)
    if found.unknown_names:
        _print_parameters(console, figures, verbose=verbose)
    if figures.quantiles:
        _print_quantiles(console, figures)
    for remark in found.remarks:
        console.print(Text(printable(remark)), soft_wrap=True)
    if found.advice:
        console.print(Text(printable(found.advice), style="bold red"), soft_wrap=True)


def _print_joints(out: Console, figures: Figures) -> None:
    """Of all runs that count; the last row is all joints together."""
    robot, sliding = figures.found.robot, sliding_joints(figures.found.robot)
    forces = ["N" if name in sliding else "Nm" for name in robot.actuated]
    none = not figures.limited and math.isinf(min(figures.limits, default=math.inf))

    def lengths(values: Iterable[float], total: float) -> list[Text]:
        own = [_with_unit(value, unit) for value, unit in zip(values, figures.units, strict=True)]
        return _texts([*own, _with_unit(total, figures.unit if figures.unit in figures.units else "")])

    def torques(values: Iterable[float]) -> list[Text]:
        return _texts([*(_with_unit(value, unit) for value, unit in zip(values, forces, strict=True)), ""])

    columns = [
        Column("joint", _texts([*robot.actuated, "all joints"]), words=True),
        Column("tracking RMS", lengths(figures.tracking, figures.total_tracking), short="RMS"),
        Column("last fifth", lengths(figures.last_tracking, figures.total_last_tracking)),
        Column("largest torque", torques(figures.largest_torque), short="torque"),
    ]
    if not none:
        columns.append(Column("limit", torques(figures.limits), spare=1))
    out.print(fitted(columns, out.width, total=True).table, crop=False)
    if not none and not figures.limited:
        _note(out, "limits of torque are the description's; nothing kept the controller within them")


def _print_parameters(out: Console, figures: Figures, *, verbose: bool) -> None:
    sliding = sliding_joints(figures.found.robot)
    rows = figures.parameters if verbose or len(figures.parameters) <= DOZEN else figures.worst()[:DOZEN]
    columns = [
        Column("parameter", _texts(row.name for row in rows), words=True),
        Column("truth", _texts(plain(row.truth, DIGITS) for row in rows)),
        Column("start", _texts(plain(row.start, DIGITS) for row in rows)),
        Column("end", _texts(plain(row.end, DIGITS) for row in rows)),
        Column("error %", _texts(map(_percent, rows))),
        Column("unit", _texts(unit(row.unknown, sliding) for row in rows), words=True, spare=1),
    ]
    out.print(fitted(columns, out.width).table, crop=False)
    if len(rows) < len(figures.parameters):
        all_of_them = f"all {len(figures.parameters)}: --verbose"
        _note(out, f"the dozen farthest from the truth, by the largest of their unit; {all_of_them}")
    if any(row.name != row.unknown for row in rows):
        _note(out, "a star marks combinations, as in: ytheta base")
    if len(figures.found) > 1:
        which = "the median by tracking error" if len(figures.finished) else "the one that lasted longest"
        _note(out, f"parameters are those of run {figures.shown}, {which}")


def _print_quantiles(out: Console, figures: Figures) -> None:
    names = list(figures.quantiles)
    columns = [Column(f"{len(figures.finished)} runs", _texts(NAMES[name] for name in names), words=True)]
    for k, level in enumerate(QUANTILES):
        cells = [_quantile(name, float(figures.quantiles[name][k]), figures.unit) for name in names]
        columns.append(Column(f"{100.0 * level:g} %", _texts(cells)))
    out.print(fitted(columns, out.width).table, crop=False)


def _quantile(name: str, value: float, unit: str) -> str:
    if name.endswith("parameter_error"):
        return _with_unit(100.0 * value, "%")
    return _with_unit(value, unit if unit in ("rad", "m") else "")


def _with_unit(value: float, unit: str) -> str:
    if math.isnan(value):
        return NONE
    return f"{plain(value)} {unit}".rstrip() if math.isfinite(value) else plain(value)


def _percent(row: Parameter) -> str:
    if not math.isfinite(row.percent):
        return NONE
    sign = "+" if row.percent > 0.0 else ""
    if abs(row.percent) > HUGE:
        return f"> +{HUGE:g}" if sign else f"< -{HUGE:g}"
    return f"{sign}{plain(row.percent)}"


def _note(out: Console, words: str) -> None:
    out.print(Text(words, style="dim"))


def _texts(words: Iterable[str]) -> list[Text]:
    return [Text(printable(each)) for each in words]
