"""Plots of a prediction: the torque of each joint, measured and predicted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ytheta.plots import Axis, Line
from ytheta.report.identification.plots import continuous_time, plot_torque
from ytheta.report.line_plot import line_plot
from ytheta.report.numbers import get_torque_unit

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.identification.predict import Prediction

MAX_STEP_RATIO = 1.5  # time between two samples divided by the sampling time; a longer one is a gap in the line


def make_prediction_figures(prediction: Prediction) -> dict[str, go.Figure]:
    """Return the figures of the page by name: the torque of each joint."""
    return {f"torque of {name}": figure for name, figure in plot_torques(prediction)}


def plot_torques(prediction: Prediction) -> Iterator[tuple[str, go.Figure]]:
    """Yield a plot of each joint: measured and predicted torque above the residual, or the predicted torque alone."""
    robot, errors = prediction.robot, prediction.errors
    seconds = continuous_time(prediction.t)
    is_gap = np.diff(prediction.t, prepend=prediction.t[0]) * prediction.preparation.rate > MAX_STEP_RATIO
    for j, name in enumerate(robot.actuated):
        unit = get_torque_unit(robot, name)
        if errors is not None:
            yield name, plot_torque(errors.trace, j, unit)
        else:
            line = Line("predicted", np.where(is_gap, np.nan, prediction.predicted[:, j]), colour=1)
            axis = Axis("force" if name in robot.prismatic_joints else "torque", unit)
            yield name, line_plot(seconds, [line], [axis], legend=False)
