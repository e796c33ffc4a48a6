"""Rows of the tables of reproduced papers, for terminal and page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ytheta.report.numbers import format_plain
from ytheta.reproduction.exhibit import Agreement

if TYPE_CHECKING:
    from ytheta.reproduction.exhibit import Exhibit, PaperReproduction, Value

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
