"""Figures of a prediction."""

from __future__ import annotations

import numpy as np

import ytheta as yt
from ytheta.report.figure import figure_to_json


def test_figures_hold_the_torques(prediction: yt.Prediction) -> None:
    figures = prediction.figures()
    assert list(figures) == ["torque of joint1", "torque of joint2"]
    for j, figure in enumerate(figures.values()):
        lines = {trace.name: np.asarray(trace.y) for trace in figure.data}
        assert set(lines) == {"raw", "measured", "predicted", "residual"}
        assert prediction.errors is not None
        np.testing.assert_allclose(lines["predicted"], prediction.errors.trace.predicted[:, j], rtol=1e-6)
        np.testing.assert_allclose(lines["residual"], lines["measured"] - lines["predicted"], atol=1e-4)
        assert figure.layout.legend.orientation == "h"  # a page has its own legend
        assert '"showlegend":false' in figure_to_json(figure, legend=False)
        assert '"showlegend":false' not in figure_to_json(figure)


def test_figures_without_measured_torques(without_torques: yt.Prediction) -> None:
    for j, figure in enumerate(without_torques.figures().values()):
        (line,) = figure.data
        y = np.asarray(line.y)
        assert line.name == "predicted"
        assert np.isnan(y).sum() == 1  # the gap
        assert np.nanmax(y) == np.float32(without_torques.predicted[:, j].max())
