"""``ytheta reproduce PAPER``: the tables and figures of a paper, compared with their print."""

from __future__ import annotations

from typing import Annotated

import typer

import ytheta as yt
from ytheta.cli.completion import PAPERS, complete_from
from ytheta.cli.log_options import show_progress
from ytheta.cli.options import AsJson, print_note, print_value
from ytheta.cli.outputs import PAGE_SUFFIXES, Force, check_output, check_report

Paper = Annotated[
    str,
    typer.Argument(
        metavar="PAPER",
        help="lu1993, ha1989, walker1988, lin1995, fernandez2000, or all.",
        autocompletion=complete_from(*PAPERS),
    ),
]
Report = Annotated[
    str | None,
    typer.Option(metavar="HTML", help="Write a page with tables and figures; for all papers a name like {paper}.html."),
]


def reproduce(paper: Paper = "all", report: Report = None, force: Force = False, as_json: AsJson = False) -> None:
    """Compute the tables and figures of a paper again, and compare them with what it prints.

    The exit code is 1 if a result differs from the print. It is 0 for misprints, which the paper contradicts, and
    for results that depend on settings that the paper does not give.

    Example: `ytheta reproduce lin1995 --report lin1995.html`
    """
    _check_pages(paper, report, force=force)
    with show_progress() as report_stage:
        reproduction = yt.reproduce(paper, report_stage=report_stage)
    if report is not None:
        for path in reproduction.report(report):
            print_note(f"wrote {path}")
    print_value(reproduction, as_json=as_json)
    if not reproduction.agrees:
        raise typer.Exit(1)


def _check_pages(paper: str, report: str | None, *, force: bool) -> None:
    """Raise InputError if there is no such paper, or if a page cannot be written."""
    from ytheta.papers.reproduce import list_page_paths, list_papers

    papers = list_papers(paper)
    if report is not None:
        for path in list_page_paths(report, papers):
            check_output(str(path), PAGE_SUFFIXES, (), force=force)
        check_report(report)
