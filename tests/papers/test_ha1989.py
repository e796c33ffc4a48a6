"""The exhibits of ha1989: every formula of the example, and Table I."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from ytheta.logs.preparing.prepared_log import MotionSamples
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


def test_the_statement_about_bias_holds_for_nearly_all_motions(paper: PaperReproduction) -> None:
    rows = paper["table_1_errors"].comparisons
    kinds = [row for row in rows if row.name.startswith("bias degrades the accuracy much more than scale")]
    assert len(kinds) == 4
    for row in kinds:
        much_more, motions, times, more, *_ = (float(number) for number in re.findall(r"\d+\.?\d*", str(row.ytheta)))
        assert (motions, times) == (model.MOTIONS, model.MUCH_MORE)
        assert more >= much_more >= 100.0 * model.MIN_SHARE
        assert row.state is State.AGREES
    others = [row for row in rows if row not in kinds]
    assert {row.state for row in others} == {State.OPEN}  # the trajectories are not printed
    computed = [row for row in others if row.name.startswith("rms of the relative errors")]
    assert [row.paper for row in computed] == ["0.17, computed from the printed columns"] * 2


def test_a_statement_that_depends_on_the_motion_is_open() -> None:
    """The twin: errors by scale in the place of errors by bias."""
    study = model.study_errors(10, rng=1)
    swapped = replace(study, by_bias=study.by_scale, by_scale=study.by_bias)
    assert {row.state for row in model._compare_kinds_of_errors(study)} == {State.AGREES}
    assert {row.state for row in model._compare_kinds_of_errors(swapped)} == {State.OPEN}
    assert all("in 0 % more" in str(row.ytheta) for row in model._compare_kinds_of_errors(swapped))


def solve_printed_model(motion: MotionSamples) -> np.ndarray:
    """Solve (38) for the printed matrix (59), (60) with NumPy, without code of the estimators."""
    assert motion.tau is not None
    (v1, v2, v3, v4), (a1, a2, a3, a4) = motion.qd.T, motion.qdd.T
    C2, S2, sgn = np.cos(motion.q[:, 1]), np.sin(motion.q[:, 1]), np.sign
    X4 = np.linalg.lstsq(np.stack([a1 + a2 + a4, v4, sgn(v4)], axis=1), motion.tau[:, 3], rcond=None)[0]
    X3 = np.linalg.lstsq(np.stack([a3 - 9.8, v3, sgn(v3)], axis=1), motion.tau[:, 2], rcond=None)[0]
    U22 = np.stack([a1 + a2, a1 * C2 + v1**2 * S2, -a1 * S2 + v1**2 * C2, v2, sgn(v2)], axis=1)
    X2 = np.linalg.lstsq(U22, motion.tau[:, 1] - a4 * X4[0], rcond=None)[0]
    U12 = [a2, -2 * v1 * v2 * S2 - v2**2 * S2 + (2 * a1 + a2) * C2, -2 * v1 * v2 * C2 - v2**2 * C2 - (2 * a1 + a2) * S2]
    rest = motion.tau[:, 0] - np.stack(U12, axis=1) @ X2[:3] - a4 * X4[0]
    X1 = np.linalg.lstsq(np.stack([a1, v1, sgn(v1)], axis=1), rest, rcond=None)[0]
    return np.concatenate([X1, X2, X3, X4])


def test_estimates_of_random_motions_are_those_of_the_printed_model() -> None:
    study, rng = model.study_errors(3, rng=1), np.random.default_rng(1)
    for k, motion in enumerate([model.make_motion(rng) for _ in range(3)]):
        expected = solve_printed_model(model.add_errors(motion, scale=True, bias=True))
        np.testing.assert_allclose(study.sequential["differential"][k], expected, rtol=1e-8)
        by_bias = solve_printed_model(model.add_errors(motion, scale=False, bias=True))
        error = np.sqrt(np.mean((by_bias / [float(value) for value in model.TRUE] - 1.0) ** 2))
        np.testing.assert_allclose(study.by_bias["differential", "sequential"][k], error, rtol=1e-8)
        assert abs(by_bias - expected).max() > 1e-3  # the twin: other errors
    assert abs(study.sequential["differential"][0] - study.sequential["differential"][1]).max() > 1e-3


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
