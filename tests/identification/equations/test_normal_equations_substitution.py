"""Normal equations of other unknowns against those of the substituted equations themselves."""

from __future__ import annotations

import numpy as np

from ytheta.identification.equations.form import EquationRows, RegressorLayout
from ytheta.identification.equations.normal_equations import accumulate

LAYOUT = RegressorLayout.of([np.array([0, 0, 0, 1, 1]), np.array([0, 2, 3, 1, 2])], joints=2, base_count=4)


def test_substitution_is_that_of_the_equations() -> None:
    rng = np.random.default_rng(0)
    rows = EquationRows(rng.normal(size=(5, 50)), rng.normal(size=(2, 50)))
    matrix, offset = rng.normal(size=(4, 3)), rng.normal(size=4)
    equations = accumulate(LAYOUT, [rows])
    substituted = equations.substitute(matrix, offset)
    Y = LAYOUT.dense(rows.values)
    tau, A = rows.tau - (Y @ offset).T, Y @ matrix
    weights, x = np.array([0.5, 3.0]), rng.normal(size=3)
    grams = [A[:, j].T @ A[:, j] for j in range(2)]
    np.testing.assert_allclose(substituted.matrix(weights), np.tensordot(weights, grams, axes=1), atol=1e-10)
    right = sum(w * A[:, j].T @ tau[j] for j, w in enumerate(weights))
    np.testing.assert_allclose(substituted.right_side(weights), right, atol=1e-10)
    np.testing.assert_allclose(substituted.torque_squares, np.sum(tau**2, axis=1), rtol=1e-10)
    np.testing.assert_array_equal(substituted.counts, equations.counts)
    np.testing.assert_allclose(
        substituted.residual_squares(x), equations.residual_squares(offset + matrix @ x), rtol=1e-9
    )
    twin = equations.substitute(matrix, np.zeros(4))
    assert not np.allclose(twin.residual_squares(x), equations.residual_squares(offset + matrix @ x), rtol=0.1)


def test_nothing_left_to_estimate() -> None:
    rng = np.random.default_rng(1)
    rows = EquationRows(rng.normal(size=(5, 20)), rng.normal(size=(2, 20)))
    equations, offset = accumulate(LAYOUT, [rows]), rng.normal(size=4)
    fixed = equations.substitute(np.zeros((4, 0)), offset)
    assert fixed.base_count == 0
    np.testing.assert_allclose(fixed.torque_squares, equations.residual_squares(offset), rtol=1e-10)
