"""Rows of the tables on the page of a simulation: texts, and the numbers by which rows are sorted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ytheta.report.numbers import MAX_PERCENT, NO_VALUE, format_number, format_percent, parameter_unit
from ytheta.report.simulation.statistics import QUANTILES, SimulationStatistics

MAX_LISTED_RUNS = 8  # diverged runs that are listed
SIGNIFICANT_DIGITS = 4
QUANTILE_LABELS = {
    "tracking_rms": "tracking RMS",
    "last_tracking_rms": "tracking RMS in the last fifth",
    "initial_parameter_error": "parameter error at the start",
    "parameter_error": "parameter error at the end",
}


def describe_outcome(statistics: SimulationStatistics) -> tuple[str, str]:
    """Return a word for the outcome, and the CSS class that colours it."""
    diverged, runs = len(statistics.diverged), len(statistics.simulation)
    if not diverged and statistics.simulation.tracks.all():
        return "tracks", "good"
    if not diverged:
        not_tracking = int(np.count_nonzero(~statistics.simulation.tracks))
        return ("does not track" if runs == 1 else f"{not_tracking} of {runs} runs do not track"), "poor"
    words = "diverged" if runs == 1 else f"{diverged} of {runs} runs diverged"
    return words, "poor" if diverged == runs else "usable"


def list_key_numbers(statistics: SimulationStatistics) -> Iterator[tuple[str, str, str]]:
    """Yield label, value and explanation of each key number."""
    simulation, many = statistics.simulation, len(statistics.finished) > 1
    yield (
        "tracking error",
        format_number(statistics.total_tracking),
        f"{statistics.unit}, RMS over {'runs, ' if many else ''}joints",
    )
    yield "in the last fifth", format_number(statistics.total_last_tracking), f"{statistics.unit}, RMS"
    if simulation.unknown_names:
        first = f"{'median, ' if many else ''}{_format_share(statistics.initial_parameter_error)} at the start"
        yield "parameter error", _format_share(statistics.parameter_error), first
    yield "runs", f"{len(statistics.finished)} / {len(simulation)}", "did not diverge"
    used = statistics.largest_torque / statistics.limits
    if np.isfinite(used).any() and (used > 0.0).any():
        k = int(np.nanargmax(used))
        yield "largest torque", format_percent(100.0 * float(used[k])), f"of its limit, {simulation.robot.actuated[k]}"


def list_joint_rows(statistics: SimulationStatistics) -> Iterator[dict[str, Any]]:
    sliding = statistics.simulation.robot.prismatic_joints
    columns = [statistics.tracking, statistics.last_tracking, statistics.largest_torque]
    if np.isfinite(statistics.limits).any():
        columns.append(statistics.limits)
    for j, name in enumerate(statistics.simulation.robot.actuated):
        cells = [
            (format_number(value) if value < math.inf else NO_VALUE, value) for value in (float(v[j]) for v in columns)
        ]
        yield {
            "name": name,
            "unit": statistics.units[j],
            "torque": parameter_unit(f"{name}.fc", sliding),
            "cells": cells,
        }


def list_parameter_rows(statistics: SimulationStatistics) -> Iterator[dict[str, Any]]:
    sliding = statistics.simulation.robot.prismatic_joints
    for each in statistics.parameters:
        cells = [(format_number(value, SIGNIFICANT_DIGITS), value) for value in (each.truth, each.start, each.end)]
        yield {
            "name": each.name,
            "expression": each.expression,
            "unit": parameter_unit(each.unknown, sliding),
            "cells": [*cells, (_format_signed_percent(each.percent), abs(each.percent))],
        }


def list_quantile_headings() -> list[str]:
    return [f"{100.0 * level:g} %" for level in QUANTILES]


def list_quantile_rows(statistics: SimulationStatistics) -> Iterator[dict[str, Any]]:
    for name, values in statistics.quantiles.items():
        error = name.endswith("parameter_error")
        cells = [(_format_share(value) if error else format_number(value), value) for value in map(float, values)]
        yield {"name": QUANTILE_LABELS[name], "unit": "" if error else statistics.unit, "cells": cells}


def describe_diverged_runs(statistics: SimulationStatistics) -> str:
    """Return a sentence that says how many runs diverged, and when."""
    diverged = statistics.diverged
    if not diverged:
        return f"None of {len(statistics.simulation)} runs diverged."
    named = ", ".join(f"run {run} at {format_number(t)} s" for run, t in diverged[:MAX_LISTED_RUNS])
    more = (
        f" and {len(diverged) - MAX_LISTED_RUNS} more, the last at {format_number(diverged[-1][1])} s"
        if len(diverged) > MAX_LISTED_RUNS
        else ""
    )
    return f"{len(diverged)} of {len(statistics.simulation)} runs diverged: {named}{more}."


def describe_shown_run(statistics: SimulationStatistics) -> str:
    """Return a sentence that says which run the plots show."""
    if len(statistics.simulation) == 1:
        return (
            ""
            if len(statistics.finished)
            else f"The run is shown until it diverged at {format_number(statistics.until)} s."
        )
    if len(statistics.finished):
        return f"The plots show run {statistics.shown}, the median by tracking error of those that did not diverge."
    end = f"until it diverged at {format_number(statistics.until)} s"
    return f"The plots show run {statistics.shown}, which lasted longest, {end}."


def _format_share(value: float) -> str:
    return format_percent(100.0 * value)


def _format_signed_percent(value: float) -> str:
    if not math.isfinite(value):
        return NO_VALUE
    if abs(value) > MAX_PERCENT:
        return f"> {MAX_PERCENT:g} %" if value > 0.0 else f"< −{MAX_PERCENT:g} %"
    return f"{'+' if value > 0.0 else ''}{format_percent(value)}"
