"""A plain page of figures with captions: those of a paper, drawn again, mostly.

Where a library that makes pages is missing, importing this module says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import ytheta
from ytheta.report.html_page import check_installed, rendered, write_page

check_installed()


@dataclass(frozen=True)
class Figure:
    """A plot, as ``line_plot`` returns it, with what stands above and below it."""

    title: str
    caption: str
    plot: str


def write_figures(title: str, figures: Sequence[Figure], path: str | Path, *, about: str = "") -> Path:
    """Write the page; ``about`` stands below its title. The file appears whole or not at all."""
    return write_page(path, lambda: figures_html(title, figures, about=about))


def figures_html(title: str, figures: Sequence[Figure], *, about: str = "") -> str:
    """The page as text."""
    told = [{"title": figure.title, "caption": figure.caption} for figure in figures]
    summary = {"ytheta": ytheta.__version__, "title": title, "about": about, "figures": told}
    return rendered("figures.html", {"title": title, "about": about, "figures": figures, "summary": summary})
