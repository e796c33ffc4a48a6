"""Choice of papers, pages, and the value of ``reproduce``."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

import ytheta as yt
from tests.support.made_up_paper import MADE_UP_PAPER, WRONG_PAPER
from ytheta.papers import reproduce as module
from ytheta.papers.reproduce import PAPERS, Reproduction, list_page_paths, list_papers


def test_papers_are_chosen_by_name() -> None:
    assert list_papers("all") == PAPERS
    assert list_papers("ha1989") == ("ha1989",)
    with pytest.raises(yt.errors.UnknownNameError, match="did you mean 'ha1989'"):
        yt.reproduce("ha1998")


def test_each_paper_is_computed_once_and_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    papers = {"ytheta.papers.lu1993": MADE_UP_PAPER, "ytheta.papers.ha1989": WRONG_PAPER}
    monkeypatch.setattr(module, "PAPERS", ("lu1993", "ha1989"))
    monkeypatch.setattr(module, "import_module", lambda name: SimpleNamespace(reproduce=lambda: papers[name]))
    stages: list[str] = []
    reproduction = yt.reproduce(report_stage=stages.append)
    assert reproduction.papers == (MADE_UP_PAPER, WRONG_PAPER)
    assert stages == ["reproducing lu1993", "reproducing ha1989"]
    assert repr(reproduction) == "Reproduction(doe1900, roe1901: agrees 4, misprint 1, differs 1, open 2)"
    assert reproduction["roe1901"] is WRONG_PAPER
    with pytest.raises(KeyError):
        reproduction["ha1989"]


def test_a_difference_counts_and_misprints_and_open_comparisons_do_not() -> None:
    assert Reproduction((MADE_UP_PAPER,)).agrees
    assert not Reproduction((MADE_UP_PAPER, WRONG_PAPER)).agrees


def test_every_paper_has_a_page_of_its_own(tmp_path: Path) -> None:
    assert list_page_paths("a.html", ["x"]) == (Path("a.html"),)
    assert list_page_paths("{paper}.html", ["x", "y"]) == (Path("x.html"), Path("y.html"))
    with pytest.raises(yt.errors.InputError, match=r"write \{paper\} for its name"):
        list_page_paths("a.html", ["x", "y"])
    with pytest.raises(yt.errors.InputError, match=r"^q\{papr\}.html: \{papr\} means nothing here; write \{paper\}"):
        list_page_paths("q{papr}.html", ["x"])
    reproduction = Reproduction((MADE_UP_PAPER, WRONG_PAPER))
    pages = reproduction.report(tmp_path / "{paper}.html")
    assert [page.name for page in pages] == ["doe1900.html", "roe1901.html"]
    assert all(page.is_file() for page in pages)
    assert list(reproduction.figures()) == ["doe1900, Fig. 2: a line"]
