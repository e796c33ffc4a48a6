"""Line plots: decimation, axes, colours."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.support.paths import ROOT
from tests.support.plot_data import only
from ytheta.errors import InputError
from ytheta.plots import Axis, AxisPosition, Band, Line
from ytheta.report.figure import (
    BACKGROUND_COLOUR,
    COLOURS,
    FAINT_COLOUR,
    MARK_COLOUR,
    MAX_POINTS,
    decimate,
    figure_to_json,
    line_plot,
    spans_decades,
)


def test_thinning_keeps_peaks() -> None:
    y = np.sin(np.linspace(0.0, 9.0, 50_001))
    y[31_234], y[40_001] = 7.0, -5.0
    y[100:200] = np.nan
    kept = decimate(y)
    assert len(kept) <= MAX_POINTS
    assert (np.diff(kept) > 0).all()
    assert {0, 31_234, 40_001, 50_000} <= set(kept.tolist())
    assert not {31_234, 40_001} & set(np.arange(0, 50_001, 26).tolist())  # every 26th would have missed both
    assert np.isnan(y[kept]).any()  # a gap stays one
    np.testing.assert_array_equal(decimate(y[:MAX_POINTS]), np.arange(MAX_POINTS))


def test_line_plot_axes() -> None:
    t = np.linspace(0.0, 1.0, 11)
    lines = [Line("a<b", t - 0.5), Line("c", t + 1.0, axis=1, dashed=True, colour=2)]
    plot = json.loads(
        figure_to_json(line_plot(t, lines, [Axis("V", "J", log=True), Axis("q", "rad", place=AxisPosition.RIGHT)]))
    )
    assert [trace["name"] for trace in plot["data"]] == ["a&lt;b", "c"]
    assert [trace["line"]["color"] for trace in plot["data"]] == [COLOURS[0], COLOURS[2]]
    assert (plot["layout"]["yaxis"]["type"], plot["layout"]["yaxis"]["title"]["text"]) == ("log", "V / J")
    assert (plot["layout"]["yaxis2"]["side"], plot["layout"]["yaxis2"]["overlaying"]) == ("right", "y")
    np.testing.assert_array_equal(np.isnan(only(plot, "a&lt;b")), t <= 0.5)
    below = json.loads(figure_to_json(line_plot(t, lines, [Axis("V"), Axis("q")])))
    assert below["layout"]["yaxis2"]["domain"][1] < below["layout"]["yaxis"]["domain"][0]
    assert "overlaying" not in below["layout"]["yaxis2"]
    assert not np.isnan(only(below, "a&lt;b")).any()
    assert "<" not in figure_to_json(line_plot(t, lines, [Axis("V"), Axis("q")]))
    with pytest.raises(InputError, match="one or two y axes"):
        line_plot(t, lines, [Axis("V")])
    with pytest.raises(InputError, match="3 values of y for 11 values of x"):
        line_plot(t, [Line("a", np.zeros(3))], [Axis("V")])
    band = json.loads(figure_to_json(line_plot(t, [], [Axis("V", log=True)], bands=[Band("b", t - 0.5, t + 1.0)])))
    assert (only(band, "b") > 0.0).all()
    assert [spans_decades(np.array(values)) for values in ([1.0, 20.0], [1.0, 40.0], [-1.0, np.nan])] == [
        False,
        True,
        False,
    ]


def test_every_colour_has_one_of_the_dark_theme() -> None:
    css = (ROOT / "src" / "ytheta" / "report" / "templates" / "page.css").read_text(encoding="utf-8")
    for colour in (*COLOURS, FAINT_COLOUR, BACKGROUND_COLOUR, MARK_COLOUR):
        assert f'[style*="stroke: {colour}"]' in css
    assert '[style*="stroke: rgb(1, 2, 3)"]' not in css


def test_a_short_logarithmic_axis_has_few_ticks() -> None:
    """Values of 2.6 to 62 need no label for every digit; over more decades, Plotly labels powers of ten."""
    t = np.array([0.0, 1.0])
    for largest, ticks in ((62.0, 3), (6.2e4, 6)):
        figure = line_plot(t, [Line("V", np.array([largest, 2.6]))], [Axis("V", log=True)])
        assert json.loads(figure_to_json(figure))["layout"]["yaxis"]["nticks"] == ticks
