"""The page of a designed trajectory: a self-contained HTML file, its tables and its plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.excitation.arm_views import compute_arm_views
from ytheta.excitation.criteria import CRITERIA
from ytheta.excitation.result import MotionCurves, compute_curves
from ytheta.plots import Axis, Line
from ytheta.report.excitation import (
    QUANTITIES,
    describe_margins,
    describe_motion,
    describe_noise,
    describe_origin,
    describe_reference,
    describe_search,
    describe_verdict,
    list_assumptions,
    list_clearances,
    list_limit_rows,
    list_parameters,
    summarize_excitation,
)
from ytheta.report.figure import COLOURS, MARGIN, TWO_PLOTS_HEIGHT, line_plot, make_figure
from ytheta.report.html_page import render_page, write_page
from ytheta.report.numbers import MAX_PERCENT, NO_VALUE, format_number, format_percent

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.excitation.result import Excitation


def write_excitation_report(excitation: Excitation, path: str | Path) -> Path:
    """Write the report of a designed trajectory; the file is written atomically."""
    return write_page(path, lambda: excitation_html(excitation))


def excitation_html(excitation: Excitation) -> str:
    """Return the page as text."""
    curves = compute_curves(excitation)
    content = {
        "excitation": excitation,
        "criterion": None if excitation.design is None else CRITERIA[excitation.design.criterion],
        "summary": summarize_excitation(excitation),
        "arm_figures": list(plot_arm(excitation)),
        "path_figure": plot_path(curves),
        "deviation_figure": plot_deviations(excitation),
        "joint_figures": [
            (name, motion, torque)
            for (name, motion), (_, torque) in zip(
                plot_motion(excitation, curves), plot_torque(excitation, curves), strict=True
            )
        ],
        "tools": ", ".join(curves.paths),
    }
    functions = (
        *(describe_motion, describe_noise, describe_origin, describe_reference, describe_search, describe_verdict),
        *(list_conditions, list_key_numbers, list_limit_headings, list_limits, list_margins, list_parameter_rows),
        *(describe_margins, list_assumptions),
    )
    return render_page("excitation.html", content, functions)


# Rows of the tables on the page of a designed trajectory: texts, and the numbers by which rows are sorted.


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
    if excitation.unchecked:
        yield "not checked", str(len(excitation.unchecked)), "; ".join(excitation.unchecked)


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


# Plots of a designed trajectory: joints and torques with their limits, the path of the tool, expected deviations.


MAX_LIMIT_RATIO = 2.5  # limit divided by the largest value; above it, the limit is not drawn
LIMIT_COLOUR = 7
PATH_HEIGHT = 460  # pixels
AXIS_COLOUR = "rgb(128, 136, 148)"  # readable on light and dark pages, since the style sheet cannot change this plot
CAMERA = (1.55, 1.55, 1.1)  # from where the path is seen; the longest axis of the plot is one unit long
MAX_PLOTTED_PERCENT = 1000.0  # larger deviations are drawn here; they only say that the value is near zero


def make_excitation_figures(excitation: Excitation) -> dict[str, go.Figure]:
    """Return the figures of the page by name."""
    curves = compute_curves(excitation)
    figures = {f"motion of {name}": figure for name, figure in plot_motion(excitation, curves)}
    figures |= {f"torque of {name}": figure for name, figure in plot_torque(excitation, curves)}
    figures |= {f"arm, {name}": figure for name, figure in plot_arm(excitation)}
    return figures | {"path of the tool": plot_path(curves), "expected std": plot_deviations(excitation)}


def plot_motion(excitation: Excitation, curves: MotionCurves) -> Iterator[tuple[str, go.Figure]]:
    """Yield a plot for each joint: position, and velocity below it, with their limits."""
    bounds, motion = excitation.bounds, curves.motion
    for j, name in enumerate(bounds.joints):
        unit = "m" if name in excitation.robot.prismatic_joints else "rad"
        lines = [
            Line("position", motion.q[:, j], colour=1),
            Line("velocity", motion.qd[:, j], colour=0, axis=1),
            *_draw_limits(motion.t, motion.q[:, j], (bounds.lower[j], bounds.upper[j]), axis=0),
            *_draw_limits(motion.t, motion.qd[:, j], (-bounds.velocity[j], bounds.velocity[j]), axis=1),
        ]
        axes = [Axis("position", unit), Axis("velocity", f"{unit}/s")]
        yield name, line_plot(motion.t, lines, axes, height=TWO_PLOTS_HEIGHT)


def plot_torque(excitation: Excitation, curves: MotionCurves) -> Iterator[tuple[str, go.Figure]]:
    """Yield a plot for each joint: torque, and acceleration below it, with their limits."""
    bounds, motion = excitation.bounds, curves.motion
    for j, name in enumerate(bounds.joints):
        slides = name in excitation.robot.prismatic_joints
        torque, unit = ("force", "m") if slides else ("torque", "rad")
        lines = [
            Line(torque, curves.torque[:, j], colour=1),
            Line("acceleration", motion.qdd[:, j], colour=0, axis=1),
            *_draw_limits(motion.t, curves.torque[:, j], (-bounds.effort[j], bounds.effort[j]), axis=0),
            *_draw_limits(motion.t, motion.qdd[:, j], (-bounds.acceleration[j], bounds.acceleration[j]), axis=1),
        ]
        axes = [Axis(torque, "N" if slides else "Nm"), Axis("acceleration", f"{unit}/s²")]
        yield name, line_plot(motion.t, lines, axes, height=TWO_PLOTS_HEIGHT)


def plot_arm(excitation: Excitation) -> Iterator[tuple[str, go.Figure]]:
    """Yield the arm at several poses of the path, seen from two sides, with the floor; the start is drawn last."""
    for name, view in zip(("from the side", "from the front"), compute_arm_views(excitation), strict=True):
        traces: list[dict[str, object]] = []
        for k in (*range(1, len(view.outlines)), 0):
            x, y = view.outlines[k].T.astype(np.float32)
            colour = COLOURS[1] if k == 0 else COLOURS[0]
            fill = colour.replace("rgb", "rgba").replace(")", f", {0.5 if k == 0 else 0.12})")
            trace = {"type": "scatter", "mode": "lines", "x": x, "y": y, "fill": "toself", "fillcolor": fill}
            label = f"t = {view.times[k]:.2f} s"
            traces.append(trace | {"line": {"color": colour, "width": 0.7}, "name": label, "hoverinfo": "name"})
        layout: dict[str, object] = {
            "height": PATH_HEIGHT,
            "margin": MARGIN,
            "xaxis": {"title": {"text": f"{view.across} / m"}, "zeroline": False},
            "yaxis": {"title": {"text": "height / m"}, "zeroline": False, "scaleanchor": "x"},
            "showlegend": False,
        }
        if view.floor is not None:
            line = {"color": AXIS_COLOUR, "width": 2.0}
            layout["shapes"] = [
                {
                    "type": "line",
                    "xref": "paper",
                    "x0": 0.0,
                    "x1": 1.0,
                    "y0": view.floor,
                    "y1": view.floor,
                    "line": line,
                }
            ]
        yield name, make_figure(traces, layout)


def plot_path(curves: MotionCurves) -> go.Figure:
    """Plot the paths of the tools in space; a dot marks the start."""
    traces: list[dict[str, object]] = []
    for k, (name, path) in enumerate(curves.paths.items()):
        colour, shown = COLOURS[k % len(COLOURS)], escape(name, quote=False)
        x, y, z = (column.astype(np.float32) for column in path.T)
        hover = "%{x:.3f}, %{y:.3f}, %{z:.3f} m<extra></extra>"
        line = {"color": colour, "width": 3}
        traces.append(
            {"type": "scatter3d", "mode": "lines", "name": shown, "x": x, "y": y, "z": z, "line": line}
            | {"hovertemplate": hover}
        )
        dot = {"color": colour, "size": 5}
        traces.append(
            {"type": "scatter3d", "mode": "markers", "name": f"{shown}, start", "x": x[:1], "y": y[:1], "z": z[:1]}
            | {"marker": dot, "showlegend": False, "hovertemplate": hover}
        )
    axis = {"color": AXIS_COLOUR, "gridcolor": AXIS_COLOUR, "zerolinecolor": AXIS_COLOUR, "showbackground": False}
    scene: dict[str, object] = {f"{name}axis": axis | {"title": {"text": f"{name} / m"}} for name in "xyz"}
    scene |= {"aspectmode": "data", "camera": {"eye": dict(zip("xyz", CAMERA, strict=True))}}
    layout = {
        "height": PATH_HEIGHT,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "scene": scene,
        "showlegend": len(curves.paths) > 1,
        "legend": {"orientation": "h", "x": 0.0, "y": 1.0, "yanchor": "bottom", "font": {"color": AXIS_COLOUR}},
    }
    return make_figure(traces, layout)


def plot_deviations(excitation: Excitation) -> go.Figure:
    """Plot the expected standard deviations of all base parameters, relative to their described values."""
    names = [escape(name, quote=False) for name in excitation.base.names]
    described = excitation.base.beta != 0.0
    percent = np.where(described, np.minimum(excitation.relative_std_percent, MAX_PLOTTED_PERCENT), np.nan)
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": names,
            "y": percent.astype(np.float32),
            "marker": {"color": COLOURS[0], "size": 7},
            "hovertemplate": "%{x}: %{y:.3~g} %<extra></extra>",
        }
    ]
    layout = {
        "height": 340,
        "margin": MARGIN | {"b": 110},
        "xaxis": {"tickangle": -60, "automargin": True, "tickfont": {"size": 10}},
        "yaxis": {"title": {"text": "expected std / % of the described value"}, "type": "log", "dtick": 1},
        "showlegend": False,
    }
    return make_figure(traces, layout)


def _draw_limits(t: np.ndarray, values: np.ndarray, limits: Sequence[float], *, axis: int) -> Iterator[Line]:
    """Yield both limits as dashed lines if the values come near them."""
    size = float(abs(values - 0.5 * sum(limits)).max()) if np.isfinite(limits).all() else 0.0
    if size * MAX_LIMIT_RATIO < 0.5 * (limits[1] - limits[0]):
        return
    ends = np.array([t[0], t[-1]])
    for limit in limits:
        yield Line(
            "limit",
            np.full(2, float(limit)),
            ends,
            axis=axis,
            colour=LIMIT_COLOUR,
            dashed=True,
            width=1.0,
            legend=False,
        )
