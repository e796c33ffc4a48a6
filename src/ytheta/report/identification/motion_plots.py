"""Plots of the motion of each joint: its positions and velocities against the limits of the description."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.report.line_plot import COLOURS, MARK_COLOUR
from ytheta.report.plotly_figure import MARGIN, make_figure
from ytheta.robot.parts import Limits

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.identification.result import Identification

HEIGHT = 230  # pixels
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
            "height": HEIGHT,
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
