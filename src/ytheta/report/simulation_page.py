"""The page of a simulation: a self-contained HTML file, its tables, its settings in words and its plots."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.plots import Axis, Band, Line
from ytheta.report.figure import COLOURS, MARGIN, line_plot, make_figure, spans_decades
from ytheta.report.html_page import render_page, write_page
from ytheta.report.numbers import MAX_PERCENT, NO_VALUE, format_number, format_percent, format_plain, parameter_unit
from ytheta.report.simulation import PLANT_NAMES, QUANTILES, SimulationStatistics, summarize_simulation
from ytheta.report.terminal import list_names
from ytheta.shapes import Float
from ytheta.simulation.sensors import Sensor

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.control.laws.law import AdaptiveLaw, Law
    from ytheta.simulation.result import Simulation


def write_simulation_report(simulation: Simulation, path: str | Path, *, reference_note: str = "") -> Path:
    """Write the report of a simulation atomically; ``reference_note`` describes the reference."""
    return write_page(path, lambda: simulation_html(simulation, reference_note=reference_note))


def simulation_html(simulation: Simulation, *, reference_note: str = "") -> str:
    """Return the page as text."""
    statistics = SimulationStatistics(simulation)
    overviews = make_overviews(statistics)
    content = {
        "simulation": simulation,
        "statistics": statistics,
        "settings": list(describe_settings(statistics, reference_note)),
        "summary": summarize_simulation(simulation),
        "has_limits": bool(np.isfinite(statistics.limits).any()),
        "few": len(simulation.unknown_names) <= MAX_PARAMETER_PLOTS,
        "tracking_plots": list(plot_tracking(statistics)),
        "limits": any(is_near_limit(statistics, j) for j in range(len(simulation.robot.actuated))),
        "torque_plots": list(plot_torques(statistics)),
        "parameter_plots": list(plot_parameters(statistics)),
        **{name.replace(" ", "_"): figure for name, figure in overviews.items()},
    }
    functions = (
        *(describe_diverged_runs, describe_outcome, describe_shown_run, list_joint_rows, list_key_numbers),
        *(list_parameter_rows, list_quantile_headings, list_quantile_rows),
    )
    return render_page("simulation.html", content, functions)


# Rows of the tables on the page of a simulation: texts, and the numbers by which rows are sorted.


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


# Settings of a simulation in words: the law and its gains, the unknown parameters, the plant, the variation.


MAX_ITEMS = 8  # numbers or names that are listed in a row
SEPARATE_SETTINGS = ("robot", "base", "learn", "adaptation", "torque_limits")  # settings with rows of their own
# Relative difference of two parameters below which they count as equal. Chosen on: reasoning; rounding errors.
MAX_RELATIVE_ROUNDING = 1e-12


def describe_settings(statistics: SimulationStatistics, reference_note: str) -> Iterator[tuple[str, str]]:
    """Yield label and text of each setting."""
    simulation, law = statistics.simulation, statistics.simulation.controller
    yield "Controller", law.name
    for field in fields(law):
        value = getattr(law, field.name)
        if field.name not in SEPARATE_SETTINGS and value is not None:
            yield field.name.replace("_", " ").capitalize(), format_setting(value)
    if simulation.unknown_names:
        yield "Adaptation", format_setting(_adaptation(law))
        yield "Unknown parameters", describe_unknowns(statistics)
    else:
        yield "Unknown parameters", "none: all parameters are taken from the description"
    yield "Torque limits", _describe_limits(statistics)
    yield (
        "Reference",
        reference_note or f"{format_plain(simulation.runs.seconds)} s, {len(simulation.runs.t)} instants kept",
    )
    yield "Plant", f"{PLANT_NAMES.get(simulation.plant, simulation.plant)}; {_describe_plants(statistics)}"
    for change in simulation.parameter_changes:
        changed = [f"{name} = {format_plain(value)}" for name, value in change.values.items() if value]
        yield f"At {format_plain(change.t)} s", f"{list_names(changed, MAX_ITEMS) or 'all zero'} from then on"
    yield "Sensors", _describe_sensors(statistics)
    if simulation.gains is not None and len(simulation.gain_names):
        ranges = [
            f"{name.replace('_', ' ')} × {_format_range(simulation.gains[:, k])}"
            for k, name in enumerate(simulation.gain_names)
        ]
        yield "Gains of the runs", "; ".join(ranges)


def describe_unknowns(statistics: SimulationStatistics) -> str:
    """Return a text with the number and the names of the unknown parameters."""
    names = [each.name for each in statistics.parameters]
    base = statistics.simulation.controller.unknowns.base
    base_count = 0 if base is None else len(set(base.independent) & set(statistics.simulation.unknown_names))
    count = f"{len(names)} {'parameter' if len(names) == 1 else 'parameters'}"
    of_them = f", {base_count} of them base parameters" if base_count else ""
    return f"{count}{of_them}: {list_names(names, MAX_ITEMS)}"


def format_setting(value: Any) -> str:
    """Return a setting as text."""
    if is_dataclass(value) and not isinstance(value, type):
        inside = [
            f"{field.name.replace('_', ' ')} {format_setting(getattr(value, field.name))}"
            for field in fields(value)
            if getattr(value, field.name) is not None
        ]
        name = type(value).__name__
        return f"{name} ({', '.join(inside)})" if inside else name
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return str(value)
    if numbers.ndim == 2 and not np.count_nonzero(numbers - np.diag(numbers.diagonal())):
        return f"diagonal {_format_numbers(numbers.diagonal())}"
    if numbers.ndim == 2:
        return f"{numbers.shape[0]} × {numbers.shape[1]} matrix, diagonal {_format_numbers(numbers.diagonal())}"
    return format_plain(float(numbers)) if numbers.ndim == 0 else _format_numbers(numbers)


def _adaptation(law: Law | AdaptiveLaw) -> object:
    """Return the adaptation law as the user gave it; a number is the gain of a gradient law."""
    return getattr(law, "adaptation", law.adaptation_law)


def _format_numbers(values: Float[np.ndarray, " values"]) -> str:
    if len(values) and (values == values[0]).all():
        return f"{format_plain(float(values[0]))} for each of {len(values)}"
    if len(values) <= MAX_ITEMS:
        return ", ".join(format_plain(float(value)) for value in values)
    return f"{len(values)} numbers, {_format_range(values)}"


def _format_range(values: Float[np.ndarray, " values"]) -> str:
    return f"{format_plain(float(values.min()))} … {format_plain(float(values.max()))}"


def _describe_limits(statistics: SimulationStatistics) -> str:
    if statistics.enforces_limits:
        return f"{format_setting(statistics.simulation.controller.torque_limits)}; the controller enforces them"
    if np.isfinite(statistics.limits).any():
        return "none; those of the description are shown, but not enforced"
    return "none"


def _describe_plants(statistics: SimulationStatistics) -> str:
    """Return a text about differences between the plants of the runs, or between plant and controller."""
    theta = statistics.simulation.theta
    described = statistics.simulation.controller.robot.numeric.theta
    size = abs(theta).max(axis=0, initial=0.0)
    different = np.ptp(theta, axis=0) > MAX_RELATIVE_ROUNDING * size
    if different.any():
        std, mean = np.std(theta[:, different], axis=0), abs(np.mean(theta[:, different], axis=0))
        spread = 100.0 * float(np.median(std[mean > 0.0] / mean[mean > 0.0])) if (mean > 0.0).any() else np.inf
        count = int(different.sum())
        verb = "differs" if count == 1 else "differ"
        deviation = f"by {format_percent(spread, 2)} (standard deviation)"
        return f"{count} of {len(described)} parameters {verb} between runs {deviation}"
    changed = int((abs(theta[0] - described) > MAX_RELATIVE_ROUNDING * size).sum())
    return f"{changed} parameters differ from the controller's description" if changed else "parameters as described"


def _describe_sensors(statistics: SimulationStatistics) -> str:
    """Return a text with the errors of each sensor."""
    sensors = statistics.simulation.sensors
    if sensors is None:
        return "without errors"
    kinds = (("position", sensors.q), ("velocity", sensors.qd), ("acceleration", sensors.qdd), ("torque", sensors.tau))
    descriptions = [f"{kind} {', '.join(_list_errors(sensor))}" for kind, sensor in kinds if any(_list_errors(sensor))]
    return "; ".join(descriptions) or "without errors"


def _list_errors(sensor: Sensor) -> list[str]:
    errors = []
    for name in ("noise", "bias", "scale", "step", "delay"):
        size = np.asarray(getattr(sensor, name), dtype=float)
        if size.any():
            errors.append(
                f"{name} {format_plain(float(size), 3)}" if size.ndim == 0 else f"{name} differs between joints"
            )
    return errors


# Plots of a simulation: one run in detail, and the spread of many runs.


MAX_PARAMETER_PLOTS = 12  # if there are more parameters, all parameters with the same unit share a plot
MAX_NAMED_LINES = 6  # lines with a name in a plot of many lines
SMALL_HEIGHT = 190  # pixels
TALL_HEIGHT = 340
MAX_LIMIT_RATIO = 2.5  # torque limit divided by the largest torque; above it, the limit is not drawn
BINS = 30
BACKGROUND_WIDTH = 4.0  # pixels; width of a line behind another line


def make_simulation_figures(simulation: Simulation) -> dict[str, go.Figure]:
    """Return the figures of the page by name; some are left out, as on the page, if there is nothing to show."""
    statistics = SimulationStatistics(simulation)
    figures = {f"tracking of {name}": figure for name, figure in plot_tracking(statistics)}
    figures |= {f"torque of {name}": figure for name, figure in plot_torques(statistics)}
    figures |= {f"estimates: {name}": figure for name, figure in plot_parameters(statistics)}
    return figures | {name: figure for name, figure in make_overviews(statistics).items() if figure is not None}


def make_overviews(statistics: SimulationStatistics) -> dict[str, go.Figure | None]:
    """Return the figures about all joints, all parameters or all runs; None for a figure with nothing to show."""
    several_runs, unknowns = len(statistics.finished) > 1, len(statistics.simulation.unknown_names)
    return {
        "tracking error": plot_tracking_error(statistics) if several_runs else None,
        "tracking histogram": plot_tracking_histogram(statistics) if several_runs else None,
        "parameter error": plot_parameter_error(statistics) if unknowns > (0 if several_runs else 1) else None,
        "parameter histogram": plot_parameter_histogram(statistics) if several_runs and unknowns else None,
        "lyapunov": plot_lyapunov(statistics),
    }


def plot_tracking(statistics: SimulationStatistics) -> Iterator[tuple[str, go.Figure]]:
    """Yield a plot for each joint: position and reference, and the tracking error below them."""
    simulation, t = statistics.simulation, statistics.simulation.runs.t
    for j, name in enumerate(simulation.robot.actuated):
        reference = _hide_diverged(statistics, simulation.reference.q[:, j])
        q = _hide_diverged(statistics, simulation.runs.q[statistics.shown, :, j])
        lines = [
            Line("reference", reference, faint=True, width=BACKGROUND_WIDTH),
            Line("position", q, colour=1),
            Line("error", q - reference, axis=1, colour=0),
        ]
        axes = [Axis("position", statistics.units[j]), Axis("error", statistics.units[j])]
        yield name, line_plot(t, lines, axes, marks=_change_times(statistics))


def plot_torques(statistics: SimulationStatistics) -> Iterator[tuple[str, go.Figure]]:
    """Yield a plot of the torque of each joint, with the torque limits if the torque comes near them."""
    simulation, t = statistics.simulation, statistics.simulation.runs.t
    sliding = simulation.robot.prismatic_joints
    for j, name in enumerate(simulation.robot.actuated):
        tau, limit = _hide_diverged(statistics, simulation.runs.tau[statistics.shown, :, j]), statistics.limits[j]
        lines = [Line("torque", tau, colour=1)]
        if is_near_limit(statistics, j):
            ends = np.array([t[0], min(t[-1], statistics.until)])
            for end, legend in ((limit, True), (-limit, False)):
                lines.append(Line("limit", np.full(2, end), ends, colour=7, dashed=True, width=1.0, legend=legend))
        axis = Axis("force" if name in sliding else "torque", parameter_unit(f"{name}.fc", sliding))
        yield name, line_plot(t, lines, [axis], height=SMALL_HEIGHT, marks=_change_times(statistics))


def is_near_limit(statistics: SimulationStatistics, joint: int) -> bool:
    """Return whether the torque of a joint comes near its limit in the run that is shown."""
    tau = _hide_diverged(statistics, statistics.simulation.runs.tau[statistics.shown, :, joint])
    return bool(statistics.limits[joint] <= MAX_LIMIT_RATIO * np.nanmax(abs(tau), initial=0.0))


def plot_parameters(statistics: SimulationStatistics) -> Iterator[tuple[str, go.Figure]]:
    """Yield a plot of each estimate and its true value; for many parameters, a plot of the errors for each unit."""
    simulation, run = statistics.simulation, statistics.shown
    sliding = simulation.robot.prismatic_joints
    truth, t = simulation.truth_of(run), simulation.runs.t
    units = [parameter_unit(name, sliding) for name in simulation.unknown_names]
    estimates = [_hide_diverged(statistics, column) for column in simulation.runs.estimate[run].T]
    if len(simulation.unknown_names) <= MAX_PARAMETER_PLOTS:
        for k, each in enumerate(statistics.parameters):
            lines = [
                Line("truth", _hide_diverged(statistics, truth[:, k]), colour=k, dashed=True),
                Line("estimate", estimates[k], colour=k),
            ]
            axis = Axis("", units[k])
            yield (
                each.name,
                line_plot(t, lines, [axis], height=SMALL_HEIGHT, marks=_change_times(statistics)),
            )
        return
    for kind in dict.fromkeys(units):
        members = [k for k, each in enumerate(units) if each == kind]
        errors = {k: estimates[k] - truth[:, k] for k in members}
        ranked = sorted(members, key=lambda k: -abs(statistics.parameters[k].end - statistics.parameters[k].truth))
        names = [statistics.parameters[k].name for k in ranked]
        lines = [
            Line(name, errors[k], faint=True, width=1.0, legend=False)
            for name, k in zip(names[MAX_NAMED_LINES:], ranked[MAX_NAMED_LINES:], strict=True)
        ]
        lines += [Line(names[place], errors[k], colour=place) for place, k in enumerate(ranked[:MAX_NAMED_LINES])]
        axes = [Axis("estimate − truth", kind)]
        title = f"{len(members)} {'parameter' if len(members) == 1 else 'parameters'} in {kind}" if kind else "forces"
        yield title, line_plot(t, lines, axes, height=TALL_HEIGHT, marks=_change_times(statistics))


def plot_parameter_error(statistics: SimulationStatistics) -> go.Figure:
    """Plot the error of all parameters together as a function of time, in percent, with quantiles for many runs."""
    simulation = statistics.simulation
    instants = np.arange(len(simulation.runs.t))
    shown = _hide_diverged(statistics, 100.0 * statistics.parameter_error_of(statistics.shown, instants))
    spread = 100.0 * statistics.parameter_error_over_time
    return _plot_over_time(statistics, "parameter error", "%", shown, spread)


def plot_tracking_error(statistics: SimulationStatistics) -> go.Figure:
    """Plot the RMS tracking error of all joints against time: quantiles of the runs, and the run that is shown."""
    simulation = statistics.simulation
    error = simulation.runs.q[statistics.shown] - simulation.reference.q
    shown = _hide_diverged(statistics, np.sqrt(np.mean(error**2, axis=1)))
    return _plot_over_time(statistics, "tracking error", statistics.unit, shown, statistics.tracking_over_time)


def plot_lyapunov(statistics: SimulationStatistics) -> go.Figure | None:
    """Plot the Lyapunov function of the run that is shown; return None if the function has no finite value."""
    simulation = statistics.simulation
    with np.errstate(all="ignore"):
        value = _hide_diverged(statistics, simulation.lyapunov(statistics.shown))
    value = np.where(np.isfinite(value), value, np.nan)
    if np.isnan(value).all():
        return None
    return line_plot(
        simulation.runs.t,
        [Line("V", value)],
        [Axis("Lyapunov function V", log=spans_decades(value))],
        marks=_change_times(statistics),
        legend=False,
    )


def plot_tracking_histogram(statistics: SimulationStatistics) -> go.Figure:
    values = statistics.simulation.tracking_rms[statistics.finished]
    return _plot_histogram([("tracking RMS", values)], f"tracking RMS / {statistics.unit}")


def plot_parameter_histogram(statistics: SimulationStatistics) -> go.Figure:
    """Plot histograms of the parameter errors at the start and at the end."""
    simulation, finished = statistics.simulation, statistics.finished
    sets = [("start", simulation.initial_parameter_error[finished]), ("end", simulation.parameter_error[finished])]
    return _plot_histogram([(name, 100.0 * values) for name, values in sets], "parameter error / %")


def _plot_over_time(
    statistics: SimulationStatistics,
    title: str,
    unit: str,
    shown: Float[np.ndarray, " kept"],
    spread: Float[np.ndarray, "runs instants"],
) -> go.Figure:
    t, at = statistics.simulation.runs.t, statistics.instants
    if len(spread) < 2:
        axis = Axis(title, unit, log=spans_decades(shown))
        return line_plot(t, [Line(title, shown)], [axis], marks=_change_times(statistics), legend=False)
    lower, middle, upper = np.quantile(spread, QUANTILES, axis=0)
    axis = Axis(title, unit, log=spans_decades(middle))
    name = f"{100.0 * QUANTILES[0]:g} … {100.0 * QUANTILES[-1]:g} % of the runs"
    lines = [Line(f"run {statistics.shown}", shown, t, colour=1, width=1.0), Line("median", middle, colour=0)]
    return line_plot(t[at], lines, [axis], bands=[Band(name, lower, upper)], marks=_change_times(statistics))


def _plot_histogram(sets: Sequence[tuple[str, Float[np.ndarray, " runs"]]], title: str) -> go.Figure:
    """Plot counts as steps. Unlike bars, steps also work with a logarithmic axis."""
    sets = [(name, values[np.isfinite(values)]) for name, values in sets]
    pooled = np.concatenate([values for _, values in sets])
    log = spans_decades(pooled) and bool((pooled > 0.0).all())
    edges = _bin_edges(pooled, log=log)
    traces: list[dict[str, object]] = []
    for k, (name, values) in enumerate(sets):
        counts, _ = np.histogram(values, edges)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": np.repeat(edges, 2),
                "y": np.concatenate([[0], np.repeat(counts, 2), [0]]),
                "name": name,
                "fill": "tozeroy",
                "fillcolor": COLOURS[1 - k if len(sets) == 2 else 0].replace("rgb", "rgba").replace(")", ", 0.25)"),
                "line": {"color": COLOURS[1 - k if len(sets) == 2 else 0], "width": 1.2},
                "hovertemplate": "%{y} runs",
            }
        )
    layout = {
        "height": 280,
        "margin": MARGIN,
        "xaxis": {"title": {"text": title, "standoff": 6}, "zeroline": False, "type": "log" if log else "linear"},
        "yaxis": {"title": {"text": "runs"}, "rangemode": "tozero", "zeroline": False},
        "showlegend": len(sets) > 1,
        "legend": {"orientation": "h", "x": 0.0, "y": 1.0, "yanchor": "bottom"},
        "hovermode": "x unified",
    }
    return make_figure(traces, layout)


def _bin_edges(values: Float[np.ndarray, " values"], *, log: bool) -> Float[np.ndarray, " edges"]:
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not low < high:  # all values are equal, or there are none
        middle = low if np.isfinite(low) else 0.0
        half_width = 0.1 * abs(middle) or 1.0
        return np.linspace(middle - half_width, middle + half_width, BINS + 1)
    edges = np.geomspace(low, high, BINS + 1) if log else np.linspace(low, high, BINS + 1)
    edges[[0, -1]] = low, high  # exact, so that rounding excludes no value
    return edges


def _hide_diverged(
    statistics: SimulationStatistics, values: Float[np.ndarray, " instants"]
) -> Float[np.ndarray, " instants"]:
    """Return the values with NaN from the time at which the run that is shown diverged."""
    return np.where(statistics.simulation.runs.t < statistics.until, values, np.nan)


def _change_times(statistics: SimulationStatistics) -> list[float]:
    return [float(change.t) for change in statistics.simulation.parameter_changes if change.t < statistics.until]
