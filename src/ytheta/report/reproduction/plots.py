"""Figures of reproduced papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ytheta.report.line_plot import draw_plot

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ytheta.reproduction.reproduce import Reproduction


def make_reproduction_figures(reproduction: Reproduction) -> dict[str, go.Figure]:
    """Return the figures of all pages, by paper and title."""
    return {
        f"{paper.paper}, {plot.title}": draw_plot(plot)
        for paper in reproduction.papers
        for exhibit in paper.exhibits
        for plot in exhibit.plots
    }
