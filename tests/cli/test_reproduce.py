"""The command ``ytheta reproduce``: what it prints, its pages, its exit code, wrong usage."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.command import refused, ytheta
from tests.support.made_up_paper import MADE_UP_PAPER, WRONG_PAPER
from ytheta.papers import reproduce as module

PAPERS = {"ytheta.papers.lu1993": MADE_UP_PAPER, "ytheta.papers.ha1989": WRONG_PAPER}


@pytest.fixture(autouse=True)
def _use_two_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAPERS", ("lu1993", "ha1989"))
    monkeypatch.setattr(module, "import_module", lambda name: SimpleNamespace(reproduce=lambda: PAPERS[name]))


@pytest.mark.parametrize(("arguments", "code"), [(["lu1993"], 0), (["ha1989"], 1), (["all"], 1), ([], 1)])
def test_the_exit_code_is_one_if_something_disagrees(arguments: list[str], code: int) -> None:
    result = ytheta("reproduce", *arguments)
    assert result.returncode == code
    assert ("a3" in result.stdout) == bool(code)


def test_json_and_pages(tmp_path: Path) -> None:
    result = ytheta("reproduce", "lu1993", "--json", "--report", "{paper}.html", cwd=tmp_path)
    assert result.returncode == 0
    assert json.loads(result.stdout)["doe1900"]["table_1"]["agrees"] == "yes"
    assert result.stderr == "note: wrote doe1900.html\n"
    assert (tmp_path / "doe1900.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["lu1939"], "there is no paper 'lu1939'; did you mean 'lu1993'?"),
        (["all", "--report", "page.html"], "write {paper} for its name"),
        (["lu1993", "--report", "page.txt"], "must have the extension .html or .htm"),
        (["lu1993", "--report", "no/such/folder/page.html"], "cannot be written"),
    ],
)
def test_wrong_usage_is_one_sentence(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    assert sentence in refused("reproduce", *arguments, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []
