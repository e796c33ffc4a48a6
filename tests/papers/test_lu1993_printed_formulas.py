"""Printed formulas: how they are read, and when they agree."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from ytheta.papers.exhibit import State
from ytheta.papers.lu1993_example import Formula, compare_formula, evaluate_formula

VALUES = {"a": sympy.Rational(2), "b": sympy.Rational(3), "qd1": sympy.Rational(5), "qdd1": sympy.Rational(7)}
STATES = [VALUES, {**VALUES, "b": sympy.Rational(1, 3)}]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a b", [[6]]),
        ("2 a (b + a) q̇1²", [[500]]),
        ("-(a + b) (a - b)", [[5]]),
        ("a² q̈1 - b", [[25]]),
        ("a, b; -b, 0", [[2, 3], [-3, 0]]),
    ],
)
def test_a_formula_is_read_as_printed(text: str, value: list[list[int]]) -> None:
    assert evaluate_formula(text, VALUES).tolist() == value


def test_a_row_vector_is_part_of_a_formula() -> None:
    row = {**VALUES, "h": sympy.Matrix([[1, 2]])}
    assert evaluate_formula("h a + h b", row).tolist() == [[5, 10]]


def compute_product() -> list[np.ndarray]:
    return [np.array([[state["a"] * state["b"]]], dtype=object) for state in STATES]


def test_a_formula_agrees_if_it_is_equal_at_every_state() -> None:
    same = compare_formula(Formula("x", "b a"), STATES, compute_product())
    assert (same.paper, same.ytheta, same.state) == ("b a", "the same", State.AGREES)
    at_first_state_only = compare_formula(Formula("x", "a + b + 1"), STATES, compute_product())
    assert at_first_state_only.state is State.DIFFERS


def test_a_correction_is_shown_only_if_it_is_right() -> None:
    right = compare_formula(Formula("x", "a b²", "a b", "squared"), STATES, compute_product())
    assert (right.ytheta, right.state, right.contradiction) == ("a b", State.MISPRINT, "squared")
    wrong = compare_formula(Formula("x", "a b²", "a b + 1"), STATES, compute_product())
    assert wrong.ytheta == "another result, which differs by 12 at a random state"
    assert wrong.state is State.DIFFERS


def test_a_formula_with_lost_parts_is_open() -> None:
    assert compare_formula(Formula("x", "a", "a b", lost=True), STATES, compute_product()).state is State.OPEN


def test_a_matrix_is_shown_in_brackets() -> None:
    results = [np.array([[state["a"], 0]], dtype=object) for state in STATES]
    assert compare_formula(Formula("x", "a, 0"), STATES, results).paper == "[a, 0]"
    assert compare_formula(Formula("x", "a, 1", "a, 0", "(2)"), STATES, results).ytheta == "[a, 0]"
