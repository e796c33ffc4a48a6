"""The report: what stands in it, that it needs nothing else, and that a browser shows it."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import tomllib
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

import ytheta
from tests.support.browser import EVIL, LOADS, Page, _opened
from tests.support.paths import ROOT
from ytheta.errors import InputError, MissingExtraError
from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.excitation import Certainty
from ytheta.identification.identify import identify
from ytheta.identification.model_file import model_toml
from ytheta.identification.result import Identification
from ytheta.logs.finding_codes import LogFindingCode
from ytheta.logs.log import Log
from ytheta.report.terminal import Column, Fitted, fitted
from ytheta.report.identification.page import report_html, write_report
from ytheta.report.identification.plots import shown_time
from ytheta.report.identification.figures import weaknesses
from ytheta.report.identification.summary import summary
from ytheta.report.identification.text import identification_text
from ytheta.report.numbers import digits_beside, figure, percent, plain, share, unit, with_std
from ytheta.robot.robot import Robot

NOISE = 0.05  # N m


def _log(robot: Robot, seed: int, source: str) -> Log:
    """Twenty seconds of a Fourier series, with a gap in it."""
    rng = np.random.default_rng(seed)
    t = np.arange(4000) / 200.0
    q, qd, qdd = (np.zeros((len(t), len(robot.actuated))) for _ in range(3))
    for harmonic in range(1, 6):
        w = 0.2 * np.pi * harmonic
        a, b = rng.normal(size=(2, len(robot.actuated))) / harmonic
        sin, cos = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        q += a * sin + b * cos
        qd += w * (a * cos - b * sin)
        qdd -= w**2 * (a * sin + b * cos)
    tau = ytheta.inverse_dynamics(robot)(q, qd, qdd) + NOISE * rng.normal(size=q.shape)
    return Log(robot.actuated, t, q, tau, qd, segments=((0, 1800), (1900, 4000)), source=source)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Identification:
    """A two-link arm whose second link has a wicked name."""
    text = (ROOT / "src" / "ytheta" / "robot" / "catalog" / "lu-two-link.toml").read_text(encoding="utf-8")
    path = tmp_path_factory.mktemp("robot") / "arm.toml"
    path.write_text(text.replace('"link2"', f'"{EVIL}"'), encoding="utf-8")
    robot = ytheta.load(str(path))
    assert EVIL in {link.name for link in robot.links}
    result = identify(robot, _log(robot, 1, f"{EVIL}.csv"), validate=_log(robot, 2, "other.csv"), friction=())
    gap = Finding("gap", Severity.REPAIRED, f"a gap of 0.5 s in {EVIL}; the log was cut there")
    return replace(result, findings=(*result.findings, gap))


@pytest.fixture(scope="module")
def html(found: Identification) -> str:
    return report_html(found)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_every_base_parameter_has_one_row(found: Identification, page: Page) -> None:
    assert Counter(page.parameters) == Counter(found.names)
    assert any(EVIL in name for name in page.parameters)
    for expression in found.base.expressions:
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


def test_what_is_said(found: Identification, page: Page) -> None:
    for text in (found.verdict.sentence, *found.base.robot.actuated, *(f.text for f in found.findings)):
        assert text in page.text
    assert found.validation is not None
    for errors in (found.fit, found.validation):
        assert percent(errors.relative_percent) in page.text
    assert f"ytheta {ytheta.__version__}" in page.text
    assert "judged by other.csv" in page.text


def test_figures_for_programs(found: Identification, page: Page) -> None:
    data = json.loads(page.scripts["ytheta"])
    assert data == json.loads(json.dumps(summary(found), allow_nan=False))
    assert data["base_count"] == len(found.base) == len(data["parameters"])
    assert data["verdict"] == found.verdict.grade.value
    assert [each["name"] for each in data["parameters"]] == list(found.names)
    assert data["fit"]["relative_error_percent"] == pytest.approx(found.fit.relative_percent)


def test_plots_hold_the_trace(found: Identification, page: Page) -> None:
    for j in range(len(found.base.robot.actuated)):
        figures = json.loads(page.scripts[f"torque-{j + 1}"])
        assert [line["name"] for line in figures["data"]] == ["raw", "measured", "predicted", "residual"]
    assert "zmin" in json.loads(page.scripts["correlation"])["data"][0]


def test_what_is_not_seen_or_not_there(found: Identification) -> None:
    unseen = np.zeros((len(found.base), 1))
    unseen[0] = 1.0
    blind = replace(found, estimate=replace(found.estimate, unseen=unseen), validation=None, findings=())
    page = Page(report_html(blind))
    data = json.loads(page.scripts["ytheta"])
    assert data["parameters"][0]["std"] is None
    assert data["validation"] is None
    assert data["verdict"] == "not exciting"
    for text in ("∞", "not seen", "not exciting", "no validation log was given", "Nothing."):
        assert text in page.text


def test_the_file_appears_whole_or_not_at_all(found: Identification, tmp_path: Path) -> None:
    path = write_report(found, tmp_path / "arm.html")
    assert [each.name for each in tmp_path.iterdir()] == ["arm.html"]
    assert path.stat().st_size < 3_000_000
    with pytest.raises(InputError, match="cannot be written"):
        write_report(found, tmp_path / "nowhere" / "arm.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        write_report(found, tmp_path / "folder")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["arm.html", "folder"]


@pytest.mark.parametrize("library", ["jinja2", "plotly.offline"])
def test_missing_extra(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, "ytheta.report.identification.page")
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'ytheta[report]'")):
        import_module("ytheta.report.identification.page")


def test_numbers() -> None:
    assert [figure(x) for x in (0.0123, 9.999, -0.5, 0.0, 4.5e-7)] == ["0.0123", "10.0", "−0.500", "0", "4.50·10⁻⁷"]
    assert figure(12345.0) == "12\u202f300"
    assert [figure(x) for x in (np.inf, np.nan)] == ["∞", "–"]
    assert with_std(1.23456, 0.0123) == "1.235"
    assert [with_std(-0.001, 0.3), with_std(-312.0, 3e4)] == ["−0.0010", "−310"]  # two digits, however unsure
    assert with_std(5.0, np.inf) == "5.00"
    assert [unit(name, {"rail"}) for name in ("a.m", "a.my", "a.Ixy", "rail.fc", "elbow.Ia", "spring.k")] == [
        "kg",
        "kg m",
        "kg m²",
        "N",
        "kg m²",
        "",
    ]


def test_numbers_for_a_terminal() -> None:
    assert [plain(x) for x in (0.0123, 123.4, 12345.0, 0.0, 4.5e-7, np.inf)] == [
        "0.0123",
        "123",
        "12300",
        "0",
        "4.5e-07",
        "∞",
    ]
    assert [plain(4.65, 4, zeros=True), plain(300.0, 2, zeros=True)] == ["4.650", "300"]
    assert [share(x) for x in (0.5, 180.0, 1e5, np.inf)] == ["0.5", "180", "> 999", "∞"]  # infinite: not seen


def lines(table: Fitted) -> list[str]:
    out = Console(file=io.StringIO(), width=200)
    out.print(table.table, crop=False)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


def test_tables_fit() -> None:
    numbers = [Text("0.12345"), Text("-6789.0")]
    columns = [
        Column("name", [Text("left_shoulder_pan_joint"), Text("right_shoulder_pan_joint")], words=True),
        Column("value", numbers),
        Column("of variation %", numbers, short="var. %", spare=2),
        Column("raw", numbers, spare=1),
    ]
    for room in range(20, 90):
        table = fitted(columns, room)
        shown = lines(table)
        assert max(map(len, shown)) == table.width
        assert table.width <= max(room, 25)  # less cannot be had
        assert shown[-2].count("-6789.0") == 3 - len(table.left_out)  # no number is ever cut
        assert ("…" in "".join(shown)) == (table.width < 35)
    assert fitted(columns, 80).left_out == ()
    assert fitted(columns, 50).left_out == ("of variation %",)
    assert fitted(columns, 40).left_out == ("of variation %", "raw")
    assert any("var. %" in line for line in lines(fitted(columns, 59)))


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_the_text_fits(found: Identification, width: int) -> None:
    text = identification_text(found, width=width)
    wide = identification_text(found, width=200)
    verdict = text.splitlines()[-1]
    assert max(len(line) for line in text.splitlines() if line != verdict) <= width
    for value, std in zip(found.beta, found.std, strict=True):
        assert plain(value, digits_beside(value, std), zeros=True) in text
    for words in ("of variation %", "* with"):
        assert words in wide
        assert (words in text) or width < 120
    assert ("--verbose" in text) == ("* with" not in text or " …" in text)


def test_what_is_small_is_called_so_everywhere(found: Identification) -> None:
    small = [name for name, seen in zip(found.names, found.seen, strict=True) if seen is Certainty.SMALL]
    assert small
    assert found.seen.count(Certainty.DETERMINED) == len(found.names) - len(small)
    data = summary(found)
    assert (data["determined"], data["too_small_to_matter"]) == (len(found.names) - len(small), len(small))
    assert {row["name"] for row in data["parameters"] if row["seen"] == "too small to matter"} == set(small)
    rows = tomllib.loads(model_toml(found))["identification"]["parameters"]
    assert {row["name"] for row in rows if row["seen"] == "too small to matter"} == set(small)
    assert f"{len(small)} too small to matter, 0 weak" in identification_text(found)
    assert report_html(found).count('class="seen small">too small to matter<') == len(small)


def test_correlated_means_one_thing(found: Identification, page: Page) -> None:
    ratios = found.fit.correlated / found.origin.expected_correlation
    assert summary(found)["correlated"] == pytest.approx(ratios.tolist())
    assert summary(found)["samples_that_count_as_one"] == found.fit.correlated.tolist()
    for ratio in ratios:
        assert f"×{figure(float(ratio), 2)}" in page.text
        assert f"×{ratio:.2g}" in identification_text(found)


def test_a_repeated_motion_is_not_called_unseen(found: Identification, page: Page) -> None:
    assert "motion it has not seen" in page.text
    again = replace(found, findings=(Finding(LogFindingCode.REPEATED_MOTION, Severity.WARNING, "the same again"),))
    text = Page(report_html(again)).text
    assert "motion it has not seen" not in text
    assert text.count("the same motion again") == 3  # in the verdict, beside the figure and above the plots


def test_what_cannot_be_told_apart(found: Identification) -> None:
    assert list(weaknesses(found)) == []
    close = replace(found)
    covariance = found.covariance.copy()
    covariance[0, 1] = covariance[1, 0] = 0.9999 * np.sqrt(covariance[0, 0] * covariance[1, 1])
    seen = (Certainty.WEAK,) * len(found.names)
    for name, value in (("covariance", covariance), ("seen", seen), ("missing", ())):
        object.__setattr__(close, name, value)  # frozen and cached: what another motion would have given
    more, pair = weaknesses(close)
    assert more == f"… and {len(found.names)} more parameters are weak"
    assert pair.endswith(f"{found.names[0]} with {found.names[1]} (0.999)")
    assert Page(report_html(close)).text.count("(0.999)") == 1
    assert summary(close)["correlations"][0]["parameters"] == list(found.names[:2])
    object.__setattr__(close, "seen", (Certainty.DETERMINED,) * len(found.names))
    assert list(weaknesses(close)) == []  # known both, in spite of it
    object.__setattr__(close, "normal", SimpleNamespace(condition=13200.0))
    assert "condition number 13200 is above 100" in next(weaknesses(close))


def test_time_goes_on_from_log_to_log() -> None:
    t = np.array([1e9, 1e9 + 1.0, np.nan, 1e9 + 5.0, np.nan, 0.0, 1.0])
    np.testing.assert_allclose(shown_time(t), [0.0, 1.0, np.nan, 5.0, np.nan, 6.0, 7.0], rtol=0.0, atol=1e-9)


# --- in a real browser


@pytest.fixture(scope="module")
def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("no Chromium is installed, so the report is not opened in a browser (apt-get install chromium)")


def test_a_browser_shows_it(chromium: str, found: Identification, tmp_path: Path) -> None:
    dom, console = _opened(chromium, write_report(found, tmp_path / "arm.html"))
    assert console == []
    shown = Page(dom)
    plots = [given for _, given in shown.tags if "js-plotly-plot" in (given.get("class") or "")]
    assert [given["id"] for given in plots] == ["torque-1", "torque-2", "correlation"]
    lines = [given for tag, given in shown.tags if tag == "path" and given.get("class") == "js-line"]
    assert len(lines) == 4 * 2 * 2  # of two joints, broken at the gap
    assert "needs JavaScript" not in shown.text


def test_a_click_sorts_a_table(chromium: str, found: Identification, html: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.html"
    click = "document.querySelector('#parameters th:nth-child(2)').click();</script>"
    path.write_text(re.sub(r"plots\(\);\s*</script>", click, html), encoding="utf-8")
    dom, console = _opened(chromium, path)
    assert console == []
    assert Page(dom).parameters == [found.names[k] for k in np.argsort(found.beta)]


def test_a_browser_with_complaints_is_heard(chromium: str, html: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.html"
    path.write_text(re.sub(r"plots\(\);\s*</script>", "missing();</script>", html), encoding="utf-8")
    dom, console = _opened(chromium, path)
    assert any("missing is not defined" in line for line in console)
    assert "needs JavaScript" in Page(dom).text
