"""A page of figures with captions, such as those of a paper.

If a library that pages need is missing, importing this module raises MissingExtraError.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ytheta
from ytheta.report.html_page import check_installed, render_page, write_page

if TYPE_CHECKING:
    import plotly.graph_objects as go

check_installed()


@dataclass(frozen=True)
class Figure:
    """A plot (a result of ``line_plot``) with title and caption."""

    title: str
    caption: str
    plot: go.Figure


def write_figures(title: str, figures: Sequence[Figure], path: str | Path, *, about: str = "") -> Path:
    """Write the page, with ``about`` below its title; the file is written atomically."""
    return write_page(path, lambda: figures_html(title, figures, about=about))


def figures_html(title: str, figures: Sequence[Figure], *, about: str = "") -> str:
    """Return the page as text."""
    captions = [{"title": figure.title, "caption": figure.caption} for figure in figures]
    summary = {"ytheta": ytheta.__version__, "title": title, "about": about, "figures": captions}
    return render_page("figures.html", {"title": title, "about": about, "figures": figures, "summary": summary})
