"""Plots of an identification."""

from __future__ import annotations

import json

import numpy as np

from tests.support.browser import Page
from ytheta.identification.result import Identification
from ytheta.report.identification.plots import continuous_time


def test_plots_hold_the_trace(identification: Identification, page: Page) -> None:
    for j in range(len(identification.base.robot.actuated)):
        figures = json.loads(page.scripts[f"torque-{j + 1}"])
        assert [line["name"] for line in figures["data"]] == ["raw", "measured", "predicted", "residual"]
    assert "zmin" in json.loads(page.scripts["correlation"])["data"][0]


def test_time_continues_from_log_to_log() -> None:
    t = np.array([1e9, 1e9 + 1.0, np.nan, 1e9 + 5.0, np.nan, 0.0, 1.0])
    np.testing.assert_allclose(continuous_time(t), [0.0, 1.0, np.nan, 5.0, np.nan, 6.0, 7.0], rtol=0.0, atol=1e-9)
