"""Line plots as Plotly figures, for reports and for figures of papers.

Colours are RGB values of the light theme. The style sheet maps each of them to a colour of the dark theme. A line with
too many points is decimated to the minimum and the maximum of each interval, so that no peak is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ytheta.errors import InputError, MissingExtraError
from ytheta.plots import Axis, AxisPosition, Band, Line, Plot
from ytheta.shapes import Float, Int

if TYPE_CHECKING:
    import plotly.graph_objects as go

COLOURS = (
    "rgb(33, 102, 172)",
    "rgb(217, 72, 15)",
    "rgb(26, 127, 75)",
    "rgb(123, 63, 160)",
    "rgb(176, 125, 10)",
    "rgb(14, 138, 148)",
    "rgb(194, 55, 138)",
    "rgb(107, 114, 128)",
)
FAINT_COLOUR = "rgb(143, 163, 189)"  # of lines behind others
BACKGROUND_COLOUR = "rgb(201, 208, 217)"  # of lines behind all others
MARK_COLOUR = "rgb(128, 136, 148)"
MAX_POINTS = 2000  # points of a line
MAX_POINTS_MANY_LINES = 600
HEIGHT = 300  # pixels
TWO_PLOTS_HEIGHT = 420  # of a figure with a second axis below
MAX_UNIFIED_LINES = 12  # with more lines, only the line nearest to the pointer is labelled
LOWER_SHARE = 0.3  # height of the lower axis, relative to the height of the plot
TICKS, SHORT_LOG_TICKS = 6, 3  # upper limits; with three, Plotly labels 1, 2 and 5 of a decade
SHORT_DECADES = 2.0  # log10 of the largest divided by the smallest value on a short logarithmic axis
MIN_DECADES = 1.5  # log10 of the largest divided by the smallest value; below it, axes are linear


def line_plot(
    x: Float[np.ndarray, " points"],
    lines: Sequence[Line],
    axes: Sequence[Axis],
    *,
    x_title: str = "time / s",
    height: int = HEIGHT,
    bands: Sequence[Band] = (),
    marks: Sequence[float] = (),
    legend: bool = True,
) -> go.Figure:
    """Plot lines as functions of x, on one or two y axes. ``marks`` are values of x marked by a vertical line."""
    places = {line.axis for line in lines} | {band.axis for band in bands}
    if not (1 <= len(axes) <= 2 and places <= set(range(len(axes)))):
        raise InputError(
            f"a plot needs one or two y axes, and each line or band must use one of them; got {len(axes)} axes"
        )
    many_lines = len(lines) > MAX_UNIFIED_LINES
    traces = [_make_band(x, band, axes[band.axis]) for band in bands]
    for k, line in enumerate(lines):
        traces.append(_make_trace(x, line, k, axes[line.axis], many_lines=many_lines))
    below = len(axes) == 2 and axes[1].place is AxisPosition.BELOW
    layout = {
        "height": height,
        "margin": MARGIN,
        "xaxis": {
            "title": {"text": escape(x_title, quote=False), "standoff": 6},
            "anchor": "y2" if below else "y",
            "zeroline": False,
            "hoverformat": ".4~g",
        },
        "showlegend": legend,
        "legend": {"orientation": "h", "x": 0.0, "y": 1.0, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"},
        "hovermode": "closest" if many_lines else "x unified",
        "shapes": [_make_mark(place) for place in marks],
        "yaxis": _make_axis(axes[0])
        | _limit_ticks(axes[0], lines)
        | {"domain": [LOWER_SHARE + 0.08, 1.0] if below else [0.0, 1.0]},
    }
    if below:
        layout["yaxis2"] = _make_axis(axes[1]) | {"domain": [0.0, LOWER_SHARE], "nticks": 4}
    elif len(axes) == 2:
        layout["yaxis2"] = _make_axis(axes[1]) | {
            "overlaying": "y",
            "side": "right",
            "showgrid": False,
            "tickmode": "auto",
        }
    return make_figure(traces, layout)


def draw_plot(plot: Plot) -> go.Figure:
    """Return the Plotly figure of a plot; two axes below each other get more height."""
    below = len(plot.axes) == 2 and plot.axes[1].place is AxisPosition.BELOW
    return line_plot(
        plot.x,
        plot.lines,
        plot.axes,
        x_title=plot.x_title,
        height=TWO_PLOTS_HEIGHT if below else HEIGHT,
        bands=plot.bands,
        marks=plot.marks,
    )


def spans_decades(values: Float[np.ndarray, "*shape"], decades: float = MIN_DECADES) -> bool:
    """Return whether the positive values span more than so many decades; a logarithmic axis then shows them better."""
    positive = values[np.isfinite(values) & (values > 0.0)]
    return bool(len(positive)) and float(positive.max()) > 10.0**decades * float(positive.min())


def decimate(y: Float[np.ndarray, " points"], max_points: int = MAX_POINTS) -> Int[np.ndarray, " kept"]:
    """Return the indices of at most ``max_points`` points: the minimum and maximum of each interval, and both ends."""
    if len(y) <= max_points:
        return np.arange(len(y))
    low, high = (np.where(np.isnan(y), instead, y) for instead in (np.inf, -np.inf))
    edges = np.linspace(0, len(y), max_points // 2, dtype=np.intp)  # two points per interval, and both ends
    kept = {0, len(y) - 1}
    for begin, end in pairwise(edges.tolist()):
        kept |= {begin + int(np.argmin(low[begin:end])), begin + int(np.argmax(high[begin:end]))}
    return np.array(sorted(kept))


def _make_trace(x: np.ndarray, line: Line, number: int, axis: Axis, *, many_lines: bool) -> dict[str, object]:
    line_x = x if line.x is None else line.x
    if line.y.shape != line_x.shape:
        raise InputError(
            f"the line {line.name!r} has {len(line.y)} values of y for {len(line_x)} values of x; give equally many"
        )
    y = np.where(line.y > 0.0, line.y, np.nan) if axis.log else line.y
    kept = decimate(y, MAX_POINTS_MANY_LINES if many_lines else MAX_POINTS)
    name = escape(line.name, quote=False)
    value = f"%{{y:.4~g}} {escape(axis.unit, quote=False)}".rstrip()
    return {
        "type": "scatter",
        "mode": "lines",
        "x": line_x[kept].astype(np.float32),
        "y": y[kept].astype(np.float32),
        "name": name,
        "yaxis": "y" if line.axis == 0 else "y2",
        "line": {
            "color": FAINT_COLOUR
            if line.faint
            else COLOURS[(number if line.colour is None else line.colour) % len(COLOURS)],
            "width": line.width,
            "dash": "dash" if line.dashed else "solid",
        },
        "showlegend": line.legend,
        "hovertemplate": f"{value}<extra>{name}</extra>" if many_lines else value,
    }


def _make_band(x: np.ndarray, band: Band, axis: Axis) -> dict[str, object]:
    """Return a band as a closed line. A logarithmic axis leaves out bounds that are not positive."""
    known = np.isfinite(band.lower) & np.isfinite(band.upper) & ((band.lower > 0.0) | (not axis.log))
    at = np.flatnonzero(known)[:: max(1, -(-2 * int(known.sum()) // MAX_POINTS))]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([x[at], x[at][::-1]]).astype(np.float32),
        "y": np.concatenate([band.upper[at], band.lower[at][::-1]]).astype(np.float32),
        "name": escape(band.name, quote=False),
        "yaxis": "y" if band.axis == 0 else "y2",
        "fill": "toself",
        "fillcolor": COLOURS[band.colour % len(COLOURS)].replace("rgb", "rgba").replace(")", ", 0.22)"),
        "line": {"width": 0, "color": COLOURS[band.colour % len(COLOURS)]},
        "hoverinfo": "skip",
    }


def _make_axis(axis: Axis) -> dict[str, object]:
    title = " / ".join(filter(None, (axis.title, axis.unit)))
    settings: dict[str, object] = {
        "title": {"text": escape(title, quote=False)},
        "zeroline": False,
        "automargin": True,
        "nticks": TICKS,
    }
    return settings | ({"type": "log", "exponentformat": "power"} if axis.log else {})


def _limit_ticks(axis: Axis, lines: Sequence[Line]) -> dict[str, object]:
    """Return settings of the first axis: on a short logarithmic one, Plotly would label all nine digits of a decade."""
    values = [np.ravel(line.y) for line in lines if line.axis == 0]
    if not axis.log or not values or spans_decades(np.concatenate(values), SHORT_DECADES):
        return {}
    return {"nticks": SHORT_LOG_TICKS}


def _make_mark(place: float) -> dict[str, object]:
    line = {"color": MARK_COLOUR, "width": 1, "dash": "dot"}
    return {"type": "line", "x0": place, "x1": place, "y0": 0.0, "y1": 1.0, "yref": "paper", "line": line}


# Plotly figures without Plotly's theme, and their JSON for a page, whose style sheet sets texts and background.


MARGIN = {"l": 56, "r": 8, "t": 8, "b": 40}
TRANSPARENT = "rgba(0,0,0,0)"


def make_figure(traces: Sequence[Mapping[str, object]], layout: Mapping[str, object]) -> go.Figure:
    """Return a figure; Plotly rejects unknown property names."""
    try:
        import plotly.graph_objects as go
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"figures are made with {error.name}, which is not installed; run: pip install 'ytheta[report]'"
        ) from None
    return go.Figure([dict(trace) for trace in traces], _without_theme(layout))


def figure_to_json(figure: go.Figure, *, legend: bool = True) -> str:
    """Return a figure as JSON without ``<``, for a script element; ``legend=False`` hides the figure's legend."""
    from plotly.io.json import to_json_plotly

    data = figure.to_plotly_json()
    layout = data["layout"] | {"paper_bgcolor": TRANSPARENT, "plot_bgcolor": TRANSPARENT}
    if not legend:
        layout["showlegend"] = False
    return str(to_json_plotly(data | {"layout": layout})).replace("<", "\\u003c")


def _without_theme(layout: Mapping[str, object]) -> dict[str, object]:
    font = {"family": "system-ui, sans-serif", "size": 12}
    return {"template": {}, "font": font, "autosize": True, **layout}
