"""The report of a design: its content, and that a browser shows it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.browser import EVIL, LOADS, Page, drawn_plots, open_page
from tests.support.designed_motion import design_motion, design_two_link
from ytheta.excitation.clearance.link_capsules import UNCHECKED
from ytheta.excitation.limit_check import LimitUse
from ytheta.report.excitation_page import excitation_html
from ytheta.report.numbers import format_number


def test_the_page_has_condition_numbers_limits_and_expected_deviations() -> None:
    excitation = design_motion()
    page = Page(excitation_html(excitation))
    for value in (excitation.condition_number, excitation.scaled_condition_number):
        assert format_number(value, 4) in page.text
        assert format_number(2.0 * value, 4) not in page.text  # the twin
    for each in excitation.slowed:
        assert format_number(each.condition_number, 4) in page.text
    assert excitation.columns in page.text
    assert page.parameters == list(excitation.base.names)
    for std in excitation.std:
        assert format_number(float(std)) in page.text
    for text in (
        *excitation.bounds.joints,
        "within the limits that were checked",
        "torque noise of 0.1 Nm",
        "500 samples per second",
    ):
        assert text in page.text
    assert "Clearances" not in page.text
    assert json.loads(page.scripts["ytheta"]) == json.loads(json.dumps(excitation.to_dict(), allow_nan=False))


def test_the_badge_is_amber_if_not_all_was_checked() -> None:
    excitation = design_motion()
    checked = replace(excitation, findings=tuple(each for each in excitation.findings if each.code != UNCHECKED))
    poor = replace(checked, judged_condition_number=31.0)
    for each, grade, colour in (
        (excitation, "not all checked", "usable"),
        (checked, "good", "good"),
        (poor, "poor", "poor"),
    ):
        assert each.grade == grade
        classes = [given.get("class") or "" for tag, given in Page(excitation_html(each)).tags if tag == "span"]
        assert [name for name in classes if name.startswith("badge")] == [f"badge {colour}"]


def test_violations_and_clearances_are_shown() -> None:
    use = LimitUse("clearance", EVIL, -0.0123, 0.0, 3.5, np.nan, violated=True)
    excitation = replace(design_two_link(), uses=(*design_two_link().uses, use))
    text = excitation_html(excitation)
    page = Page(text)
    assert "limits exceeded" in page.text
    assert "1 limit is exceeded: do not run this motion." in page.text
    assert "−0.0123" in page.text
    assert EVIL not in text  # it is escaped
    assert not any(
        name in given for _, given in page.tags for name in LOADS if (given.get(name) or "data:,") != "data:,"
    )


def test_a_browser_draws_every_plot(chromium: str, tmp_path: Path) -> None:
    excitation = design_two_link()
    dom, console = open_page(chromium, excitation.report(tmp_path / "page.html"))
    assert drawn_plots(dom) == ["arm-1", "arm-2", "path", "motion-1", "torque-1", "motion-2", "torque-2", "deviations"]
    assert "This plot is loading" not in Page(dom).text
    remarks = ("WebGL", "GL Driver", "Canvas2D")  # of browsers about Plotly's plots in space, without effect
    assert [line for line in console if not any(word in line for word in remarks)] == []


def test_figures_show_motion_and_limits() -> None:
    excitation = design_two_link()
    figures = excitation.figures()
    assert set(figures) == {
        *(f"{kind} of {name}" for kind in ("motion", "torque") for name in excitation.bounds.joints),
        *(f"arm, from the {side}" for side in ("side", "front")),
        "path of the tool",
        "expected std",
    }
    velocity, *limits = [trace for trace in figures["motion of joint1"].data if trace.yaxis == "y2"]
    assert np.abs(velocity.y).max() <= 1.9
    assert [float(line.y[0]) for line in limits] == pytest.approx([-1.9, 1.9])  # with 5 % in reserve


def test_a_report_needs_the_name_of_a_page(tmp_path: Path) -> None:
    with pytest.raises(yt.errors.InputError, match=r"\.html"):
        design_two_link().report(tmp_path / "page.txt")
