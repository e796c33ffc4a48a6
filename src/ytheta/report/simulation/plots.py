"""Plots of a simulation: one run in detail, and the spread of many runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ytheta.plots import Axis, Band, Line
from ytheta.report.line_plot import COLOURS, line_plot, spans_decades
from ytheta.report.numbers import parameter_unit
from ytheta.report.plotly_figure import MARGIN, make_figure
from ytheta.report.simulation.statistics import QUANTILES, SimulationStatistics
from ytheta.shapes import Float

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.simulation.result import Simulation

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
    shown: Float[np.ndarray, "kept"],
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


def _plot_histogram(sets: Sequence[tuple[str, Float[np.ndarray, "runs"]]], title: str) -> go.Figure:
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


def _bin_edges(values: Float[np.ndarray, "values"], *, log: bool) -> Float[np.ndarray, "edges"]:
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not low < high:  # all values are equal, or there are none
        middle = low if np.isfinite(low) else 0.0
        half_width = 0.1 * abs(middle) or 1.0
        return np.linspace(middle - half_width, middle + half_width, BINS + 1)
    edges = np.geomspace(low, high, BINS + 1) if log else np.linspace(low, high, BINS + 1)
    edges[[0, -1]] = low, high  # exact, so that rounding excludes no value
    return edges


def _hide_diverged(
    statistics: SimulationStatistics, values: Float[np.ndarray, "instants"]
) -> Float[np.ndarray, "instants"]:
    """Return the values with NaN from the time at which the run that is shown diverged."""
    return np.where(statistics.simulation.runs.t < statistics.until, values, np.nan)


def _change_times(statistics: SimulationStatistics) -> list[float]:
    return [float(change.t) for change in statistics.simulation.parameter_changes if change.t < statistics.until]
