"""Estimation problems: streamed equations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import FORMS, create_form
from ytheta.identification.estimators.least_squares import LeastSquares


@pytest.mark.parametrize("form", FORMS)
def test_the_estimate_does_not_depend_on_the_length_of_pieces(form: str) -> None:
    arm = known_arm()
    source = arm.draw_source(np.random.default_rng(4), 8.0)
    whole, *others = (
        LeastSquares().fit(EstimationProblem(create_form(form, arm.form.base), (source,), piece_length=length)).beta
        for length in (100_000, 512, 77)
    )
    scale = abs(whole).max()
    for other in others:
        np.testing.assert_allclose(other, whole, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_sums_do_not_depend_on_the_number_of_threads(threads: int | None) -> None:
    arm = known_arm()
    source = arm.draw_source(np.random.default_rng(6), 8.0)
    one, other = (EstimationProblem(arm.form, (source,), threads=n, piece_length=99) for n in (1, threads))
    for ours, theirs in zip(one.normal_equations().joints, other.normal_equations().joints, strict=True):
        np.testing.assert_array_equal(ours.gram, theirs.gram)
        np.testing.assert_array_equal(ours.right_side, theirs.right_side)


def test_residuals_are_those_of_all_equations_in_the_order_of_time() -> None:
    arm = known_arm()
    source = arm.draw_source(np.random.default_rng(7), 5.0)
    form = replace(arm.form, min_speed=np.array([0.1, 0.2]))
    problem = EstimationProblem(form, (source,), piece_length=200)
    beta = 1.1 * arm.beta
    residuals = np.concatenate([residual for _, residual in problem.residuals(beta)], axis=1)
    expected = []
    for rows in problem.rows():
        assert rows.mask is not None
        Y = problem.layout.dense(rows.values)
        expected.append((rows.tau - np.einsum("sjb,b->js", Y, beta)) * rows.mask)
    np.testing.assert_allclose(residuals, np.concatenate(expected, axis=1), rtol=1e-10, atol=1e-10)
    squares = problem.normal_equations(around=beta).torque_squares
    np.testing.assert_allclose((residuals**2).sum(axis=1), squares, rtol=1e-10)
