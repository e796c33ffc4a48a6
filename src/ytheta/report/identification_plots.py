"""Plots of an identification: torques, correlations, residuals, and the motion of each joint."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.identification.assessment.residual_analysis import (
    compute_residual_autocorrelation,
    compute_residual_histogram,
)
from ytheta.identification.assessment.torque_errors import TorqueErrors, Trace
from ytheta.report.figure import BACKGROUND_COLOUR, COLOURS, FAINT_COLOUR, MARGIN, MARK_COLOUR, TRANSPARENT, make_figure
from ytheta.report.numbers import get_torque_unit
from ytheta.report.parameter_plots import plot_friction, plot_origins, plot_values
from ytheta.robot.parts import Limits
from ytheta.shapes import Bool, Float

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.identification.result import Identification

TORQUE_HEIGHT = 300
QUANTILE = 1.96  # of a 95 % interval, in standard deviations
GAP = np.array([np.nan])
BAND_COLOUR = "rgba(217, 72, 15, 0.2)"  # that of the predicted torque
# Colour and width in pixels; wide lines lie behind narrow ones.
BACKGROUND_LINES = ("raw", "description")
STYLES = {
    "description": {"color": COLOURS[7], "width": 1.0, "dash": "dot"},
    "raw": {"color": BACKGROUND_COLOUR, "width": 1.0},
    "measured": {"color": FAINT_COLOUR, "width": 4.0},
    "predicted": {"color": COLOURS[1], "width": 1.3},
    "residual": {"color": COLOURS[0], "width": 1.0},
}
ROW_HEIGHT, MAX_HEIGHT = 13, 900  # of the correlation matrix, in pixels
MAX_LABELS = 70  # names of rows and columns; more names would not be legible
LEFT_OUT_COLOUR = "rgba(128, 136, 148, 0.16)"  # of the time that is left out because the joint rests or is slow
DIVERGING = ((0.0, "rgb(33,102,172)"), (0.5, "rgba(128,128,128,0)"), (1.0, "rgb(214,96,53)"))


def make_identification_figures(identification: Identification) -> dict[str, go.Figure]:
    """Return the figures of the page by name: torques, residuals, friction and motion of each joint, parameters."""
    figures = {f"torque of {name}": figure for name, figure in plot_torques(identification)}
    figures |= {f"friction of {curve.name}": figure for curve, figure in plot_friction(identification)}
    figures |= {f"residuals of {name}": figure for name, figure in plot_residuals(identification)}
    figures |= {f"motion of {name}": figure for name, figure in plot_motion(identification)}
    figures |= {f"parameters {title}": figure for title, figure in plot_values(identification)}
    figures |= {f"origin of the parameters of {title}": figure for title, figure in plot_origins(identification)}
    return figures | {"correlations": plot_correlations(identification)}


def plot_torques(identification: Identification) -> Iterator[tuple[str, go.Figure]]:
    """Yield a plot of each joint's torque on the validation logs, or on the logs of the fit if there are none."""
    errors = identification.fit if identification.validation is None else identification.validation
    robot, std = identification.base.robot, errors.regressor.compute_std(identification.uncertainty)
    noise, described = identification.torque_noise, identification.description_errors
    for j, name in enumerate(robot.actuated):
        bands = (QUANTILE * std[j], QUANTILE * np.hypot(std[j], noise[j]))
        before = None if described is None else described.trace.predicted[:, j]
        yield name, plot_torque(errors.trace, j, get_torque_unit(robot, name), bands, before)


def plot_torque(
    trace: Trace,
    joint: int,
    unit: str,
    half_widths: tuple[Float[np.ndarray, " shown"], Float[np.ndarray, " shown"]] | None = None,
    described: Float[np.ndarray, " shown"] | None = None,
) -> go.Figure:
    """Plot measured and predicted torque of one joint above the residual, with the raw torque behind them.

    ``half_widths``: of the intervals of the predicted torque, and of the residual; None draws no bands.
    ``described``: torque that the description predicts.
    Areas behind the lines mark the time that is left out of the errors.
    """
    seconds = continuous_time(trace.t).astype(np.float32)
    measured, predicted = trace.measured[:, joint], trace.predicted[:, joint]
    before = () if described is None else (("description", described, "y"),)
    lines = (
        *before,
        ("raw", trace.raw[:, joint], "y"),
        ("measured", measured, "y"),
        ("predicted", predicted, "y"),
        ("residual", measured - predicted, "y2"),
    )
    traces = [
        {
            "type": "scatter",
            "x": seconds,
            "y": values.astype(np.float32),
            "name": name,
            "yaxis": axis,
            "mode": "lines",
            "line": STYLES[name],
            "hoverinfo": "skip" if name in BACKGROUND_LINES else None,
            "hovertemplate": None if name in BACKGROUND_LINES else f"%{{y:.3~g}} {unit}",
        }
        for name, values, axis in lines
    ]
    if half_widths is not None:
        centers = ((predicted, "y"), (np.zeros(len(predicted)), "y2"))
        bands = [
            make_band(seconds, center, width, axis)
            for (center, axis), width in zip(centers, half_widths, strict=True)
            if np.isfinite(width[np.isfinite(predicted)]).all()
        ]
        traces = bands + traces
    layout = {
        "height": TORQUE_HEIGHT,
        "margin": MARGIN,
        "xaxis": {"title": {"text": "time / s", "standoff": 6}, "anchor": "y2", "zeroline": False},
        "yaxis": {"title": {"text": f"torque / {unit}"}, "domain": [0.38, 1.0], "zeroline": False, "nticks": 6},
        "yaxis2": {"title": {"text": "residual"}, "domain": [0.0, 0.3], "nticks": 4},
        "legend": {"orientation": "h", "x": 0.0, "y": 1.0, "yanchor": "bottom", "bgcolor": TRANSPARENT},
        "hovermode": "x unified",
        "shapes": make_left_out_areas(seconds, trace.left_out[:, joint]),
    }
    return make_figure(traces, layout)


def make_left_out_areas(
    seconds: Float[np.ndarray, " shown"], left_out: Bool[np.ndarray, " shown"]
) -> list[dict[str, object]]:
    """Return the areas that mark the time that is left out, as shapes of a layout."""
    return [
        {
            "type": "rect",
            "layer": "below",
            "yref": "paper",
            "x0": start,
            "x1": stop,
            "y0": 0.0,
            "y1": 1.0,
            "line": {"width": 0},
            "fillcolor": LEFT_OUT_COLOUR,
        }
        for start, stop in find_left_out_times(seconds, left_out)
    ]


def find_left_out_times(
    seconds: Float[np.ndarray, " shown"], left_out: Bool[np.ndarray, " shown"]
) -> Iterator[tuple[float, float]]:
    """Yield start and end of the time that is left out; a gap between segments ends it."""
    changes = np.flatnonzero(np.diff(left_out, prepend=False, append=False))
    for start, stop in zip(changes[::2], changes[1::2], strict=True):
        yield float(seconds[start]), float(seconds[stop - 1])


def make_band(
    seconds: Float[np.ndarray, " shown"],
    center: Float[np.ndarray, " shown"],
    half_width: Float[np.ndarray, " shown"],
    axis: str,
) -> dict[str, Any]:
    """Return a shaded band: for every segment a polygon along the upper edge and back along the lower one."""
    finite = np.isfinite(seconds) & np.isfinite(half_width)
    breaks = np.flatnonzero(np.diff(finite.astype(int), prepend=0, append=0))
    x: list[np.ndarray] = []
    y: list[np.ndarray] = []
    for start, stop in breaks.reshape(-1, 2):
        part = slice(int(start), int(stop))
        x += [seconds[part], seconds[part][::-1], GAP]
        y += [(center + half_width)[part], (center - half_width)[part][::-1], GAP]
    return {
        "type": "scatter",
        "name": "95 % interval",
        "x": np.concatenate(x).astype(np.float32),
        "y": np.concatenate(y).astype(np.float32),
        "yaxis": axis,
        "mode": "none",
        "fill": "toself",
        "fillcolor": BAND_COLOUR,
        "showlegend": False,
        "hoverinfo": "skip",
    }


def continuous_time(t: Float[np.ndarray, " shown"]) -> Float[np.ndarray, " shown"]:
    """Return a time in s that starts at 0; a log that follows another log continues its time."""
    finite = np.flatnonzero(np.isfinite(t))
    steps = np.diff(t[finite], prepend=t[finite[:1]])
    ordinary = float(np.median(steps[steps > 0.0])) if (steps > 0.0).any() else 0.0
    shown = np.full(len(t), np.nan)
    shown[finite] = np.cumsum(np.where(steps < 0.0, ordinary, steps))
    return shown


def plot_correlations(identification: Identification) -> go.Figure:
    """Plot the correlation matrix of the errors of base parameters, without the parameters that are not seen."""
    names = [escape(name) for name in identification.names]
    known = np.isfinite(identification.std)
    values = np.where(np.outer(known, known), identification.correlation, np.nan).astype(np.float32)
    matrix = {
        "type": "heatmap",
        "z": values,
        "x": names,
        "y": names,
        "zmin": -1.0,
        "zmax": 1.0,
        "colorscale": DIVERGING,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": "%{y}<br>%{x}<br>%{z:.2f}<extra></extra>",
        "colorbar": {"thickness": 10, "outlinewidth": 0, "tickvals": [-1, -0.5, 0, 0.5, 1]},
    }
    axis = {"showgrid": False, "ticks": "", "tickfont": {"size": 10}, "showticklabels": len(names) <= MAX_LABELS}
    layout = {
        "height": min(MAX_HEIGHT, 60 + max(12, len(names)) * ROW_HEIGHT),
        "margin": MARGIN | {"l": 8, "b": 8},
        "xaxis": axis | {"showticklabels": False, "constrain": "domain"},
        "yaxis": axis | {"autorange": "reversed", "automargin": True, "dtick": 1},
    }
    return make_figure([matrix], layout)


# Plots of the residuals of each joint: their distribution and their autocorrelation.


RESIDUAL_HEIGHT = 210  # pixels
MAX_PERIODS = 6.0  # shown lags, in autocorrelation times of low-passed white noise and of the residual


def plot_residuals(identification: Identification) -> Iterator[tuple[str, go.Figure]]:
    """Yield a figure for each joint: at the left the histogram with a normal distribution, at the right the
    autocorrelation; joints without residuals are left out.

    A dotted vertical line marks the autocorrelation time that low-passed white noise would have.
    """
    errors = identification.fit if identification.validation is None else identification.validation
    correlation = compute_residual_autocorrelation(errors)
    robot, rate = identification.base.robot, errors.samples / max(errors.seconds, np.finfo(float).tiny)
    expected = identification.origin.expected_autocorrelation_time / rate
    for j, name in enumerate(robot.actuated):
        histogram = compute_residual_histogram(errors, j)
        if histogram is None:
            continue
        unit = get_torque_unit(robot, name)
        longest = MAX_PERIODS * max(expected, float(errors.autocorrelation_time[j]) / rate)
        shown = correlation.seconds <= longest
        traces: list[dict[str, object]] = [
            {
                "type": "bar",
                "x": histogram.centers.astype(np.float32),
                "y": histogram.density.astype(np.float32),
                "width": histogram.width,
                "name": "residual",
                "marker": {"color": FAINT_COLOUR, "line": {"width": 0}},
                "hovertemplate": f"%{{x:.3~g}} {unit}<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "lines",
                "x": histogram.centers.astype(np.float32),
                "y": histogram.normal.astype(np.float32),
                "name": "normal distribution",
                "line": {"color": COLOURS[1], "width": 1.3},
                "hoverinfo": "skip",
            },
            {
                "type": "scatter",
                "mode": "lines",
                "x": correlation.seconds[shown].astype(np.float32),
                "y": correlation.values[shown, j].astype(np.float32),
                "name": "autocorrelation",
                "xaxis": "x2",
                "yaxis": "y2",
                "line": {"color": COLOURS[0], "width": 1.5},
                "hovertemplate": "%{y:.2f} after %{x:.3~g} s<extra></extra>",
            },
        ]
        yield name, make_figure(traces, _make_layout(unit, expected))


def _make_layout(unit: str, expected: float) -> dict[str, object]:
    return {
        "height": RESIDUAL_HEIGHT,
        "margin": MARGIN | {"l": 12},
        "showlegend": False,
        "bargap": 0.0,
        "xaxis": {
            "title": {"text": f"residual / {unit}", "standoff": 6},
            "domain": [0.0, 0.46],
            "zeroline": False,
            "nticks": 5,
        },
        "yaxis": {"showticklabels": False, "showgrid": False, "zeroline": False, "rangemode": "tozero"},
        "xaxis2": {
            "title": {"text": "lag / s", "standoff": 6},
            "domain": [0.56, 1.0],
            "anchor": "y2",
            "zeroline": False,
            "nticks": 5,
        },
        "yaxis2": {"anchor": "x2", "nticks": 4, "range": [-0.55, 1.05]},
        "shapes": [
            {
                "type": "line",
                "xref": "x2",
                "yref": "paper",
                "x0": expected,
                "x1": expected,
                "y0": 0.0,
                "y1": 1.0,
                "line": {"color": MARK_COLOUR, "width": 1, "dash": "dot"},
            }
        ],
    }


# Plots of the motion of each joint: its positions and velocities against the limits of the description.


MOTION_HEIGHT = 230  # pixels
MAX_POINTS = 350  # of one joint and set of logs; each is an element of the page
POINT_SIZE = 3  # pixels


def plot_motion(identification: Identification) -> Iterator[tuple[str, go.Figure]]:
    """Yield a figure of each joint: its velocity over its position, with the limits as a frame."""
    robot = identification.base.robot
    for j, (name, limits) in enumerate(zip(robot.actuated, robot.actuated_limits, strict=True)):
        unit = "m" if name in robot.prismatic_joints else "rad"
        traces = [_make_points(identification.fit, j, "fit", 0)]
        if identification.validation is not None:
            traces.append(_make_points(identification.validation, j, "validation", 1))
        layout = {
            "height": MOTION_HEIGHT,
            "margin": MARGIN,
            "showlegend": False,
            "hovermode": "closest",
            "xaxis": {"title": {"text": f"position / {unit}", "standoff": 6}, "zeroline": False, "nticks": 7},
            "yaxis": {"title": {"text": f"velocity / {unit}/s"}, "zeroline": False, "nticks": 5},
            "shapes": list(_make_limits(limits)),
        }
        yield name, make_figure([*traces, _make_corners(limits)], layout)


def _make_points(errors: TorqueErrors, joint: int, name: str, colour: int) -> dict[str, object]:
    q, qd = errors.trace.q[:, joint], errors.trace.qd[:, joint]
    places = np.flatnonzero(np.isfinite(q) & np.isfinite(qd))
    places = places[:: max(1, math.ceil(len(places) / MAX_POINTS))]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": q[places].astype(np.float32),
        "y": qd[places].astype(np.float32),
        "name": name,
        "marker": {"color": COLOURS[colour], "size": POINT_SIZE, "opacity": 0.6},
        "hovertemplate": "%{x:.3~g}, %{y:.3~g}<extra></extra>",
    }


def _make_corners(limits: Limits) -> dict[str, object]:
    """Return invisible points at the limits, so that the axes contain them."""
    x = [value for value in (limits.lower, limits.upper) if math.isfinite(value)]
    y = [sign * limits.velocity for sign in (-1.0, 1.0) if math.isfinite(limits.velocity)]
    center = 0.5 * (x[0] + x[-1]) if x else 0.0
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [*x, *([center] * len(y))],
        "y": [*([0.0] * len(x)), *y],
        "marker": {"color": MARK_COLOUR, "opacity": 0.0, "size": 1},
        "hoverinfo": "skip",
    }


def _make_limits(limits: Limits) -> Iterator[dict[str, object]]:
    line = {"color": MARK_COLOUR, "width": 1.5, "dash": "dash"}
    for x in (limits.lower, limits.upper):
        if math.isfinite(x):
            yield {"type": "line", "x0": x, "x1": x, "y0": 0.0, "y1": 1.0, "yref": "paper", "line": line}
    for y in (-limits.velocity, limits.velocity):
        if math.isfinite(y):
            yield {"type": "line", "y0": y, "y1": y, "x0": 0.0, "x1": 1.0, "xref": "paper", "line": line}
