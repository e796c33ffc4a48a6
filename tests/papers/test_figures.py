"""The papers' control simulations as the examples redraw them: what their tables say, and their pages."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examples import fernandez2000_control, lu1993_control, redrawn, walker1988_control
from examples.lu1993_schemes import GAMMAS, SCHEMES, Settings, craig, modified, simulated
from examples.lu1993_study import DEGREE, Count, Misled, both_misled
from examples.redrawn import Redrawn, Row, Verdict, settled

from tests.support import lu1993_loop

AGREES, DIFFERS, OPEN = Verdict.AGREES, Verdict.DIFFERS, Verdict.OPEN


@pytest.fixture(scope="module")
def lu1993() -> Redrawn:
    return lu1993_control.redrawn()


def verdicts(shown: Redrawn) -> dict[str, Verdict]:
    return {row.what: row.verdict for row in shown.rows}


def found(shown: Redrawn, what: str) -> str:
    (row,) = [row for row in shown.rows if row.what == what]
    return row.found


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def ran(
    shown: Redrawn, file: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """What the example prints; its page is checked on the way."""
    monkeypatch.setattr("sys.argv", ["example", "-o", str(folder / "new")])
    redrawn.main(lambda: shown, file)
    printed = capsys.readouterr().out
    page = (folder / "new" / file).read_text()
    (told,) = re.findall(r'<script type="application/json" id="ytheta">(.*?)</script>', page, re.DOTALL)
    assert [figure["title"] for figure in json.loads(told)["figures"]] == [figure.title for figure in shown.figures]
    for figure in shown.figures:
        traces = json.loads(figure.plot)["data"]
        assert traces, figure.title
        assert figure.plot in page
    for row in shown.rows:
        assert row.found in printed
    assert f"figures: {folder / 'new' / file}" in printed
    return printed


# --- lu1993 -----------------------------------------------------------------------------------------------------------


def test_lu1993_says_what_holds_and_what_is_open(
    lu1993: Redrawn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verdicts(lu1993) == {
        "modified: tracking error settles": AGREES,
        "Craig: tracking error settles": OPEN,
        "both find m4 = 1 kg from 0.5 kg": AGREES,
        "m4 is found sooner by the modified": OPEN,
        "modified needs no accelerations": AGREES,
        "modified stands a Gamma far too large": AGREES,
        "modified is less sensitive near the best": DIFFERS,
        "modified is cheaper to compute": AGREES,
    }
    titles = [figure.title for figure in lu1993.figures]
    for number, part in ((n, p) for n in "45" for p in "abc"):
        assert sum(title.startswith(f"Fig. {number}({part})") for title in titles) == 1
    printed = ran(lu1993, "lu1993.html", tmp_path, monkeypatch, capsys)
    assert "Which scheme is faster? 100 settings" in printed


def test_lu1993_the_order_of_the_schemes_is_a_matter_of_what_is_not_given(lu1993: Redrawn) -> None:
    """Either is the faster one in many settings, by every measure, and another Psi turns the balance."""
    rows = [line for line in lu1993.study if "best of each" in line]
    assert len(rows) == 5
    counts = [[int(number) for number in line.partition("best of each")[2].split()] for line in rows]
    for ours, theirs, alike, neither, total in counts:
        assert ours + theirs + alike + neither == total == 100
        assert ours >= 5
        assert theirs >= 40
    assert counts[0][1] > 2 * counts[0][0]
    assert counts[3][1] < 1.3 * counts[3][0]  # Psi = 1.5 lambda
    lost = numbers(found(lu1993, "modified stands a Gamma far too large"))
    assert lost[0] == 0
    assert lost[1] > 100


def test_lu1993_batches_are_the_loop_that_is_integrated_with_care() -> None:
    """Settling times to the step of 1 ms; the twins do not learn, and Craig's has no inverse."""
    for scheme, make in zip(SCHEMES, (modified, craig), strict=True):
        batch = simulated(scheme, Settings.one(GAMMAS[scheme]))
        other = lu1993_loop.simulated(make)
        assert settled(batch.t, batch.farthest > DEGREE)[0] == pytest.approx(other.settled(DEGREE), abs=2e-3)
        np.testing.assert_allclose(batch.m4[::100, 0], 0.5 + other.x[:-1:100, 0], rtol=0.0, atol=1e-4)
        np.testing.assert_allclose(batch.error[::100, 0], other.error[:-1:100], rtol=0.0, atol=1e-4)
        unlearnt = simulated(scheme, Settings.one(1e-9))
        assert settled(unlearnt.t, unlearnt.farthest > DEGREE)[0] == np.inf
    assert simulated("Craig", Settings.one(0.11)).lost.all()
    assert not simulated("modified", Settings.one(0.11)).lost.any()


def test_lu1993_wrong_accelerations_harm_craigs_scheme_alone() -> None:
    for kind in ("noise", "bias"):
        each: dict[str, Misled] = both_misled(kind)
        wrong = each["Craig"].wrong.mean(axis=1)
        assert wrong[-1] > 3.0 * wrong[0]
        for values in (each["modified"].m4, each["modified"].tracking[..., None]):
            assert (values == values[:1, :1]).all()


def test_settled_and_counted() -> None:
    t = np.array([0.0, 1.0, 2.0])
    outside = np.array([[False, True, True], [False, True, False], [False, False, True]])
    np.testing.assert_array_equal(settled(t, outside), [0.0, 2.0, np.inf])
    counted = Count.of(np.array([0.1, 0.3, 0.2, np.inf, np.inf]), np.array([0.2, 0.1, 0.203, np.inf, 0.5]))
    assert (counted.modified, counted.craig, counted.alike, counted.neither) == (1, 2, 1, 1)


# --- the others -------------------------------------------------------------------------------------------------------


def test_fernandez2000(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Fig. 1 to 4, with the twin that learns nothing among the rows."""
    shown = fernandez2000_control.redrawn()
    assert set(verdicts(shown).values()) == {AGREES}
    assert [figure.title[:6] for figure in shown.figures if figure.title.startswith("Fig.")] == [
        f"Fig. {k}" for k in (1, 2, 3, 4, 4)
    ]
    unlearnt, learnt = numbers(found(shown, "… and because of what is learnt"))[:2]
    assert unlearnt > 20.0 * learnt
    first, last = numbers(found(shown, "Fig. 4: parameters converge"))[:2]
    assert first == 50.0
    assert last < 2.0
    printed = ran(shown, "fernandez2000.html", tmp_path, monkeypatch, capsys)
    assert "are not given: in kind only" in printed


def test_walker1988(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """V falls with either plant; what is learnt makes the difference. The twin's V is not that of the run."""
    arm = walker1988_control.arm("walker")
    for each in (arm.own, arm.mujoco):
        assert each.never_grows
        assert each.V[-1] < 0.2 * each.V[0]
        still = replace(each, runs=replace(each.runs, qd=np.zeros_like(each.runs.qd)))
        assert not still.never_grows
    monkeypatch.setattr(walker1988_control, "OUTERMOST", {"walker": "link3"})
    monkeypatch.setattr(walker1988_control, "arm", lambda _: arm)
    shown = walker1988_control.redrawn()
    assert set(verdicts(shown).values()) == {AGREES}
    unlearnt, learnt = numbers(found(shown, "walker, own plant: learning matters"))[:2]
    assert unlearnt > 3.0 * learnt
    ran(shown, "walker1988.html", tmp_path, monkeypatch, capsys)


def test_the_table_shows_reasons_below_its_rows() -> None:
    rows = (Row("a", "1", "2", DIFFERS, "because"), Row("bcd", "3", "3", AGREES))
    printed = list(redrawn.lines(Redrawn("title", "", rows, (), ("study",))))
    assert printed == [
        "title",
        "     paper  ytheta  agrees",
        "a    1      2       no",
        "bcd  3      3       yes",
        "  a: because",
        "study",
    ]
