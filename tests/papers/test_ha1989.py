"""The exhibits of ha1989: every formula of the example, and Table I."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from ytheta.papers import ha1989 as model
from ytheta.papers.exhibit import PaperReproduction, State
from ytheta.papers.ha1989 import make_printed_model, reproduce

LOST_IN_THE_SCAN = "U22"  # of (60)
PRINTED_AND_COMPLETE = ("equation_55", "equation_57", "equation_58", "equations_59_60", "equation_61", "table_1")


@pytest.fixture(scope="module")
def paper() -> PaperReproduction:
    return reproduce()


@pytest.mark.parametrize("key", PRINTED_AND_COMPLETE)
def test_what_is_printed_and_complete_agrees(paper: PaperReproduction, key: str) -> None:
    assert {row.state for row in paper[key].comparisons if row.name != LOST_IN_THE_SCAN} == {State.AGREES}


def test_faults_of_the_scan_are_named(paper: PaperReproduction) -> None:
    differential, integral = (
        {row.name: row for row in paper[key].comparisons} for key in ("equations_59_60", "equation_61")
    )
    assert differential[LOST_IN_THE_SCAN].state is State.OPEN
    assert differential[LOST_IN_THE_SCAN].note.startswith("the scan breaks off after the third entry")
    assert integral["U33, from t0 to t"].note.startswith("the scan has q̇3 twice; the second is read as q3")


def test_gravity_is_shown_as_printed(paper: PaperReproduction) -> None:
    (row,) = [row for row in paper["equation_57"].comparisons if row.name == "F31"]
    assert row.paper == "g·q3 + qd3^2/2"
    assert row.note == "g = 9.8 m/s²"


def test_every_number_and_formula_is_there(paper: PaperReproduction) -> None:
    counts = {exhibit.key: len(exhibit.comparisons) for exhibit in paper.exhibits}
    assert counts["equation_57"] == counts["equation_58"] == 6
    assert counts["equations_59_60"] == 7 + 1  # the blocks of (59), and the zeros
    assert counts["table_1"] == 14 * 2 * 2  # parameters, forms, estimators
    assert [exhibit.key for exhibit in paper.exhibits if exhibit.plots] == [f"figure_{k}" for k in (3, 4, 5, 6)]
    assert paper.count(State.DIFFERS) == 0


def test_the_noise_free_columns_have_more_digits_than_printed(paper: PaperReproduction) -> None:
    for comparison in paper["table_1"].comparisons:
        assert float(comparison.ytheta) == pytest.approx(float(comparison.paper), rel=1e-8)


def test_errors_in_kind(paper: PaperReproduction) -> None:
    rows = paper["table_1_errors"].comparisons
    kinds = [comparison for comparison in rows if comparison.name.startswith("bias hurts much more than scale")]
    assert len(kinds) == 4
    assert {comparison.state for comparison in rows} == {State.OPEN}  # the trajectories are not printed
    for comparison in kinds:
        by_bias, by_scale = (float(number) for number in re.findall(r"\d+\.\d+", str(comparison.ytheta)))
        assert by_bias > 3.0 * by_scale
    computed = [comparison for comparison in rows if comparison.name.startswith("rms of the relative errors")]
    assert [comparison.paper for comparison in computed] == ["0.17, computed from the printed columns"] * 2


def test_a_wrong_formula_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: 2 m2 x2 a2 of X21 once, and one wrong sign in U22."""
    import sympy

    printed = make_printed_model()
    once = sympy.Symbol("link2.mx") * sympy.Symbol("a2")
    X = (printed.X[0], (printed.X[1][0] - once, *printed.X[1][1:]), *printed.X[2:])
    U = [printed.U[0], [-entry if k == 5 else entry for k, entry in enumerate(printed.U[1])], *printed.U[2:]]
    monkeypatch.setattr(model, "make_printed_model", lambda: replace(printed, X=X, U=U))
    exhibits = {exhibit.key: exhibit for exhibit in model.compare_model()}
    wrong = [c.name for e in exhibits.values() for c in e.comparisons if c.state is State.DIFFERS]
    assert wrong == ["X21", "U22"]


def test_the_errors_are_those_of_the_paper() -> None:
    from ytheta.papers.ha1989 import add_errors, make_motion

    exact = make_motion()
    measured = add_errors(exact, scale=True, bias=True)
    np.testing.assert_allclose(measured.qd[:, 0] - 1.03 * exact.qd[:, 0], np.radians(3.0), rtol=1e-9)
    np.testing.assert_allclose(measured.q[:, 2] - 1.03 * exact.q[:, 2], 0.1, rtol=1e-9)
    assert exact.tau is not None
    assert measured.tau is not None
    np.testing.assert_allclose(measured.tau[0] - 1.03 * exact.tau[0], [0.15, 0.15, 0.1, 0.15], rtol=1e-9)
