"""What is shown of a simulation: page, text and JSON; and plots of lines and pages of statistics by themselves."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.browser import EVIL, LOADS, Page, drawn_plots, open_page
from tests.support.simulate_cases import PUMA
from ytheta.errors import InputError, MissingExtraError
from ytheta.report.figure import COLOURS, FAINT_COLOUR
from ytheta.report.simulation import SimulationStatistics, summarize_simulation
from ytheta.report.simulation_page import simulation_html, write_simulation_report
from ytheta.simulation.result import Simulation


class Tables(HTMLParser):
    """The cells of every table by its id: text, and the number to sort by."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: dict[str, list[list[tuple[str, str | None]]]] = {}
        self._table = ""
        self._cell: str | None = None
        self._sort: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table":
            self._table = given.get("id") or ""
            self.rows[self._table] = []
        elif tag == "tr":
            self.rows[self._table].append([])
        elif tag in ("th", "td"):
            self._cell, self._sort = "", given.get("data-sort")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td") and self._cell is not None:
            self.rows[self._table][-1].append((self._cell.strip(), self._sort))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell += data


def parsed(text: str) -> float:
    """A number as the page writes it."""
    plainer = text.replace("\u202f", "").replace("−", "-").removesuffix("%").strip()
    mantissa, _, power = plainer.partition("·10")
    exponent = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(mantissa) * 10.0 ** int(exponent or 0)


def test_names_are_escaped_and_nothing_is_loaded(simulation: Simulation, page: Page) -> None:
    html = simulation_html(simulation, reference_note=EVIL)
    assert EVIL not in html
    assert EVIL in Page(html).text
    assert f"{EVIL} arm" in page.text
    loads = [value for _, given in page.tags for key in LOADS if (value := given.get(key)) is not None]
    assert loads == ["data:,"]
    for word in ("http", "url(", "@import"):
        assert word not in page.styles
    assert not {"iframe", "object", "embed", "base"} & {tag for tag, _ in page.tags}


def test_the_page_holds_the_json(simulation: Simulation, page: Page) -> None:
    assert json.loads(page.scripts["ytheta"]) == summarize_simulation(simulation)
    assert SimulationStatistics(simulation).headline in page.text
    assert f"ytheta {ytheta.__version__}" in page.text


def test_tables_parse_back(batch: Simulation) -> None:
    rows = Tables(simulation_html(batch)).rows
    statistics = SimulationStatistics(batch)
    columns = np.stack([statistics.tracking, statistics.last_tracking, statistics.largest_torque], axis=1)
    assert [row[0][0] for row in rows["joints"][1:]] == list(PUMA.actuated)
    for row, own in zip(rows["joints"][1:], columns, strict=True):
        assert [parsed(text) for text, _ in row[1:4]] == pytest.approx(own, rel=6e-3)  # three digits
        assert [float(sort or "") for _, sort in row[1:4]] == pytest.approx(own, rel=1e-12)
    run = statistics.shown
    assert [row[0][0] for row in rows["parameters"][1:]] == list(batch.unknown_names)
    for k, row in enumerate(rows["parameters"][1:]):
        own = (batch.truth[run, k], batch.initial_estimate[run, k], batch.estimate[run, k])
        assert [parsed(text) for text, _ in row[1:4]] == pytest.approx(own, rel=6e-4)  # four digits
        assert parsed(row[4][0]) == pytest.approx(100.0 * (own[2] - own[0]) / own[0], rel=6e-3)
    for row, values in zip(rows["quantiles"][1:], statistics.quantiles.values(), strict=True):
        scale = 100.0 if row[1][0].endswith("%") else 1.0
        assert [parsed(text) / scale for text, _ in row[1:]] == pytest.approx(values, rel=6e-3)
    assert len(rows["quantiles"]) == 5


def test_the_file_is_written_as_a_whole_or_not_at_all(simulation: Simulation, tmp_path: Path) -> None:
    path = write_simulation_report(simulation, tmp_path / "arm.html")
    assert [each.name for each in tmp_path.iterdir()] == ["arm.html"]
    assert path.stat().st_size < 3_000_000
    with pytest.raises(InputError, match="cannot be written"):
        write_simulation_report(simulation, tmp_path / "nowhere" / "arm.html")


def test_missing_extra(simulation: Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'ytheta[report]'")):
        write_simulation_report(simulation, tmp_path / "nowhere" / "arm.html")  # before anything else is checked


def test_a_browser_shows_one_run(chromium: str, simulation: Simulation, tmp_path: Path) -> None:
    dom, console = open_page(chromium, write_simulation_report(simulation, tmp_path / "arm.html"))
    assert console == []
    assert drawn_plots(dom) == ["tracking-1", "tracking-2", "torque-1", "torque-2", "parameter-1", "lyapunov"]
    assert "needs JavaScript" not in Page(dom).text
    strokes = [given.get("style") or "" for tag, given in Page(dom).tags if given.get("class") == "js-line"]
    assert len(strokes) == 3 * 2 + 1 + 2 + 1 + 2 + 1  # tracking, torques with the limits of one, estimate and truth, V
    assert all(
        any(f"stroke: {colour}" in style for colour in (*COLOURS, FAINT_COLOUR)) for style in strokes
    )  # as the CSS asks


def test_a_browser_shows_many_runs(chromium: str, batch: Simulation, tmp_path: Path) -> None:
    path = write_simulation_report(batch, tmp_path / "arm.html")
    dom, console = open_page(chromium, path)
    assert console == []
    assert drawn_plots(dom)[:4] == ["tracking-histogram", "parameter-histogram", "tracking-error", "parameter-error"]
    assert len(drawn_plots(dom)) == 4 + 4 + 4 + 2 + 1
    html = path.read_text(encoding="utf-8").replace('data-plot="torque-1">{', 'data-plot="torque-1">{{')
    path.write_text(html, encoding="utf-8")
    dom, console = open_page(chromium, path)
    assert any("JSON" in line for line in console)  # a plot that is none is heard of
    assert len(drawn_plots(dom)) == 8
