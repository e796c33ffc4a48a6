"""The statements of lu1993 V-B, Fig. 4 and 5, and the page; the paper is computed once."""

from __future__ import annotations

import re

import pytest

import ytheta as yt
from ytheta.papers.exhibit import PaperReproduction, State
from ytheta.report.figure import draw_plot, figure_to_json
from ytheta.report.papers import paper_html

YES, MISPRINT, NO, OPEN = State


@pytest.fixture(scope="module")
def paper() -> PaperReproduction:
    return yt.reproduce("lu1993")["lu1993"]


def find_numbers(paper: PaperReproduction, key: str, name: str) -> list[float]:
    (row,) = [row for row in paper[key].comparisons if row.name == name]
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", str(row.ytheta))]


def test_statements_and_page(paper: PaperReproduction) -> None:
    agreements = {
        key: {row.name: row.state for row in paper[key].comparisons} for key in ("figure_4", "figure_5", "section_5b")
    }
    figure = {"the tracking error settles": OPEN, "m4 is found, from 0.5 kg": YES}
    assert agreements == {
        "figure_4": figure,
        "figure_5": figure,
        "section_5b": {
            "modified finds m4 faster": OPEN,
            "modified needs no accelerations": YES,
            "modified tolerates a Γ far too large": OPEN,
            "modified is less sensitive near the best Γ": OPEN,
            "modified is less sensitive near the best λ": OPEN,
            "modified is cheaper to compute": YES,
        },
    }
    for key, seconds in (("figure_4", 0.30), ("figure_5", 0.35)):
        assert 0.25 < find_numbers(paper, key, "the tracking error settles")[0] < seconds
        assert find_numbers(paper, key, "m4 is found, from 0.5 kg")[0] == pytest.approx(1.0, abs=0.005)
    assert find_numbers(paper, "section_5b", "modified needs no accelerations")[-1] > 3.0
    diverged = find_numbers(paper, "section_5b", "modified tolerates a Γ far too large")
    assert diverged[0] == 0
    assert diverged[-1] > 100
    for parameter, expected in (("Γ", (3.1, 13, 4.2)), ("λ", (2.0, 5, 1.9))):
        good = find_numbers(paper, "section_5b", f"modified is less sensitive near the best {parameter}")
        assert good[:3] == pytest.approx(expected, abs=0.15)
    (remark,) = paper["remark_1"].comparisons
    assert remark.state is MISPRINT
    assert '"appears to be necessary"' in remark.note
    titles = [plot.title for exhibit in paper.exhibits for plot in exhibit.plots]
    for number, part in ((n, p) for n in "45" for p in "abc"):
        assert sum(title.startswith(f"Fig. {number}({part})") for title in titles) == 1
    page = paper_html(paper)
    for exhibit in paper.exhibits:
        for plot in exhibit.plots:
            assert figure_to_json(draw_plot(plot)) in page, plot.title


def test_the_faster_scheme_depends_on_settings_that_are_not_given(paper: PaperReproduction) -> None:
    """By every measure each scheme is faster in many settings, and another Psi changes the balance."""
    exhibit = paper["section_5b_settings"]
    assert exhibit.title.endswith("in 100 settings")
    assert {row.state for row in exhibit.comparisons} == {OPEN}
    names = [row.name for row in exhibit.comparisons if "best Γ" in row.name]
    assert len(names) == 5
    counts = [find_numbers(paper, exhibit.key, name) for name in names]
    for modified, craig, equal, neither, total in counts:
        assert modified + craig + equal + neither == total == 100
        assert modified >= 5
        assert craig >= 40
    assert counts[0][1] > 2 * counts[0][0]
    assert counts[3][1] < 1.3 * counts[3][0]  # Psi = 1.5 lambda
