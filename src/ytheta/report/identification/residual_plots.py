"""Plots of the residuals of each joint: their distribution and their autocorrelation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ytheta.identification.assessment.residual_analysis import (
    compute_residual_autocorrelation,
    compute_residual_histogram,
)
from ytheta.report.line_plot import COLOURS, FAINT_COLOUR, MARK_COLOUR
from ytheta.report.numbers import get_torque_unit
from ytheta.report.plotly_figure import MARGIN, make_figure

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.identification.result import Identification

HEIGHT = 210  # pixels
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
        "height": HEIGHT,
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
