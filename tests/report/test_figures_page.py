"""Pages of figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.support.browser import EVIL, Page, drawn_plots, open_page
from tests.support.plot_data import plot_of, plotted
from ytheta.plots import Axis, AxisPosition, Band, Line
from ytheta.report.figures_page import Figure, figures_html, write_figures
from ytheta.report.line_plot import line_plot


def test_figures_page(tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 11)
    figures = [
        Figure(f"Fig. {k} {EVIL}", f"caption {k} {EVIL}", line_plot(t, [Line(EVIL, k * t)], [Axis("V")]))
        for k in (1, 2)
    ]
    html = figures_html(f"All {EVIL}", figures, about="Drawn again.")
    assert EVIL not in html
    page = Page(html)
    for text in (f"All {EVIL}", "Drawn again.", *(f"caption {k} {EVIL}" for k in (1, 2))):
        assert text in page.text
    (((_, y),),) = plotted(plot_of(page, "figure-2")).values()
    np.testing.assert_allclose(y, 2.0 * t, rtol=1e-6)
    assert json.loads(page.scripts["ytheta"])["figures"][0]["caption"] == f"caption 1 {EVIL}"
    assert write_figures("All", figures, tmp_path / "all.html").stat().st_size < 3_000_000


def test_a_browser_shows_figures(chromium: str, tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 11)
    axes = [Axis("V", log=True), Axis("q", "rad", place=AxisPosition.RIGHT)]
    plot = line_plot(t, [Line(EVIL, t), Line("b", t, axis=1)], axes, bands=[Band("c", t, t + 1.0)], marks=[0.5])
    dom, console = open_page(chromium, write_figures(EVIL, [Figure("one", "", plot)], tmp_path / "one.html"))
    assert console == []
    assert drawn_plots(dom) == ["figure-1"]
    assert EVIL in Page(dom).text
