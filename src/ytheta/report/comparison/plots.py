"""Plots of a comparison: parameters with intervals, their change, friction curves, predicted torques."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ytheta.comparison.compare import MIN_NOTABLE_DIFFERENCE
from ytheta.plots import Axis, Band, Line
from ytheta.report.comparison.tables import list_changes
from ytheta.report.identification.plots import continuous_time, make_left_out_areas
from ytheta.report.line_plot import COLOURS, line_plot
from ytheta.report.numbers import get_torque_unit, parameter_unit
from ytheta.report.plotly_figure import MARGIN, make_figure

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.comparison.compare import Comparison, ParameterComparison

QUANTILE = 1.96  # half of a 95 % interval, in standard deviations
ROW_HEIGHT, FRAME_HEIGHT = 10, 70  # pixels; each model of a parameter has a row
FRICTION_HEIGHT, TORQUE_HEIGHT = 260, 340  # pixels


def make_comparison_figures(comparison: Comparison) -> dict[str, go.Figure]:
    """Return the figures of the page by name."""
    figures = {f"parameters {title}": figure for title, figure in plot_parameters(comparison)}
    figures |= {f"friction of {name}": figure for name, figure in plot_friction(comparison)}
    figures |= {f"torque of {name}": figure for name, figure in plot_torques(comparison)}
    return figures | {"changes": plot_changes(comparison)}


def plot_parameters(comparison: Comparison) -> Iterator[tuple[str, go.Figure]]:
    """Yield for each unit a title and a figure with the values and 95 % intervals of all models."""
    sliding = comparison.models[0].robot.prismatic_joints
    groups: dict[str, list[ParameterComparison]] = {}
    for row in comparison.parameters:
        unit = parameter_unit(row.name.rstrip("*"), sliding)
        groups.setdefault("without unit" if unit in ("", "1") else f"in {unit}", []).append(row)
    for title, rows in groups.items():
        yield title, _plot_group(comparison, title.removeprefix("in "), rows)


def _plot_group(comparison: Comparison, unit: str, rows: list[ParameterComparison]) -> go.Figure:
    count = len(comparison.models)
    traces = []
    for k, label in enumerate(comparison.labels):
        kept = [(place, row) for place, row in enumerate(rows) if row.values[k] is not None]
        bars = [QUANTILE * (row.std[k] or 0.0) for _, row in kept]
        shift = (k - 0.5 * (count - 1)) * 0.7 / count
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [row.values[k] for _, row in kept],
                "y": [place + shift for place, _ in kept],
                "customdata": [escape(row.name) for _, row in kept],
                "name": escape(label),
                "marker": {"color": COLOURS[k % len(COLOURS)], "size": 5},
                "error_x": {
                    "type": "data",
                    "array": [bar if np.isfinite(bar) else 0.0 for bar in bars],
                    "thickness": 1.5,
                    "width": 2,
                    "color": COLOURS[k % len(COLOURS)],
                },
                "hovertemplate": f"%{{customdata}}: %{{x:.4~g}} ± %{{error_x.array:.2~g}} {unit}<extra>{escape(label)}"
                "</extra>",
            }
        )
    layout = {
        "height": FRAME_HEIGHT + ROW_HEIGHT * len(rows) * max(count, 2),
        "margin": MARGIN | {"l": 8},
        "showlegend": False,
        "hovermode": "closest",
        "xaxis": {"title": {"text": unit, "standoff": 6}, "nticks": 6},
        "yaxis": {
            "range": [len(rows) - 0.4, -0.6],
            "tickvals": list(range(len(rows))),
            "ticktext": [escape(row.name) for row in rows],
            "automargin": True,
            "tickfont": {"size": 10},
            "zeroline": False,
        },
    }
    return make_figure(traces, layout)


def plot_changes(comparison: Comparison) -> go.Figure:
    """Plot how the parameters that differ most change from model to model, in standard deviations.

    The models are in the order in which they were given, such as that of time.
    """
    x = np.arange(1.0, len(comparison.models) + 1.0)
    lines = [
        Line(row.name, np.array([np.nan if each is None else each for each in row.differences], dtype=float))
        for row in list_changes(comparison)
    ]
    bound = np.full(len(x), MIN_NOTABLE_DIFFERENCE)
    band = Band("3 standard deviations", -bound, bound, colour=7)
    figure = line_plot(x, lines, [Axis("difference", "std")], x_title="model", bands=[band])
    figure.update_traces(mode="lines+markers", selector=lambda trace: trace.fill is None)
    labels = [escape(label) for label in comparison.labels]
    figure.update_xaxes(tickvals=x.tolist(), ticktext=labels, title=None, range=[0.7, len(x) + 0.3])
    return figure


def plot_friction(comparison: Comparison) -> Iterator[tuple[str, go.Figure]]:
    """Yield name and figure of the friction of every drive in all models."""
    robot = comparison.models[0].robot
    for curves in comparison.friction_curves:
        lines = [
            Line(label, friction, colour=k)
            for k, (label, friction) in enumerate(zip(comparison.labels, curves.friction, strict=True))
            if friction is not None
        ]
        speed = "m/s" if curves.name in robot.prismatic_joints else "rad/s"
        axis = Axis("friction", get_torque_unit(robot, curves.name))
        yield (
            curves.name,
            line_plot(curves.speeds, lines, [axis], x_title=f"speed / {speed}", height=FRICTION_HEIGHT, legend=False),
        )


def plot_torques(comparison: Comparison) -> Iterator[tuple[str, go.Figure]]:
    """Yield name and figure of the torque of every joint, measured and predicted by each model; none without a log.

    Below are the residuals or, if the log has no torques, the differences from the first model. Areas behind the lines
    mark the time that is left out of the errors.
    """
    if not comparison.predictions:
        return
    first = comparison.predictions[0]
    seconds = first.t - first.t[0]
    reference, below = (first.predicted, "difference") if first.measured is None else (first.measured, "residual")
    for j, name in enumerate(first.robot.actuated):
        lines = []
        if first.measured is not None:
            lines.append(Line("measured", first.measured[:, j], faint=True, width=4.0))
        for k, (label, prediction) in enumerate(zip(comparison.labels, comparison.predictions, strict=True)):
            lines.append(Line(label, prediction.predicted[:, j], colour=k, width=1.3))
            rest = reference[:, j] - prediction.predicted[:, j]
            lines.append(Line(label, rest, axis=1, colour=k, width=1.0, legend=False))
        axes = [Axis("torque", get_torque_unit(first.robot, name)), Axis(below)]
        figure = line_plot(seconds, lines, axes, height=TORQUE_HEIGHT, legend=False)
        if first.errors is not None and comparison.left_out is not None:
            areas = make_left_out_areas(continuous_time(first.errors.trace.t), comparison.left_out[:, j])
            figure.update_layout(shapes=areas)
        yield name, figure
