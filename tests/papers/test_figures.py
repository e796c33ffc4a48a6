"""The table and page of the example that compares the control simulation of walker1988 with the paper."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examples import paper_comparison, walker1988_control
from examples.paper_comparison import Agreement, PaperComparison, Row

from ytheta.report.plotly_figure import figure_to_json

AGREES, DIFFERS = Agreement.AGREES, Agreement.DIFFERS


def get_agreements(comparison: PaperComparison) -> dict[str, Agreement]:
    return {row.statement: row.agreement for row in comparison.rows}


def find_result(comparison: PaperComparison, statement: str) -> str:
    (row,) = [row for row in comparison.rows if row.statement == statement]
    return row.ytheta


def find_numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def run_example(
    comparison: PaperComparison,
    file: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """Run the example, check its page, and return its printed output."""
    monkeypatch.setattr("sys.argv", ["example", "-o", str(folder / "new")])
    paper_comparison.main(lambda: comparison, file)
    printed = capsys.readouterr().out
    page = (folder / "new" / file).read_text()
    (data,) = re.findall(r'<script type="application/json" id="ytheta">(.*?)</script>', page, re.DOTALL)
    assert [figure["title"] for figure in json.loads(data)["figures"]] == [
        figure.title for figure in comparison.figures
    ]
    for figure in comparison.figures:
        assert figure.plot.data, figure.title
        assert figure_to_json(figure.plot) in page
    for row in comparison.rows:
        assert row.ytheta in printed
    assert f"figures: {folder / 'new' / file}" in printed
    return printed


def test_walker1988(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """V falls on both plants, and adaptation reduces the error. The V of a twin with wrong velocities does not fall."""
    arm = walker1988_control.simulate_arm("walker")
    for run in (arm.own_plant, arm.mujoco):
        assert run.V_falls
        assert run.V[-1] < 0.2 * run.V[0]
        twin = replace(run, runs=replace(run.runs, qd=np.zeros_like(run.runs.qd)))
        assert not twin.V_falls
    monkeypatch.setattr(walker1988_control, "OUTERMOST_LINK", {"walker": "link3"})
    monkeypatch.setattr(walker1988_control, "simulate_arm", lambda _: arm)
    comparison = walker1988_control.compare_with_paper()
    assert set(get_agreements(comparison).values()) == {AGREES}
    result = find_result(comparison, "walker, own plant: effect of adaptation")
    adaptive, constant = (find_numbers(result)[k] for k in (0, -1))
    assert constant > 3.0 * adaptive
    run_example(comparison, "walker1988.html", tmp_path, monkeypatch, capsys)


def test_notes_are_printed_below_the_table() -> None:
    rows = (Row("a", "1", "2", DIFFERS, "because"), Row("bcd", "3", "3", AGREES))
    printed = list(paper_comparison.format_table(PaperComparison("title", "", rows, (), ("study",))))
    assert printed == [
        "title",
        "     paper  ytheta  agrees",
        "a    1      2       no",
        "bcd  3      3       yes",
        "  a: because",
        "study",
    ]
