"""Reproduced papers for a terminal, as the output of ``ytheta reproduce --json``, and as pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ytheta.papers.exhibit import Agreement
from ytheta.report.figure import draw_plot
from ytheta.report.html_page import render_page, write_page
from ytheta.report.numbers import format_plain, replace_nonfinite
from ytheta.report.terminal import make_table, print_note, safe_text, safe_texts

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from rich.console import Console

    from ytheta.papers.exhibit import Exhibit, PaperReproduction, Value
    from ytheta.papers.reproduce import Reproduction

STYLES = {Agreement.YES: "green", Agreement.NO: "bold red", Agreement.OPEN: "yellow"}


def print_reproduction(console: Console, reproduction: Reproduction) -> None:
    """Print the exhibits of every paper, and the number of comparisons that agree, disagree and are open."""
    for paper in reproduction.papers:
        print_paper(console, paper)
    if len(reproduction.papers) > 1:
        for paper in reproduction.papers:
            console.print(safe_text(f"{paper.paper}: {describe_agreement(paper)}"))


def print_paper(console: Console, paper: PaperReproduction) -> None:
    """Print the exhibits of a paper."""
    console.print(safe_text(f"{paper.paper}: {paper.citation}", style="bold"))
    console.print(safe_text(paper.about))
    for exhibit in paper.exhibits:
        _print_exhibit(console, exhibit)
    console.print(safe_text(f"{paper.paper}: {describe_agreement(paper)}"))
    console.print()


def _print_exhibit(console: Console, exhibit: Exhibit) -> None:
    console.print()
    console.print(safe_text(exhibit.title, style="bold"))
    table = make_table("", "paper", "ytheta", "agrees")
    notes = []
    for name, printed, result, agrees, note in list_rows(exhibit):
        table.add_row(*safe_texts((name, printed, result)), safe_text(agrees.value, style=STYLES[agrees]))
        notes += [f"{name}: {note}"] * bool(note)
    console.print(table)
    for note in notes:
        print_note(console, note)
    if exhibit.open:
        print_note(console, f"open in the paper: {exhibit.open}")


# Reproduced papers as plain data: the output of ``ytheta reproduce --json``, also embedded in the pages.


def summarize_reproduction(reproduction: Reproduction) -> dict[str, Any]:
    """Return for each paper its exhibits by key: what the paper prints, the result of ytheta, whether they agree."""
    return {paper.paper: summarize_paper(paper) for paper in reproduction.papers}


def summarize_paper(paper: PaperReproduction) -> dict[str, Any]:
    """Return the exhibits of a paper by key."""
    data: dict[str, Any] = replace_nonfinite({exhibit.key: _summarize_exhibit(exhibit) for exhibit in paper.exhibits})
    return data


def _summarize_exhibit(exhibit: Exhibit) -> dict[str, Any]:
    return {
        "title": exhibit.title,
        "paper": {comparison.name: comparison.paper for comparison in exhibit.comparisons},
        "ytheta": {comparison.name: comparison.ytheta for comparison in exhibit.comparisons},
        "agrees": exhibit.agrees.value,
        "agrees_by_name": {comparison.name: comparison.agrees.value for comparison in exhibit.comparisons},
        "notes": {comparison.name: comparison.note for comparison in exhibit.comparisons if comparison.note},
        "open": exhibit.open,
    }


# The page of a reproduced paper: a self-contained HTML file with its tables and figures.


def write_paper_report(paper: PaperReproduction, path: str | Path) -> Path:
    """Write the page of a paper; the file is written atomically."""
    return write_page(path, lambda: paper_html(paper))


def paper_html(paper: PaperReproduction) -> str:
    """Return the page as text."""
    content = {
        "paper": paper,
        "counts": [(word, paper.count(agreement)) for agreement, word in AGREEMENT_WORDS.items()],
        "badges": {Agreement.YES: "good", Agreement.NO: "poor", Agreement.OPEN: "usable"},
        "summary": {paper.paper: summarize_paper(paper)},
    }
    return render_page("reproduction.html", content, (draw_plot, list_rows))


# Rows of the tables of reproduced papers, for terminal and page.


DIGITS = 6  # significant digits of a number
AGREEMENT_WORDS = {Agreement.YES: "agree", Agreement.NO: "disagree", Agreement.OPEN: "open"}


def list_rows(exhibit: Exhibit) -> Iterator[tuple[str, str, str, Agreement, str]]:
    """Yield name, printed value, result, agreement and note of each comparison."""
    for row in exhibit.comparisons:
        yield row.name, format_value(row.paper), format_value(row.ytheta), row.agrees, row.note


def format_value(value: Value) -> str:
    return format_plain(value, DIGITS) if isinstance(value, float) else str(value)


def describe_agreement(paper: PaperReproduction) -> str:
    """Return how many comparisons agree, disagree and are open."""
    return ", ".join(f"{paper.count(agreement)} {word}" for agreement, word in AGREEMENT_WORDS.items())


# Figures of reproduced papers.


def make_reproduction_figures(reproduction: Reproduction) -> dict[str, go.Figure]:
    """Return the figures of all pages, by paper and title."""
    return {
        f"{paper.paper}, {plot.title}": draw_plot(plot)
        for paper in reproduction.papers
        for exhibit in paper.exhibits
        for plot in exhibit.plots
    }
