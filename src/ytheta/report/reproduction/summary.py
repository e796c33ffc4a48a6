"""Reproduced papers as plain data: the output of ``ytheta reproduce --json``, also embedded in the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ytheta.report.numbers import replace_nonfinite

if TYPE_CHECKING:
    from ytheta.reproduction.exhibit import Exhibit, PaperReproduction
    from ytheta.reproduction.reproduce import Reproduction


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
