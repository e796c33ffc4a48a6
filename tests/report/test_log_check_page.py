"""The page of checked logs: columns, plots, findings; a browser draws it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.browser import drawn_plots, open_page
from tests.support.log_files import ARM, ARM_COLUMNS
from ytheta.logs.check import LogCheck, check
from ytheta.report.log_check import draw_line, log_check_html


@pytest.fixture(scope="module")
def checked() -> LogCheck:
    refused = ARM_COLUMNS | {name: np.degrees(ARM_COLUMNS[name]) for name in ("q1", "q2")}
    without = {name: values for name, values in ARM_COLUMNS.items() if not name.startswith("qd")}
    return check(ARM, [refused | {"<i>": ARM_COLUMNS["t"]}, without])


def test_the_page_has_columns_and_refusals(checked: LogCheck) -> None:
    text = log_check_html(checked)
    assert "Not all logs can be used." in text
    assert text.count("<strong>Refused:</strong>") == 1
    assert "Columns not used: &lt;i&gt;." in text
    assert "<i>" not in text


def test_figures_hold_the_log(checked: LogCheck) -> None:
    figures = checked.figures()
    assert len(figures) == 5  # the second log has no velocities
    (line, _) = figures["positions of dict (2)"].data
    np.testing.assert_allclose(np.asarray(line.y, dtype=float), ARM_COLUMNS["q1"], rtol=1e-4, atol=1e-6)


def test_time_axes_say_where_they_begin() -> None:
    late = check(ARM, [ARM_COLUMNS | {"t": ARM_COLUMNS["t"] - ARM_COLUMNS["t"][0] + 6.766}])
    zero = check(ARM, [ARM_COLUMNS | {"t": ARM_COLUMNS["t"] - ARM_COLUMNS["t"][0]}])
    titles = [next(iter(each.figures().values())).layout.xaxis.title.text for each in (late, zero)]
    assert titles == ["time since 6.766 s / s", "time / s"]


def test_a_browser_draws_the_plots(chromium: str, checked: LogCheck, tmp_path: Path) -> None:
    dom, console = open_page(chromium, checked.report(tmp_path / "logs.html"))
    assert console == []
    assert drawn_plots(dom) == ["positions-1", "velocities-1", "torques-1", "positions-2", "torques-2"]


def test_small_pictures() -> None:
    assert draw_line(np.linspace(0.0, 1.0, 8)) == "▁▂▃▄▅▆▇█"
    assert draw_line(np.linspace(1.0, 0.0, 8)) == "█▇▆▅▄▃▂▁"
    assert draw_line(np.zeros(4)) == "▁▁▁▁"
    assert draw_line(np.array([0.0, np.nan, 1.0])) == "▁ █"
    assert draw_line(np.full(3, np.nan)) == ""
    assert len(draw_line(np.arange(1000.0))) == 40
