"""Reproduced papers for a terminal, as the output of ``ytheta reproduce --json``, and as pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ytheta.papers.exhibit import State
from ytheta.report.figure import draw_plot
from ytheta.report.html_page import render_page, write_page
from ytheta.report.numbers import format_plain, replace_nonfinite
from ytheta.report.terminal import make_table, print_note, safe_text, safe_texts

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from rich.console import Console

    from ytheta.papers.exhibit import Exhibit, PaperReproduction, Value
    from ytheta.papers.reproduce import Reproduction

STYLES = {State.AGREES: "green", State.MISPRINT: "cyan", State.DIFFERS: "bold red", State.OPEN: "yellow"}


def print_reproduction(console: Console, reproduction: Reproduction) -> None:
    """Print the exhibits of every paper, and how many comparisons have each state."""
    for paper in reproduction.papers:
        print_paper(console, paper)
    if len(reproduction.papers) > 1:
        for paper in reproduction.papers:
            console.print(safe_text(describe_states(paper.paper, paper)))
        console.print(safe_text(describe_states("all", reproduction)))


def print_paper(console: Console, paper: PaperReproduction) -> None:
    """Print the exhibits of a paper."""
    console.print(safe_text(f"{paper.paper}: {paper.citation}", style="bold"))
    console.print(safe_text(paper.about))
    for exhibit in paper.exhibits:
        _print_exhibit(console, exhibit)
    console.print(safe_text(describe_states(paper.paper, paper)))
    console.print()


def _print_exhibit(console: Console, exhibit: Exhibit) -> None:
    console.print()
    console.print(safe_text(exhibit.title, style="bold"))
    table = make_table("", "paper", "ytheta", "state")
    notes = []
    for name, printed, result, state, note in list_rows(exhibit):
        table.add_row(*safe_texts((name, printed, result)), safe_text(state.value, style=STYLES[state]))
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
        "agrees": exhibit.state.agrees,
        "agrees_by_name": {comparison.name: comparison.state.agrees for comparison in exhibit.comparisons},
        "state": exhibit.state.value,
        "state_by_name": {comparison.name: comparison.state.value for comparison in exhibit.comparisons},
        "contradictions": {row.name: row.contradiction for row in exhibit.comparisons if row.contradiction},
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
        "counts": [(words[1], paper.count(state)) for state, words in STATE_WORDS.items()],
        "badges": {
            State.AGREES: "good",
            State.MISPRINT: "usable",
            State.DIFFERS: "poor",
            State.OPEN: "usable",
        },
        "sentence": describe_states(paper.paper, paper),
        "summary": {paper.paper: summarize_paper(paper)},
    }
    return render_page("reproduction.html", content, (draw_plot, list_rows))


# Rows of the tables of reproduced papers, for terminal and page.


DIGITS = 6  # significant digits of a number
# One comparison, and several; the order is that of the summary.
STATE_WORDS = {
    State.DIFFERS: ("differs", "differ"),
    State.AGREES: ("agrees", "agree"),
    State.MISPRINT: ("misprint", "misprints"),
    State.OPEN: ("open", "open"),
}


def list_rows(exhibit: Exhibit) -> Iterator[tuple[str, str, str, State, str]]:
    """Yield name, printed value, result, state and note of each comparison."""
    for row in exhibit.comparisons:
        contradiction = f"misprint, contradicted by {row.contradiction}" if row.contradiction else ""
        note = ". ".join(filter(None, (contradiction, row.note)))
        yield row.name, format_value(row.paper), format_value(row.ytheta), row.state, note


def format_value(value: Value) -> str:
    return format_plain(value, DIGITS) if isinstance(value, float) else str(value)


def describe_states(name: str, reproduction: PaperReproduction | Reproduction) -> str:
    """Return whether the papers are reproduced, and how many comparisons have each state; "differ" only if some do."""
    counts = {state: reproduction.count(state) for state in STATE_WORDS}
    texts = [f"{count} {STATE_WORDS[state][count != 1]}" for state, count in counts.items() if count]
    verdict = "NOT reproduced" if counts[State.DIFFERS] else "reproduced"
    return f"{name}: {verdict}: {', '.join(texts)}"


# Figures of reproduced papers.


def make_reproduction_figures(reproduction: Reproduction) -> dict[str, go.Figure]:
    """Return the figures of all pages, by paper and title."""
    return {
        f"{paper.paper}, {plot.title}": draw_plot(plot)
        for paper in reproduction.papers
        for exhibit in paper.exhibits
        for plot in exhibit.plots
    }
