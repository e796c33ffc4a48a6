"""A designed trajectory for a terminal of any width: motion, limits, expected standard deviations, the verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Console

from ytheta.report.excitation.statistics import (
    QUANTITIES,
    ParameterRow,
    describe_conditions,
    describe_motion,
    describe_noise,
    describe_origin,
    describe_reference,
    describe_search,
    describe_slowed,
    describe_verdict,
    format_std_percent,
    list_clearances,
    list_limit_rows,
    list_parameters,
)
from ytheta.report.numbers import NO_VALUE, format_plain
from ytheta.report.terminal import Column, fit_table, print_note, print_table, safe_text, safe_texts

if TYPE_CHECKING:
    from ytheta.excitation.limit_check import LimitUse
    from ytheta.excitation.result import Excitation

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
    console.print(safe_text(describe_verdict(excitation), "bold red" if excitation.violations else "bold green"))


def _print_limits(console: Console, excitation: Excitation) -> None:
    """Print how far each joint uses its limits, in percent."""
    rows = list(list_limit_rows(excitation))
    columns = [Column("joint", safe_texts(name for name, _ in rows), align_left=True)]
    for priority, quantity in enumerate(QUANTITIES):
        cells = [safe_text(_format_share(uses.get(quantity)), _choose_style(uses.get(quantity))) for _, uses in rows]
        columns.append(Column(f"{quantity} %", cells, short_heading=f"{quantity[:3]} %", drop_priority=priority))
    print_table(console, fit_table(columns, console.width))
    print_note(
        console,
        "largest values in percent of the limits; torque limits are reduced by the margin for errors of the model",
    )


def _print_clearances(console: Console, excitation: Excitation, *, verbose: bool) -> None:
    clearances = list_clearances(excitation)
    if not clearances:
        return
    shown = clearances if verbose else clearances[:MAX_CLEARANCES]
    columns = [
        Column("clearance", safe_texts(use.name for use in shown), align_left=True),
        Column("smallest margin / m", safe_texts(format_plain(use.value) for use in shown)),
        Column("at / s", safe_texts(format_plain(use.time) for use in shown), drop_priority=1),
    ]
    print_table(console, fit_table(columns, console.width))
    if len(shown) < len(clearances):
        print_note(console, f"the {len(shown)} smallest of {len(clearances)} margins; all: --verbose")


def _print_parameters(console: Console, excitation: Excitation, *, verbose: bool) -> None:
    rows = list_parameters(excitation)
    complete = verbose or len(rows) <= MAX_PARAMETERS
    shown = rows if complete else sorted(rows, key=_rank)[:MAX_PARAMETERS]
    columns = [
        Column("base parameter", safe_texts(row.name for row in shown), align_left=True),
        Column("described", safe_texts(format_plain(row.value, 4) for row in shown)),
        Column("expected std", safe_texts(format_plain(row.std) for row in shown), short_heading="std"),
        Column("std %", safe_texts(format_std_percent(row.percent) for row in shown)),
        Column("unit", safe_texts(row.unit for row in shown), align_left=True, drop_priority=2),
    ]
    if excitation.std_before is not None:
        cells = [NO_VALUE if row.before is None else format_plain(row.before) for row in shown]
        columns.insert(3, Column("before", safe_texts(cells), drop_priority=1))
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
