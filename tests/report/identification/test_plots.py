"""Plots of an identification."""

from __future__ import annotations

import json

import numpy as np

from tests.support.browser import Page
from ytheta.identification.assessment.torque_errors import Trace
from ytheta.identification.result import Identification
from ytheta.report.identification_plots import continuous_time, find_left_out_times, make_band, plot_torque


def test_plots_hold_the_trace(identification: Identification, page: Page) -> None:
    for j in range(len(identification.base.robot.actuated)):
        figures = json.loads(page.scripts[f"torque-{j + 1}"])
        bands = ["95 % interval"] * 2  # of the predicted torque and of the residual
        assert [line["name"] for line in figures["data"]] == [
            *bands,
            "description",
            "raw",
            "measured",
            "predicted",
            "residual",
        ]
    assert "zmin" in json.loads(page.scripts["correlation"])["data"][0]


def test_bands_are_closed_around_every_segment() -> None:
    """Two segments: each polygon follows the upper edge and returns along the lower one."""
    seconds, center = np.array([0.0, 1.0, np.nan, 2.0, 3.0]), np.array([1.0, 2.0, np.nan, 3.0, 4.0])
    band = make_band(seconds, center, np.array([0.5, 0.25, np.nan, 0.5, 0.5]), "y")
    np.testing.assert_allclose(band["x"], [0.0, 1.0, 1.0, 0.0, np.nan, 2.0, 3.0, 3.0, 2.0, np.nan])
    np.testing.assert_allclose(band["y"], [1.5, 2.25, 1.75, 0.5, np.nan, 3.5, 4.5, 3.5, 2.5, np.nan])


def test_time_continues_from_log_to_log() -> None:
    t = np.array([1e9, 1e9 + 1.0, np.nan, 1e9 + 5.0, np.nan, 0.0, 1.0])
    np.testing.assert_allclose(continuous_time(t), [0.0, 1.0, np.nan, 5.0, np.nan, 6.0, 7.0], rtol=0.0, atol=1e-9)


def test_time_at_rest_is_shaded() -> None:
    seconds = np.array([0.0, 1.0, 2.0, 3.0, np.nan, 4.0, 5.0])
    left_out = np.array([True, True, False, True, False, False, True])
    assert list(find_left_out_times(seconds, left_out)) == [(0.0, 1.0), (3.0, 3.0), (5.0, 5.0)]
    lines = np.zeros((7, 2))
    trace = Trace(
        seconds,
        lines,
        lines,
        lines,
        np.stack([left_out, ~left_out & np.isfinite(seconds)], axis=1),
        lines,
        lines,
        lines,
    )
    assert [(shape.x0, shape.x1) for shape in plot_torque(trace, 1, "Nm").layout.shapes] == [(2.0, 2.0), (4.0, 4.0)]
    moving = Trace(seconds, lines, lines, lines, np.zeros((7, 2), dtype=bool), lines, lines, lines)
    assert not plot_torque(moving, 0, "Nm").layout.shapes
