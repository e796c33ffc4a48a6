"""The plots of a simulation: one run in detail, and how many runs are spread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ytheta.identifiability.standard_parameters import sliding_joints
from ytheta.report.line_plot import COLOURS, Axis, Band, Line, line_plot, wide
from ytheta.report.numbers import unit
from ytheta.report.plot_json import MARGIN, plot_json
from ytheta.report.simulation.figures import QUANTILES, Figures
from ytheta.shapes import Float

FEW = 12  # parameters that each have a plot of their own
NAMED = 6  # lines of a plot of many
SMALL = 190  # pixels
TALL = 340
NEAR = 2.5  # times the largest torque: limits that are farther away would leave the torque a flat line
BINS = 30
BEHIND = 4.0  # width of a line that another one covers


def tracking_plots(figures: Figures) -> Iterator[tuple[str, str]]:
    """Position and reference of each joint, and the error below."""
    found, t = figures.found, figures.found.runs.t
    for j, name in enumerate(found.robot.actuated):
        wanted = _until(figures, found.reference.q[:, j])
        q = _until(figures, found.runs.q[figures.shown, :, j])
        lines = [
            Line("reference", wanted, faint=True, width=BEHIND),
            Line("position", q, colour=1),
            Line("error", q - wanted, axis=1, colour=0),
        ]
        axes = [Axis("position", figures.units[j]), Axis("error", figures.units[j])]
        yield name, line_plot(t, lines, axes, marks=_jumps(figures), legend=False)


def torque_plots(figures: Figures) -> Iterator[tuple[str, str]]:
    """The torque of each joint, with its limits where it comes near."""
    found, t = figures.found, figures.found.runs.t
    sliding = sliding_joints(found.robot)
    for j, name in enumerate(found.robot.actuated):
        tau, limit = _until(figures, found.runs.tau[figures.shown, :, j]), figures.limits[j]
        lines = [Line("torque", tau, colour=1)]
        if near(figures, j):
            ends = np.array([t[0], min(t[-1], figures.until)])
            lines += [Line("limit", np.full(2, end), ends, colour=7, dashed=True, width=1.0) for end in (limit, -limit)]
        axis = Axis("force" if name in sliding else "torque", unit(f"{name}.fc", sliding))
        yield name, line_plot(t, lines, [axis], height=SMALL, marks=_jumps(figures), legend=False)


def near(figures: Figures, joint: int) -> bool:
    """Whether the torque comes near its limit."""
    tau = _until(figures, figures.found.runs.tau[figures.shown, :, joint])
    return bool(figures.limits[joint] <= NEAR * np.nanmax(abs(tau), initial=0.0))


def parameter_plots(figures: Figures) -> Iterator[tuple[str, str]]:
    """Each estimate and its truth; of many the errors, those of one unit together."""
    found, run = figures.found, figures.shown
    sliding = sliding_joints(found.robot)
    truth, t = found.truth_of(run), found.runs.t
    units = [unit(name, sliding) for name in found.unknown_names]
    estimates = [_until(figures, column) for column in found.runs.estimate[run].T]
    if len(found.unknown_names) <= FEW:
        for k, each in enumerate(figures.parameters):
            lines = [
                Line("truth", _until(figures, truth[:, k]), colour=k, dashed=True),
                Line("estimate", estimates[k], colour=k),
            ]
            axis = Axis("", units[k])
            yield each.name, line_plot(t, lines, [axis], height=SMALL, marks=_jumps(figures), legend=False)
        return
    for kind in dict.fromkeys(units):
        own = [k for k, each in enumerate(units) if each == kind]
        wrong = {k: estimates[k] - truth[:, k] for k in own}
        ranked = sorted(own, key=lambda k: -abs(figures.parameters[k].end - figures.parameters[k].truth))
        names = [figures.parameters[k].name for k in ranked]
        lines = [
            Line(name, wrong[k], faint=True, width=1.0, legend=False)
            for name, k in zip(names[NAMED:], ranked[NAMED:], strict=True)
        ]
        lines += [Line(names[place], wrong[k], colour=place) for place, k in enumerate(ranked[:NAMED])]
        axes = [Axis("estimate − truth", kind)]
        title = f"{len(own)} {'parameter' if len(own) == 1 else 'parameters'} in {kind}" if kind else "forces"
        yield title, line_plot(t, lines, axes, height=TALL, marks=_jumps(figures))


def parameter_error_plot(figures: Figures) -> str:
    """The error of all parameters together over time, in percent; of many runs the quantiles too."""
    found = figures.found
    instants = np.arange(len(found.runs.t))
    shown = _until(figures, 100.0 * figures.parameter_error_of(figures.shown, instants))
    spread = 100.0 * figures.parameter_error_over_time
    return _over_time(figures, "parameter error", "%", shown, spread)


def tracking_error_plot(figures: Figures) -> str:
    """The root mean square over the joints over time: quantiles over the runs, and the run that is shown."""
    found = figures.found
    error = found.runs.q[figures.shown] - found.reference.q
    shown = _until(figures, np.sqrt(np.mean(error**2, axis=1)))
    return _over_time(figures, "tracking error", figures.unit, shown, figures.tracking_over_time)


def lyapunov_plot(figures: Figures) -> str | None:
    """The Lyapunov function of the run that is shown; None where it has no value."""
    found = figures.found
    with np.errstate(all="ignore"):
        value = _until(figures, found.lyapunov(figures.shown))
    value = np.where(np.isfinite(value), value, np.nan)
    if np.isnan(value).all():
        return None
    return line_plot(
        found.runs.t,
        [Line("V", value)],
        [Axis("Lyapunov function V", log=wide(value))],
        marks=_jumps(figures),
        legend=False,
    )


def tracking_histogram(figures: Figures) -> str:
    values = figures.found.tracking_rms[figures.finished]
    return _histogram([("tracking RMS", values)], f"tracking RMS / {figures.unit}")


def parameter_histogram(figures: Figures) -> str:
    """Of the errors at the start and at the end."""
    found, own = figures.found, figures.finished
    sets = [("start", found.initial_parameter_error[own]), ("end", found.parameter_error[own])]
    return _histogram([(name, 100.0 * values) for name, values in sets], "parameter error / %")


def _over_time(
    figures: Figures,
    title: str,
    unit: str,
    shown: Float[np.ndarray, "kept"],
    spread: Float[np.ndarray, "runs instants"],
) -> str:
    t, at = figures.found.runs.t, figures.instants
    if len(spread) < 2:
        axis = Axis(title, unit, log=wide(shown))
        return line_plot(t, [Line(title, shown)], [axis], marks=_jumps(figures), legend=False)
    lower, middle, upper = np.quantile(spread, QUANTILES, axis=0)
    axis = Axis(title, unit, log=wide(middle))
    name = f"{100.0 * QUANTILES[0]:g} … {100.0 * QUANTILES[-1]:g} % of the runs"
    lines = [Line(f"run {figures.shown}", shown, t, colour=1, width=1.0), Line("median", middle, colour=0)]
    return line_plot(t[at], lines, [axis], bands=[Band(name, lower, upper)], marks=_jumps(figures))


def _histogram(sets: Sequence[tuple[str, Float[np.ndarray, "runs"]]], title: str) -> str:
    """Counts as steps, which a logarithmic axis can have too."""
    sets = [(name, values[np.isfinite(values)]) for name, values in sets]
    together = np.concatenate([values for _, values in sets])
    log = wide(together) and bool((together > 0.0).all())
    edges = _edges(together, log=log)
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
    return plot_json(traces, layout)


def _edges(values: Float[np.ndarray, "values"], *, log: bool) -> Float[np.ndarray, "edges"]:
    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not low < high:  # all alike, or none
        middle = low if np.isfinite(low) else 0.0
        wide_enough = 0.1 * abs(middle) or 1.0
        return np.linspace(middle - wide_enough, middle + wide_enough, BINS + 1)
    edges = np.geomspace(low, high, BINS + 1) if log else np.linspace(low, high, BINS + 1)
    edges[[0, -1]] = low, high  # not less by rounding
    return edges


def _until(figures: Figures, values: Float[np.ndarray, "instants"]) -> Float[np.ndarray, "instants"]:
    """What the run was within bounds: the rest is nobody's motion."""
    return np.where(figures.found.runs.t < figures.until, values, np.nan)


def _jumps(figures: Figures) -> list[float]:
    return [float(change.t) for change in figures.found.parameter_changes if change.t < figures.until]
