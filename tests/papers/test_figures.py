"""The tables and pages of the examples that compare control simulations with the papers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examples import fernandez2000_control, lu1993_control, paper_comparison, walker1988_control
from examples.lu1993_schemes import GAMMAS, SCHEMES, BatchSettings, make_craig, make_modified, simulate_scheme
from examples.lu1993_study import DEGREE, Count, SensorErrorRuns, compare_sensor_errors
from examples.paper_comparison import Agreement, PaperComparison, Row, compute_settling_times

from tests.support.lu1993_loop import simulate_lu1993
from ytheta.report.plotly_figure import figure_to_json

AGREES, DIFFERS, OPEN = Agreement.AGREES, Agreement.DIFFERS, Agreement.OPEN


@pytest.fixture(scope="module")
def lu1993() -> PaperComparison:
    return lu1993_control.compare_with_paper()


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


# --- lu1993 -----------------------------------------------------------------------------------------------------------


def test_lu1993_statements(
    lu1993: PaperComparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert get_agreements(lu1993) == {
        "modified: tracking error settles": AGREES,
        "Craig: tracking error settles": OPEN,
        "both find m4 = 1 kg from 0.5 kg": AGREES,
        "modified finds m4 faster": OPEN,
        "modified needs no accelerations": AGREES,
        "modified tolerates a Gamma far too large": AGREES,
        "modified is less sensitive near the best": DIFFERS,
        "modified is cheaper to compute": AGREES,
    }
    titles = [figure.title for figure in lu1993.figures]
    for number, part in ((n, p) for n in "45" for p in "abc"):
        assert sum(title.startswith(f"Fig. {number}({part})") for title in titles) == 1
    printed = run_example(lu1993, "lu1993.html", tmp_path, monkeypatch, capsys)
    assert "Which scheme is faster? 100 settings" in printed


def test_lu1993_the_faster_scheme_depends_on_settings_that_are_not_given(lu1993: PaperComparison) -> None:
    """By every measure each scheme is faster in many settings, and another Psi changes the balance."""
    rows = [line for line in lu1993.study if "best of each" in line]
    assert len(rows) == 5
    counts = [[int(number) for number in line.partition("best of each")[2].split()] for line in rows]
    for modified, craig, equal, neither, total in counts:
        assert modified + craig + equal + neither == total == 100
        assert modified >= 5
        assert craig >= 40
    assert counts[0][1] > 2 * counts[0][0]
    assert counts[3][1] < 1.3 * counts[3][0]  # Psi = 1.5 lambda
    diverged = find_numbers(find_result(lu1993, "modified tolerates a Gamma far too large"))
    assert diverged[0] == 0
    assert diverged[-1] > 100


def test_lu1993_batches_agree_with_an_adaptive_integrator() -> None:
    """Settling times agree within two steps of 1 ms. The twins do not adapt, or their mass matrix has no inverse."""
    for scheme, make_law in zip(SCHEMES, (make_modified, make_craig), strict=True):
        batch = simulate_scheme(scheme, BatchSettings.single(GAMMAS[scheme]))
        run = simulate_lu1993(make_law)
        assert compute_settling_times(batch.t, batch.largest_error > DEGREE)[0] == pytest.approx(
            run.settling_time(DEGREE), abs=2e-3
        )
        np.testing.assert_allclose(batch.m4[::100, 0], 0.5 + run.x[:-1:100, 0], rtol=0.0, atol=1e-4)
        np.testing.assert_allclose(batch.error[::100, 0], run.error[:-1:100], rtol=0.0, atol=1e-4)
        twin = simulate_scheme(scheme, BatchSettings.single(1e-9))
        assert compute_settling_times(twin.t, twin.largest_error > DEGREE)[0] == np.inf
    assert simulate_scheme("Craig", BatchSettings.single(0.11)).diverged.all()
    assert not simulate_scheme("modified", BatchSettings.single(0.11)).diverged.any()


def test_lu1993_errors_of_measured_accelerations_affect_craigs_scheme_only() -> None:
    for kind in ("noise", "bias"):
        runs: dict[str, SensorErrorRuns] = compare_sensor_errors(kind)
        m4_error = runs["Craig"].m4_error.mean(axis=1)
        assert m4_error[-1] > 3.0 * m4_error[0]
        for values in (runs["modified"].m4, runs["modified"].tracking[..., None]):
            assert (values == values[:1, :1]).all()


def test_settling_times_and_counts() -> None:
    t = np.array([0.0, 1.0, 2.0])
    outside = np.array([[False, True, True], [False, True, False], [False, False, True]])
    np.testing.assert_array_equal(compute_settling_times(t, outside), [0.0, 2.0, np.inf])
    count = Count.of(np.array([0.1, 0.3, 0.2, np.inf, np.inf]), np.array([0.2, 0.1, 0.203, np.inf, 0.5]))
    assert (count.modified, count.craig, count.equal, count.neither) == (1, 2, 1, 1)


# --- the others -------------------------------------------------------------------------------------------------------


def test_fernandez2000(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Fig. 1 to 4; one row compares with the twin that does not adapt."""
    comparison = fernandez2000_control.compare_with_paper()
    assert set(get_agreements(comparison).values()) == {AGREES}
    assert [figure.title[:6] for figure in comparison.figures if figure.title.startswith("Fig.")] == [
        f"Fig. {k}" for k in (1, 2, 3, 4, 4)
    ]
    constant, adaptive = find_numbers(find_result(comparison, "… because of the adaptation"))[:2]
    assert constant > 20.0 * adaptive
    first, last = find_numbers(find_result(comparison, "Fig. 4: parameters converge"))[:2]
    assert first == 50.0
    assert last < 2.0
    printed = run_example(comparison, "fernandez2000.html", tmp_path, monkeypatch, capsys)
    assert "are not given, so only the kind of result is compared" in printed


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
