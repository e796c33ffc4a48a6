"""Plots of checked logs: positions, velocities and torques of all joints over time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ytheta.plots import Axis, Line
from ytheta.report.line_plot import line_plot

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.logs.check import CheckedLog, LogCheck

AXES = {
    "positions": ("position", "rad or m"),
    "velocities": ("velocity", "rad/s or m/s"),
    "torques": ("torque", "Nm or N"),
}


def make_log_check_figures(check: LogCheck) -> dict[str, go.Figure]:
    """Return the figures of the page by name."""
    return {
        f"{name} of {Path(checked.log.source).name or 'log'} ({k + 1})": figure
        for k, checked in enumerate(check.logs)
        for name, figure in plot_log(checked)
    }


def plot_log(checked: CheckedLog) -> Iterator[tuple[str, go.Figure]]:
    """Yield a plot of each recorded quantity, with one line per joint; lines have gaps where the log has gaps."""
    log = checked.log
    seconds = np.where(np.isfinite(log.t), log.t, np.nan) - float(log.t[0])
    x_title = f"time since {log.t[0]:.10g} s / s" if log.t[0] else "time / s"
    breaks = [start for start, _ in log.segments if start > 0]
    for name, values in (("positions", log.q), ("velocities", log.qd), ("torques", log.tau)):
        if values is None:
            continue
        shown = np.where(np.isfinite(values), values, np.nan)
        shown[breaks] = np.nan
        lines = [Line(joint, shown[:, k]) for k, joint in enumerate(log.joints)]
        yield name, line_plot(seconds, lines, [Axis(*AXES[name])], x_title=x_title)
