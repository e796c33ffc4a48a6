"""``reproduce``: compute the tables and figures of the papers, and compare them with their print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ytheta.arguments import check_kind
from ytheta.display import Displayed, find_view
from ytheta.errors import InputError, UnknownNameError, suggest_names
from ytheta.files.atomic import refuse_unknown_fields
from ytheta.papers.exhibit import PaperReproduction, State

if TYPE_CHECKING:
    import plotly.graph_objects as go

PAPERS = ("lu1993", "ha1989", "walker1988", "lin1995", "fernandez2000")
ALL = "all"
PAPER_FIELD = "{paper}"  # placeholder in the name of a page; it is replaced by the name of the paper


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Displayed):
    """The exhibits of one or several papers, compared with their print.

    Attributes
    ----------
    papers
        The papers, in the order in which they were requested.
    """

    papers: tuple[PaperReproduction, ...]

    def __getitem__(self, paper: str) -> PaperReproduction:
        """Return the reproduction of the paper with this name."""
        for reproduction in self.papers:
            if reproduction.paper == paper:
                return reproduction
        raise KeyError(paper)

    @property
    def agrees(self) -> bool:
        """Whether nothing differs; misprints and what the papers leave open do not count."""
        return all(paper.is_reproduced for paper in self.papers)

    def count(self, state: State) -> int:
        """Return the number of comparisons with this state, over all papers."""
        return sum(paper.count(state) for paper in self.papers)

    def figures(self) -> dict[str, go.Figure]:
        """Return the Plotly figures of the pages by name; needs the extra ``report``."""
        return find_view(self).make_figures(self)

    def report(self, path: str | Path) -> tuple[Path, ...]:
        """Write one self-contained HTML page per paper; return the paths. Needs the extra ``report``.

        If there are several papers, the name must contain ``{paper}``, as ``"report/{paper}.html"`` does.
        """
        paths = list_page_paths(path, [paper.paper for paper in self.papers])
        return tuple(find_view(paper).write_page(paper, page) for paper, page in zip(self.papers, paths, strict=True))

    def __repr__(self) -> str:
        papers = ", ".join(paper.paper for paper in self.papers)
        counts = ", ".join(f"{state.value} {self.count(state)}" for state in State)
        return f"Reproduction({papers}: {counts})"


def reproduce(paper: str = ALL, *, report_stage: Callable[[str], None] | None = None) -> Reproduction:
    """Compute the tables and figures of a paper, or of all papers, and compare them with their print.

    Parameters
    ----------
    paper
        lu1993, ha1989, walker1988, lin1995, fernandez2000, or all.
    report_stage
        Called with the name of each paper when its work starts; None reports nothing.
    """
    names = list_papers(paper)
    reproductions: list[PaperReproduction] = []
    for name in names:
        if report_stage is not None:
            report_stage(f"reproducing {name}")
        reproductions.append(import_module(f"ytheta.papers.{name}").reproduce())
    return Reproduction(tuple(reproductions))


def list_papers(paper: str) -> tuple[str, ...]:
    """Return the names of the requested papers; raise UnknownNameError if there is no such paper."""
    check_kind("paper", paper, str, f"the name of a paper, such as {PAPERS[0]!r}")
    if paper == ALL:
        return PAPERS
    if paper not in PAPERS:
        raise UnknownNameError(f"there is no paper {paper!r}{suggest_names(paper, (*PAPERS, ALL))}")
    return (paper,)


def list_page_paths(path: str | Path, papers: Sequence[str]) -> tuple[Path, ...]:
    """Return the path of each paper's page; raise InputError if several papers would have the same page, or if
    the name contains another placeholder."""
    check_kind("path", path, (str, Path), "the name of a file, such as 'lu1993.html'")
    refuse_unknown_fields(path, PAPER_FIELD, "the name of the paper")
    if len(papers) > 1 and PAPER_FIELD not in str(path):
        raise InputError(
            f"{path}: each paper has a page of its own; write {PAPER_FIELD} for its name, such as '{PAPER_FIELD}.html'"
        )
    return tuple(Path(str(path).replace(PAPER_FIELD, paper)) for paper in papers)
