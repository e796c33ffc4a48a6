"""The page of a reproduced paper: a self-contained HTML file with its tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.report.html_page import render_page, write_page
from ytheta.report.line_plot import draw_plot
from ytheta.report.reproduction.summary import summarize_paper
from ytheta.report.reproduction.tables import AGREEMENT_WORDS, list_rows
from ytheta.reproduction.exhibit import Agreement

if TYPE_CHECKING:
    from ytheta.reproduction.exhibit import PaperReproduction


def write_reproduction_report(paper: PaperReproduction, path: str | Path) -> Path:
    """Write the page of a paper; the file is written atomically."""
    return write_page(path, lambda: reproduction_html(paper))


def reproduction_html(paper: PaperReproduction) -> str:
    """Return the page as text."""
    content = {
        "paper": paper,
        "counts": [(word, paper.count(agreement)) for agreement, word in AGREEMENT_WORDS.items()],
        "badges": {Agreement.YES: "good", Agreement.NO: "poor", Agreement.OPEN: "usable"},
        "summary": {paper.paper: summarize_paper(paper)},
    }
    return render_page("reproduction.html", content, (draw_plot, list_rows))
