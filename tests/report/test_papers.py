"""Reproduced papers as table, as plain data and as a page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.support.browser import EVIL, Page, drawn_plots, open_page
from tests.support.made_up_paper import MADE_UP_PAPER, PLOT, WRONG_PAPER
from tests.support.plot_data import only, plot_of
from ytheta.papers.exhibit import Exhibit, PaperReproduction, PrintedResult, State
from ytheta.papers.reproduce import Reproduction
from ytheta.plots import Axis, AxisPosition, Band, Line, Plot
from ytheta.report.figure import TWO_PLOTS_HEIGHT, draw_plot, figure_to_json
from ytheta.report.papers import paper_html, write_paper_report


def test_the_table_has_every_comparison() -> None:
    text = str(Reproduction((MADE_UP_PAPER, WRONG_PAPER)))
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
    for line in (
        "doe1900: J. Doe, A paper, 1900",
        "Table I: lengths <of> links",
        "a1 0.25 0.2531 agrees",
        "a2 12 12 agrees",
        "settles in less than 1 s 0.5 s agrees",
        "is faster yes 3.25 open",
        "is faster: the gain is not given",
        "open in the paper: the gain; 3 was chosen",
        "(4) 2 a a misprint",
        "(4): misprint, contradicted by (3), which has a. read twice",
        "doe1900: reproduced: 3 agree, 1 misprint, 1 open",
        "a3 0.25 0.2551 differs",
        "roe1901: NOT reproduced: 1 differs, 1 agrees, 1 open",
    ):
        assert line in lines
    assert lines[-3:] == [
        "doe1900: reproduced: 3 agree, 1 misprint, 1 open",
        "roe1901: NOT reproduced: 1 differs, 1 agrees, 1 open",
        "all: NOT reproduced: 1 differs, 4 agree, 1 misprint, 2 open",
    ]
    assert str(Reproduction((MADE_UP_PAPER,))).count("doe1900: reproduced") == 1


def test_plain_data_have_the_fixed_keys() -> None:
    data = Reproduction((MADE_UP_PAPER, WRONG_PAPER)).to_dict()
    assert json.loads(json.dumps(data)) == data
    assert list(data) == ["doe1900", "roe1901"]
    table = data["doe1900"]["table_1"]
    assert (table["paper"], table["ytheta"], table["agrees"]) == (
        {"a1": 0.25, "a2": 12},
        {"a1": 0.2531, "a2": 12},
        "yes",
    )
    assert data["doe1900"]["figure_2"]["agrees"] == "open"
    assert data["doe1900"]["figure_2"]["notes"] == {"is faster": "the gain is not given"}
    assert data["roe1901"]["table_3"]["agrees_by_name"]["a3"] == "no"
    assert data["roe1901"]["table_3"]["state_by_name"]["a3"] == data["roe1901"]["table_3"]["state"] == "differs"
    misprint = data["doe1900"]["equation_4"]
    assert (misprint["agrees"], misprint["state"]) == ("no", "misprint")
    assert misprint["contradictions"] == {"(4)": "(3), which has a"}
    assert table["state_by_name"] == {"a1": "agrees", "a2": "agrees"}
    assert table["contradictions"] == {}


def test_the_page_holds_tables_and_figures() -> None:
    page = paper_html(MADE_UP_PAPER)
    assert "This plot is loading. It needs JavaScript" in page
    (embedded,) = re.findall(r'<script type="application/json" id="ytheta">(.*?)</script>', page, re.DOTALL)
    assert json.loads(embedded) == Reproduction((MADE_UP_PAPER,)).to_dict()
    assert "lengths &lt;of&gt; links" in page
    assert 'id="figure_2-1"' in page
    assert figure_to_json(draw_plot(PLOT)) in page
    for text in (
        "A caption.",
        "0.2531",
        "Open in the paper: the gain; 3 was chosen",
        "<td>3.25<small>the gain is not given</small></td>",
        '<a href="#figure_2">Fig. 2: motion</a>',
    ):
        assert text in page
    assert page.count('<span class="seen poor">') == 0
    wrong = paper_html(WRONG_PAPER)
    assert wrong.count('<span class="seen poor">differs</span>') == 3  # of the value, of the table, in the contents


def test_two_axes_below_each_other_get_more_height() -> None:
    one = draw_plot(PLOT).layout.height
    below = replace(PLOT, axes=(*PLOT.axes, Axis("y")))
    right = replace(PLOT, axes=(*PLOT.axes, Axis("y", place=AxisPosition.RIGHT)))
    assert draw_plot(below).layout.height == TWO_PLOTS_HEIGHT > one
    assert draw_plot(right).layout.height == one


def make_evil_paper() -> PaperReproduction:
    """A paper with markup in every text, and a plot with two axes, a band and a mark."""
    t = np.linspace(0.0, 1.0, 11)
    plot = Plot(
        f"Fig. 1 {EVIL}",
        t,
        (Line(EVIL, 2.0 * t), Line("b", 3.0 * t, axis=1)),
        (Axis("V", log=True), Axis("q", "rad", place=AxisPosition.RIGHT)),
        caption=f"caption {EVIL}",
        bands=(Band("c", t, t + 1.0),),
        marks=(0.5,),
    )
    row = PrintedResult(f"name {EVIL}", f"printed {EVIL}", f"result {EVIL}", State.DIFFERS, f"note {EVIL}")
    exhibit = Exhibit("figure_1", f"title {EVIL}", (row,), (plot,), f"open {EVIL}")
    return PaperReproduction("doe1900", f"citation {EVIL}", f"about {EVIL}", (exhibit,))


def test_texts_are_escaped_and_plots_hold_their_data() -> None:
    paper = make_evil_paper()
    html = paper_html(paper)
    assert EVIL not in html
    page = Page(html)
    for word in ("name", "printed", "result", "note", "title", "open", "citation", "about", "Fig. 1", "caption"):
        assert f"{word} {EVIL}" in page.text
    np.testing.assert_allclose(only(plot_of(page, "figure_1-1"), "b"), paper["figure_1"].plots[0].lines[1].y, rtol=1e-6)
    assert json.loads(page.scripts["ytheta"])["doe1900"]["figure_1"]["open"] == f"open {EVIL}"
    assert len(html) < 3_000_000


def test_a_browser_shows_the_page(chromium: str, tmp_path: Path) -> None:
    path = write_paper_report(make_evil_paper(), tmp_path / "page.html")
    dom, console = open_page(chromium, path)
    assert console == []
    assert drawn_plots(dom) == ["figure_1-1"]
    assert EVIL in Page(dom).text
