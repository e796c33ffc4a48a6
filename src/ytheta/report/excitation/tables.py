"""Rows of the tables on the page of a designed trajectory: texts, and the numbers by which rows are sorted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ytheta.report.excitation.statistics import (
    QUANTITIES,
    list_clearances,
    list_limit_rows,
    list_parameters,
)
from ytheta.report.numbers import MAX_PERCENT, NO_VALUE, format_number, format_percent

if TYPE_CHECKING:
    from ytheta.excitation.result import Excitation


def list_key_numbers(excitation: Excitation) -> Iterator[tuple[str, str, str]]:
    """Yield label, value and explanation of each key number."""
    columns = f"{len(excitation.base)} columns in SI units, full speed"
    yield "condition number", format_number(excitation.condition_number), columns
    yield "scaled", format_number(excitation.scaled_condition_number), "columns scaled to length one, full speed"
    for each in excitation.slowed:
        label, scaled = f"at {100.0 * each.speed:g} % of the speed", format_number(each.scaled_condition_number)
        yield label, format_number(each.condition_number), f"{scaled} scaled"
    relative = excitation.relative_to_d_optimal
    if relative is not None:
        worst = format_number(relative.worst)
        yield "std, D-optimal = 1", format_number(relative.mean), f"geometric mean; largest {worst}"
    clearances = list_clearances(excitation)
    if clearances:
        yield "smallest margin", f"{format_number(clearances[0].value)} m", clearances[0].name
    yield "limits exceeded", str(len(excitation.violations)), "checked between samples too"


def list_conditions(excitation: Excitation) -> Iterator[dict[str, Any]]:
    """Yield the condition numbers at each speed."""
    full = (1.0, excitation.condition_number, excitation.scaled_condition_number)
    for speed, *numbers in (
        full,
        *((each.speed, each.condition_number, each.scaled_condition_number) for each in excitation.slowed),
    ):
        cells = [(format_number(value, 4), float(value)) for value in numbers]
        yield {"name": f"{100.0 * speed:g} %", "unit": "", "cells": cells}


def list_limit_headings() -> tuple[str, ...]:
    return QUANTITIES


def list_limits(excitation: Excitation) -> Iterator[dict[str, Any]]:
    """Yield for each joint the largest values in percent of the limits."""
    for name, uses in list_limit_rows(excitation):
        cells = []
        for quantity in QUANTITIES:
            use = uses.get(quantity)
            text = NO_VALUE if use is None else f"{100.0 * use.share:.1f} %"
            hint = "" if use is None else f"{use.value:.5g} of {use.limit:.5g} at {use.time:.4g} s"
            cells.append({"text": text, "hint": hint, "violated": use is not None and use.violated})
        yield {"name": name, "cells": cells}


def list_margins(excitation: Excitation) -> Iterator[dict[str, Any]]:
    for use in list_clearances(excitation):
        cells = [(format_number(use.value), float(use.value)), (format_number(use.time), float(use.time))]
        yield {"name": use.name, "unit": "", "cells": cells}


def list_parameter_rows(excitation: Excitation) -> Iterator[dict[str, Any]]:
    """Yield value, expected standard deviation, that in percent, and that of earlier measurements of each parameter."""
    for row, expression in zip(list_parameters(excitation), excitation.base.expressions, strict=True):
        percent = f"> {MAX_PERCENT:g} %" if row.percent > MAX_PERCENT else format_percent(row.percent)
        cells = [(format_number(row.value), row.value), (format_number(row.std), row.std), (percent, row.percent)]
        if row.before is not None:
            cells.append((format_number(row.before), row.before))
        yield {"name": row.name, "expression": expression, "cells": cells, "unit": row.unit}
