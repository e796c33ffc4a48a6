"""Reproduced papers as table, as plain data and as a page."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.support.browser import Page, drawn_plots, open_page
from tests.support.made_up_paper import MADE_UP_PAPER, PLOT, WRONG_PAPER
from ytheta.report.line_plot import TWO_PLOTS_HEIGHT, draw_plot
from ytheta.report.plotly_figure import figure_to_json
from ytheta.report.reproduction.page import reproduction_html, write_reproduction_report
from ytheta.reproduction.reproduce import Reproduction


def test_the_table_has_every_comparison() -> None:
    text = str(Reproduction((MADE_UP_PAPER, WRONG_PAPER)))
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
    for line in (
        "doe1900: J. Doe, A paper, 1900",
        "Table I: lengths <of> links",
        "a1 0.25 0.2531 yes",
        "a2 12 12 yes",
        "settles in less than 1 s 0.5 s yes",
        "is faster yes 3.25 open",
        "is faster: the gain is not given",
        "open in the paper: the gain; 3 was chosen",
        "doe1900: 3 agree, 0 disagree, 1 open",
        "a3 0.25 0.2551 no",
        "roe1901: 1 agree, 1 disagree, 1 open",
    ):
        assert line in lines
    assert lines[-2:] == ["doe1900: 3 agree, 0 disagree, 1 open", "roe1901: 1 agree, 1 disagree, 1 open"]
    assert str(Reproduction((MADE_UP_PAPER,))).count("doe1900: 3 agree") == 1


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


def test_the_page_holds_tables_and_figures() -> None:
    page = reproduction_html(MADE_UP_PAPER)
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
    wrong = reproduction_html(WRONG_PAPER)
    assert wrong.count('<span class="seen poor">no</span>') == 3  # of the value, of the table, in the contents


def test_two_axes_below_each_other_get_more_height() -> None:
    from dataclasses import replace

    from ytheta.plots import Axis, AxisPosition

    one = draw_plot(PLOT).layout.height
    below = replace(PLOT, axes=(*PLOT.axes, Axis("y")))
    right = replace(PLOT, axes=(*PLOT.axes, Axis("y", place=AxisPosition.RIGHT)))
    assert draw_plot(below).layout.height == TWO_PLOTS_HEIGHT > one
    assert draw_plot(right).layout.height == one


def test_a_browser_shows_the_page(chromium: str, tmp_path: Path) -> None:
    path = write_reproduction_report(MADE_UP_PAPER, tmp_path / "page.html")
    dom, console = open_page(chromium, path)
    assert console == []
    assert drawn_plots(dom) == ["figure_2-1"]
    assert "lengths <of> links" in Page(dom).text
