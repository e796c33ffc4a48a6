"""The report of a prediction: its content, and that a browser shows it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import ytheta as yt
from tests.support.browser import EVIL, LOADS, Page, drawn_plots, open_page
from ytheta.errors import InputError, MissingExtraError
from ytheta.report.numbers import format_percent
from ytheta.report.prediction import prediction_html


def test_the_page_has_the_errors_of_every_joint(prediction: yt.Prediction) -> None:
    page = Page(prediction_html(prediction))
    assert prediction.errors is not None
    for value in (prediction.errors.relative_percent, *prediction.errors.per_joint_percent):
        assert format_percent(float(value)) in page.text
    assert format_percent(0.5 * prediction.errors.relative_percent) not in page.text  # the twin
    for text in (*prediction.robot.actuated, "run.npz", "measured, low-passed"):
        assert text in page.text
    assert all(finding.text in page.text for finding in prediction.findings)
    assert any(EVIL in finding.text for finding in prediction.findings)
    assert json.loads(page.scripts["ytheta"]) == json.loads(json.dumps(prediction.to_dict(), allow_nan=False))


def test_the_page_of_a_log_without_torques(without_torques: yt.Prediction) -> None:
    page = Page(prediction_html(without_torques))
    assert "no measured torques to compare" in page.text
    assert "predicted RMS" in page.text
    assert "measured, low-passed" not in page.text
    assert json.loads(page.scripts["ytheta"])["relative_error_percent"] is None


def test_nothing_is_loaded_and_names_are_escaped(prediction: yt.Prediction) -> None:
    html = prediction_html(prediction)
    loads = [value for _, given in Page(html).tags for key in LOADS if (value := given.get(key)) is not None]
    assert loads == ["data:,"]  # no icon
    assert EVIL not in html


def test_report_writes_the_page(prediction: yt.Prediction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = prediction.report(tmp_path / "torques.html")
    assert path.read_text(encoding="utf-8") == prediction_html(prediction)
    with pytest.raises(InputError, match="cannot be written"):
        prediction.report(tmp_path / "nowhere" / "torques.html")
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'ytheta[report]'")):
        prediction.report(tmp_path / "torques.html")


@pytest.mark.parametrize("name", ["prediction", "without_torques"])
def test_a_browser_draws_the_plots(chromium: str, name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    dom, console = open_page(chromium, request.getfixturevalue(name).report(tmp_path / "torques.html"))
    assert console == []
    assert drawn_plots(dom) == ["torque-1", "torque-2"]
    assert "needs JavaScript" not in Page(dom).text
