"""The page of a comparison: what is plotted, what stands in the tables, and a browser at two widths, light and dark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from tests.support.browser import EVIL, LOADS, Page
from tests.support.command import refused, ytheta
from tests.support.devtools import Tab, open_browser
from ytheta.comparison import Comparison, FrictionComparison
from ytheta.report.comparison import (
    comparison_html,
    list_changes,
    list_friction_rows,
    list_used_shares,
    summarize_comparison,
    write_comparison_report,
)
from ytheta.robot.parts import compute_friction


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of an arm whose friction grows, and a log."""
    folder = tmp_path_factory.mktemp("models")
    arm = true_arm(folder)
    for k, name in enumerate(("new", "used", "worn")):
        robot = arm.with_drives(lambda _, drive, k=k: replace(drive, viscous=drive.viscous * (1.0 + 0.5 * k)))  # type: ignore[misc]
        log = write_log(folder / f"{name}.npz", robot, seed=k, noise=0.05)
        fit = yt.identify(yt.load("lu-two-link"), log, prior="none", friction=["viscous", "coulomb", "offset"])
        fit.save(folder / f"{name}.toml")
    return folder


@pytest.fixture(scope="module")
def comparison(folder: Path) -> Comparison:
    return yt.compare([folder / f"{name}.toml" for name in ("new", "used", "worn")], log=folder / "worn.npz")


@pytest.fixture(scope="module")
def tab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with open_browser(chromium, tmp_path_factory.mktemp("browser")) as tab:
        yield tab


def test_friction_curves_are_those_of_the_models(comparison: Comparison) -> None:
    curves = comparison.friction_curves
    assert [each.name for each in curves] == ["joint1", "joint2"]
    errors = comparison.predictions[0].errors
    assert errors is not None
    for j, each in enumerate(curves):
        assert each.speeds[-1] == pytest.approx(errors.motion_range.speed[j])
        for model, friction in zip(comparison.models, each.friction, strict=True):
            drive = dict(model.robot.drives)[each.name]
            assert friction is not None
            np.testing.assert_allclose(friction, compute_friction(drive, each.speeds))
        assert each.friction[2] is not None
        assert each.friction[0] is not None
        assert each.friction[2][-1] > 1.2 * each.friction[0][-1]  # it wore out


def test_figures_have_every_model(comparison: Comparison) -> None:
    figures = comparison.figures()
    assert {"torque of joint1", "friction of joint2", "changes", "parameters in N m"} <= set(figures)
    labels = ["new.toml", "used.toml", "worn.toml"]
    assert [trace.name for trace in figures["friction of joint1"].data] == labels
    upper = [trace for trace in figures["torque of joint1"].data if trace.yaxis == "y"]
    assert [trace.name for trace in upper] == ["measured", *labels]
    assert [trace.name for trace in figures["torque of joint1"].data if trace.yaxis == "y2"] == labels
    row = next(row for row in comparison.parameters if row.name == "joint1.fv")
    group = figures["parameters in N m s/rad"]
    for k, trace in enumerate(group.data):
        place = list(trace.customdata).index("joint1.fv")
        assert trace.x[place] == row.values[k]
        assert trace.error_x.array[place] == pytest.approx(1.96 * (row.std[k] or 0.0))
    change = next(trace for trace in figures["changes"].data if trace.name == row.name)
    np.testing.assert_allclose(change.y, np.array(row.differences, dtype=np.float32), rtol=1e-6)
    assert abs(change.y[2]) > 3.0


def test_names_are_escaped_and_nothing_is_loaded(comparison: Comparison) -> None:
    evil = replace(comparison, labels=(EVIL, *comparison.labels[1:]))
    html = comparison_html(evil)
    assert EVIL not in html
    page = Page(html)
    assert EVIL in page.text
    assert [value for _, given in page.tags for key in LOADS if (value := given.get(key)) is not None] == ["data:,"]
    assert json.loads(page.scripts["ytheta"]) == json.loads(json.dumps(summarize_comparison(evil)))
    assert "parameters differ by more than 3 standard deviations" in page.text


def test_without_log_and_without_torques(folder: Path) -> None:
    names = [folder / "new.toml", folder / "worn.toml"]
    alone = yt.compare(names)
    assert "Torques on" not in Page(comparison_html(alone)).text
    data = np.load(folder / "worn.npz")
    silent = yt.compare(names, log={"t": data["t"], "q": data["q"]})
    assert "the difference from the first model" in Page(comparison_html(silent)).text


def test_time_at_rest_is_marked_and_told(folder: Path, comparison: Comparison) -> None:
    data = np.load(folder / "worn.npz")
    t, q, tau = (data[name] for name in ("t", "q", "tau"))
    rest = np.arange(1, 1201) / 200.0  # six seconds at the last position
    log = {
        "t": np.concatenate([t, t[-1] + rest]),
        "q": np.concatenate([q, np.repeat(q[-1:], len(rest), axis=0)]),
        "tau": np.concatenate([tau, np.repeat(tau[-1:], len(rest), axis=0)]),
    }
    resting = yt.compare([folder / "new.toml", folder / "worn.toml"], log=log)
    kept = resting.predictions[0].t  # without the trimmed ends
    begin, end = t[-1] - kept[0], kept[-1] - kept[0]
    for name in ("joint1", "joint2"):
        area = max(resting.figures()[f"torque of {name}"].layout.shapes, key=lambda shape: shape.x1 - shape.x0)
        assert (area.x0, area.x1) == (pytest.approx(begin, abs=0.1), pytest.approx(end, abs=0.1))
    page = Page(comparison_html(resting))
    assert "at rest: left out of the errors" in page.text
    ((heading, shares),) = list_used_shares(resting)
    assert heading == "used"
    np.testing.assert_allclose(shares, begin / end, rtol=0.05)
    assert "they leave out those at which a joint rests" in " ".join(str(resting).split())
    assert summarize_comparison(resting)["torques"]["used_share"] == [shares.tolist()] * 2
    mixed = replace(resting, predictions=(resting.predictions[0], comparison.predictions[2]))
    assert [heading for heading, _ in list_used_shares(mixed)] == ["used of new.toml", "used of worn.toml"]
    assert list_used_shares(comparison) == []  # the twin: the joints always move
    assert "left out of the errors" not in Page(comparison_html(comparison)).text


def test_rounding_errors_of_friction_are_zero(comparison: Comparison) -> None:
    values = (0.02, 1.5e-10, None)
    rows = tuple(FrictionComparison(joint, "load", values) for joint in ("joint1", "joint2"))
    changed = replace(comparison, friction=rows)
    assert [text for text, _ in next(list_friction_rows(changed))["cells"]] == ["0.0200", "0", "–"]
    assert "1.5e-10" not in str(changed)
    assert "friction is that of the bodies in the model files" in " ".join(str(changed).split())
    small = replace(comparison, friction=(replace(rows[0], values=(2e-8, 1.5e-10, None)),))
    assert "1.5e-10" in str(small)  # the twin: beside small numbers, it is a number


def test_the_command_writes_the_page(folder: Path) -> None:
    arguments = ("compare", "new.toml", "worn.toml", "--report", "page.html")
    result = ytheta(*arguments, cwd=folder)
    assert result.returncode == 0
    assert "wrote page.html" in result.stderr
    assert (folder / "page.html").stat().st_size < 5_000_000
    assert ytheta(*arguments, cwd=folder).returncode == 0  # its own file
    (folder / "other.html").write_text("something else")
    assert "--force" in refused(*arguments[:-1], "other.html", cwd=folder)
    assert "new.toml" in refused(*arguments[:-1], "new.toml", cwd=folder)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1300, 390])
def test_the_page_is_shown(tab: Tab, comparison: Comparison, tmp_path: Path, width: int, dark: bool) -> None:
    path = write_comparison_report(comparison, tmp_path / "page.html")
    tab.open(path, width=width, dark=dark)
    assert tab.console == []
    assert [url for url in tab.requested if not url.startswith("data:")] == [path.as_uri()]
    count = "[...document.querySelectorAll('.plot')].map((plot) => plot.querySelectorAll('.js-line, .point').length)"
    assert min(tab.evaluate(count)) > 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("document.querySelectorAll('#changes .legend').length") == 0  # it would scroll on small screens
    names = tab.evaluate("document.getElementById('changes').closest('section').querySelector('.legend').textContent")
    assert all(row.name in names for row in list_changes(comparison))
