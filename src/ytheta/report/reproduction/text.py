"""Reproduced papers for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from ytheta.report.reproduction.tables import describe_agreement, list_rows
from ytheta.report.terminal import print_note, safe_text, safe_texts
from ytheta.reproduction.exhibit import Agreement

if TYPE_CHECKING:
    from ytheta.reproduction.exhibit import Exhibit, PaperReproduction
    from ytheta.reproduction.reproduce import Reproduction

STYLES = {Agreement.YES: "green", Agreement.NO: "bold red", Agreement.OPEN: "yellow"}


def print_reproduction(console: Console, reproduction: Reproduction) -> None:
    """Print the exhibits of every paper, and the number of comparisons that agree, disagree and are open."""
    for paper in reproduction.papers:
        _print_paper(console, paper)
    if len(reproduction.papers) > 1:
        for paper in reproduction.papers:
            console.print(safe_text(f"{paper.paper}: {describe_agreement(paper)}"))


def _print_paper(console: Console, paper: PaperReproduction) -> None:
    console.print(safe_text(f"{paper.paper}: {paper.citation}", style="bold"))
    console.print(safe_text(paper.about))
    for exhibit in paper.exhibits:
        _print_exhibit(console, exhibit)
    console.print(safe_text(f"{paper.paper}: {describe_agreement(paper)}"))
    console.print()


def _print_exhibit(console: Console, exhibit: Exhibit) -> None:
    console.print()
    console.print(safe_text(exhibit.title, style="bold"))
    table = Table("", "paper", "ytheta", "agrees", box=box.SIMPLE_HEAD, pad_edge=False)
    notes = []
    for name, printed, result, agrees, note in list_rows(exhibit):
        table.add_row(*safe_texts((name, printed, result)), safe_text(agrees.value, style=STYLES[agrees]))
        notes += [f"{name}: {note}"] * bool(note)
    console.print(table)
    for note in notes:
        print_note(console, note)
    if exhibit.open:
        print_note(console, f"open in the paper: {exhibit.open}")
