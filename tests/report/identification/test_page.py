"""The report: what stands in it, that it needs nothing else, and that a browser shows it."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.browser import EVIL, LOADS, Page, open_page, remove_policy
from ytheta.errors import InputError, MissingExtraError
from ytheta.identification.model_choice import NO_CHOICE
from ytheta.identification.result import Identification
from ytheta.report.identification import summarize_identification
from ytheta.report.identification_page import identification_html, list_standard_rows, write_identification_report
from ytheta.report.identification_statistics import list_alternatives, list_explanations
from ytheta.report.numbers import (
    format_percent,
)


def test_every_base_parameter_has_one_row(identification: Identification, page: Page) -> None:
    assert Counter(page.parameters) == Counter(identification.names)
    assert any(EVIL in name for name in page.parameters)
    for expression in identification.base.expressions:
        assert expression in page.text


def test_names_are_escaped(html: str) -> None:
    assert EVIL not in html
    assert "<script>alert" not in html.replace("\n", "")


def test_nothing_is_loaded(page: Page) -> None:
    loads = [value for _, given in page.tags for key in LOADS if (value := given.get(key)) is not None]
    assert loads == ["data:,"]  # no icon
    assert "http" not in page.styles
    assert "url(" not in page.styles
    assert "@import" not in page.styles
    assert not {"iframe", "object", "embed", "base"} & {tag for tag, _ in page.tags}


def test_sentences_of_the_page(identification: Identification, page: Page) -> None:
    for text in (
        identification.verdict.sentence,
        *identification.base.robot.actuated,
        *(f.text for f in identification.findings),
    ):
        assert text in page.text
    assert identification.validation is not None
    for errors in (identification.fit, identification.validation):
        assert format_percent(errors.relative_percent) in page.text
    assert f"ytheta {ytheta.__version__}" in page.text
    assert "validated on other.csv" in page.text


def test_choice_and_bodies_are_on_the_page(identification: Identification, page: Page) -> None:
    for text in list_explanations(identification):
        assert text[1:] in page.text
    for name, *_ in list_alternatives(identification):
        assert name in page.text
    assert identification.standard is not None
    rows = list(list_standard_rows(identification))
    assert [row["name"] for row in rows] == list(identification.standard.names)
    theta = dict(zip(identification.robot.parameter_names, identification.theta.tolist(), strict=True))
    for row in rows:
        assert row["cells"][3][1] == theta[row["name"]]
        assert row["cells"][3][0] in page.text
    without = Page(identification_html(replace(identification, choice=NO_CHOICE)))
    assert "chosen by the data (log" not in without.text.lower()


def test_embedded_json(identification: Identification, page: Page) -> None:
    data = json.loads(page.scripts["ytheta"])
    assert data == json.loads(json.dumps(summarize_identification(identification), allow_nan=False))
    assert data["base_count"] == len(identification.base) == len(data["parameters"])
    assert data["verdict"] == identification.verdict.grade.value
    assert [each["name"] for each in data["parameters"]] == list(identification.names)
    assert data["fit"]["relative_error_percent"] == pytest.approx(identification.fit.relative_percent)


def test_unseen_parameters_and_no_validation(identification: Identification) -> None:
    unseen = np.zeros((len(identification.base), 1))
    unseen[0] = 1.0
    blind = replace(
        identification, estimate=replace(identification.estimate, unidentified=unseen), validation=None, findings=()
    )
    page = Page(identification_html(blind))
    data = json.loads(page.scripts["ytheta"])
    assert data["parameters"][0]["std"] is None
    assert data["validation"] is None
    assert data["verdict"] == "not exciting"
    for text in ("∞", "not seen", "not exciting", "no validation log was given", "No findings."):
        assert text in page.text


def test_the_file_is_written_as_a_whole_or_not_at_all(identification: Identification, tmp_path: Path) -> None:
    path = write_identification_report(identification, tmp_path / "arm.html")
    assert [each.name for each in tmp_path.iterdir()] == ["arm.html"]
    assert path.stat().st_size < 3_000_000
    with pytest.raises(InputError, match="cannot be written"):
        write_identification_report(identification, tmp_path / "nowhere" / "arm.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        write_identification_report(identification, tmp_path / "folder.html")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["arm.html", "folder.html"]


@pytest.mark.parametrize("library", ["jinja2", "plotly.offline"])
def test_missing_extra(
    library: str, identification: Identification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'ytheta[report]'")):
        write_identification_report(identification, tmp_path / "arm.html")


# --- in a real browser


def test_a_browser_draws_the_plots(chromium: str, identification: Identification, tmp_path: Path) -> None:
    dom, console = open_page(chromium, write_identification_report(identification, tmp_path / "arm.html"))
    assert console == []
    shown = Page(dom)
    plots = [given for _, given in shown.tags if "js-plotly-plot" in (given.get("class") or "")]
    kinds = ("torque", "residual", "motion", "values", "origin")
    expected = [f"{kind}-{k}" for kind, count in zip(kinds, (2, 2, 2, 2, 1), strict=True) for k in range(1, count + 1)]
    assert [given["id"] for given in plots] == [*expected, "correlation"]
    lines = [given for tag, given in shown.tags if tag == "path" and given.get("class") == "js-line"]
    assert len(lines) == 5 * 2 * 2 + 2 * 2  # of two joints, broken at the gap; and of their residuals
    assert len([given for tag, given in shown.tags if tag == "ellipse"]) == 2 * 3  # of links and load, before and after
    assert "needs JavaScript" not in shown.text


def test_a_click_sorts_a_table(chromium: str, identification: Identification, html: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.html"
    click = "document.querySelector('#parameters th:nth-child(3)').click();</script>"
    path.write_text(re.sub(r"plots\(\);\s*</script>", click, remove_policy(html)), encoding="utf-8")
    dom, console = open_page(chromium, path)
    assert console == []
    assert Page(dom).parameters == [identification.names[k] for k in np.argsort(identification.beta)]


def test_script_errors_are_noticed(chromium: str, html: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.html"
    path.write_text(re.sub(r"plots\(\);\s*</script>", "missing();</script>", remove_policy(html)), encoding="utf-8")
    dom, console = open_page(chromium, path)
    assert any("missing is not defined" in line for line in console)
    assert "needs JavaScript" in Page(dom).text
