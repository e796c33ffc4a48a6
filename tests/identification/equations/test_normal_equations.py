"""Normal equations against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.identification.equations.form import EquationRows, RegressorLayout
from ytheta.identification.equations.normal_equations import NormalEquations, accumulate, merge

LAYOUT = RegressorLayout.of([np.array([0, 0, 0, 1, 1]), np.array([0, 2, 3, 1, 2])], joints=2, base_count=4)
WEIGHTS = np.array([0.5, 3.0])
BETA = np.array([0.3, -1.0, 2.0, 0.7])


def draw_rows(samples: int, seed: int, *, masked: bool = False) -> EquationRows:
    rng = np.random.default_rng(seed)
    mask = rng.integers(0, 2, (2, samples)).astype(float) if masked else None
    return EquationRows(rng.normal(size=(5, samples)), rng.normal(size=(2, samples)), mask)


def assert_equal_to_dense(equations: NormalEquations, rows: EquationRows, tau: np.ndarray, weights: np.ndarray) -> None:
    """Compare all sums with those of dense regressors, weighted equation by equation."""
    Y = LAYOUT.dense(rows.values)
    by_joint = [(Y[:, j], tau[j], weights[j]) for j in range(2)]
    matrix = sum(w * (A.T * v) @ A for w, (A, _, v) in zip(WEIGHTS, by_joint, strict=True))
    right_side = sum(w * (A.T * v) @ t for w, (A, t, v) in zip(WEIGHTS, by_joint, strict=True))
    np.testing.assert_allclose(equations.matrix(WEIGHTS), matrix, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(equations.right_side(WEIGHTS), right_side, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(equations.torque_squares, [v @ t**2 for _, t, v in by_joint], rtol=1e-12)
    np.testing.assert_allclose(equations.counts, [v.sum() for _, _, v in by_joint], rtol=1e-12)
    squares = [v @ (t - A @ BETA) ** 2 for A, t, v in by_joint]
    np.testing.assert_allclose(equations.residual_squares(BETA), squares, rtol=1e-9)


@pytest.mark.parametrize("masked", [False, True])
def test_sums_equal_those_of_dense_regressors(masked: bool) -> None:
    rows = draw_rows(50, 1, masked=masked)
    weights = np.ones((2, 50)) if rows.mask is None else rows.mask
    assert_equal_to_dense(accumulate(LAYOUT, [rows]), rows, rows.tau, weights)


@pytest.mark.parametrize("masked", [False, True])
def test_weights_are_computed_from_the_residuals_and_multiply_the_mask(masked: bool) -> None:
    rows, around = draw_rows(50, 2, masked=masked), np.array([1.0, 0.5, -0.4, 0.2])
    residual = rows.tau - np.einsum("sjb,b->js", LAYOUT.dense(rows.values), around)
    weights = 1.0 / (1.0 + residual**2)
    equations = accumulate(LAYOUT, [rows], around=around, weigh=lambda r: 1.0 / (1.0 + r**2))
    assert_equal_to_dense(equations, rows, residual, weights if rows.mask is None else weights * rows.mask)


def test_the_sum_of_parts_is_the_whole() -> None:
    parts = [draw_rows(20, 3), draw_rows(7, 4), draw_rows(1, 5)]
    whole = EquationRows(
        np.concatenate([rows.values for rows in parts], axis=1), np.concatenate([rows.tau for rows in parts], axis=1)
    )
    ones = np.ones((2, 28))
    assert_equal_to_dense(accumulate(LAYOUT, parts), whole, whole.tau, ones)
    merged = merge((accumulate(LAYOUT, [rows]) for rows in parts), empty=NormalEquations.empty(LAYOUT))
    assert_equal_to_dense(merged, whole, whole.tau, ones)


def test_matrices_can_be_left_out_and_put_in() -> None:
    rows = draw_rows(30, 6)
    full, without = accumulate(LAYOUT, [rows]), accumulate(LAYOUT, [rows], grams=False)
    assert not without.matrix(WEIGHTS).any()
    assert_equal_to_dense(without.with_grams(full), rows, rows.tau, np.ones((2, 30)))


def test_residuals_are_never_negative() -> None:
    """Rounding of an exact fit must not give a negative sum of squares."""
    values = np.random.default_rng(7).normal(size=(5, 40))
    exact = EquationRows(values, LAYOUT.torque(values, 1e3 * BETA))
    assert (accumulate(LAYOUT, [exact]).residual_squares(1e3 * BETA) >= 0.0).all()
