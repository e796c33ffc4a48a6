"""The rows of the tables on a simulation's page, as texts with the numbers to sort by."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ytheta.identifiability.standard_parameters import sliding_joints
from ytheta.report.numbers import HUGE, NONE, figure, percent, unit
from ytheta.report.simulation.figures import QUANTILES, Figures

FEW = 8  # runs that were lost, by their numbers
DIGITS = 4
NAMES = {
    "tracking_rms": "tracking RMS",
    "last_tracking_rms": "tracking RMS in the last fifth",
    "initial_parameter_error": "parameter error at the start",
    "parameter_error": "parameter error at the end",
}


def badge(figures: Figures) -> tuple[str, str]:
    """A word for the whole, and the class that gives it its colour."""
    lost, runs = len(figures.lost), len(figures.found)
    if not lost and figures.found.tracks.all():
        return "within all bounds", "good"
    if not lost:
        astray = int(np.count_nonzero(~figures.found.tracks))
        return ("does not track" if runs == 1 else f"{astray} of {runs} runs do not track"), "poor"
    return ("lost" if runs == 1 else f"{lost} of {runs} runs lost"), "poor" if lost == runs else "usable"


def key_figures(figures: Figures) -> Iterator[tuple[str, str, str]]:
    """Label, figure and a word about it."""
    found, many = figures.found, len(figures.finished) > 1
    yield "tracking error", figure(figures.total_tracking), f"{figures.unit}, RMS over {'runs, ' if many else ''}joints"
    yield "in the last fifth", figure(figures.total_last_tracking), f"{figures.unit}, RMS"
    if found.unknown_names:
        first = f"{'median, ' if many else ''}{_share(figures.initial_parameter_error)} at the start"
        yield "parameter error", _share(figures.parameter_error), first
    yield "runs", f"{len(figures.finished)} / {len(found)}", "within all bounds"
    used = figures.largest_torque / figures.limits
    if np.isfinite(used).any() and (used > 0.0).any():
        k = int(np.nanargmax(used))
        yield "largest torque", percent(100.0 * float(used[k])), f"of its limit, {found.robot.actuated[k]}"


def joint_rows(figures: Figures) -> Iterator[dict[str, Any]]:
    sliding = sliding_joints(figures.found.robot)
    columns = [figures.tracking, figures.last_tracking, figures.largest_torque]
    if np.isfinite(figures.limits).any():
        columns.append(figures.limits)
    for j, name in enumerate(figures.found.robot.actuated):
        cells = [(figure(value) if value < math.inf else NONE, value) for value in (float(v[j]) for v in columns)]
        yield {"name": name, "unit": figures.units[j], "torque": unit(f"{name}.fc", sliding), "cells": cells}


def parameter_rows(figures: Figures) -> Iterator[dict[str, Any]]:
    sliding = sliding_joints(figures.found.robot)
    for each in figures.parameters:
        cells = [(figure(value, DIGITS), value) for value in (each.truth, each.start, each.end)]
        yield {
            "name": each.name,
            "expression": each.expression,
            "unit": unit(each.unknown, sliding),
            "cells": [*cells, (_signed(each.percent), abs(each.percent))],
        }


def quantile_heads() -> list[str]:
    return [f"{100.0 * level:g} %" for level in QUANTILES]


def quantile_rows(figures: Figures) -> Iterator[dict[str, Any]]:
    for name, values in figures.quantiles.items():
        error = name.endswith("parameter_error")
        cells = [(_share(value) if error else figure(value), value) for value in map(float, values)]
        yield {"name": NAMES[name], "unit": "" if error else figures.unit, "cells": cells}


def lost(figures: Figures) -> str:
    """How many runs were lost, and when."""
    gone = figures.lost
    if not gone:
        return f"All {len(figures.found)} runs stayed within all bounds."
    named = ", ".join(f"run {run} at {figure(t)} s" for run, t in gone[:FEW])
    more = f" and {len(gone) - FEW} more, the last at {figure(gone[-1][1])} s" if len(gone) > FEW else ""
    return f"{len(gone)} of {len(figures.found)} runs left all bounds: {named}{more}."


def shown(figures: Figures) -> str:
    """Which run the plots are of."""
    if len(figures.found) == 1:
        return "" if len(figures.finished) else f"The run is shown until it was lost, at {figure(figures.until)} s."
    if len(figures.finished):
        return f"Shown is run {figures.shown}, the median of those within all bounds by tracking error."
    return f"Shown is run {figures.shown}, which lasted longest, until it was lost at {figure(figures.until)} s."


def _share(value: float) -> str:
    return percent(100.0 * value)


def _signed(value: float) -> str:
    if not math.isfinite(value):
        return NONE
    if abs(value) > HUGE:
        return f"> {HUGE:g} %" if value > 0.0 else f"< −{HUGE:g} %"
    return f"{'+' if value > 0.0 else ''}{percent(value)}"
