"""Estimation problems: streamed equations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.errors import InputError
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.registry import FORMS, create_form
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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [1, 3, 7])
def test_blocks_have_the_normal_equations_of_their_own_equations(form: str, count: int) -> None:
    arm = known_arm()
    rng = np.random.default_rng(5)
    sources = (arm.draw_source(rng, 6.0), arm.draw_source(rng, 3.0))
    problem = EstimationProblem(create_form(form, arm.form.base), sources, piece_length=300)
    expected, firsts = compute_blocks_directly(problem, count)
    blocks = problem.block_normal_equations(count)
    weights = np.array([0.7, 2.0])
    for equations, (matrix, right_side, equation_count) in zip(blocks, expected, strict=True):
        scale = abs(matrix).max()
        np.testing.assert_allclose(equations.matrix(weights), matrix, rtol=1e-10, atol=1e-10 * scale)
        np.testing.assert_allclose(equations.right_side(weights), right_side, rtol=1e-10, atol=1e-10 * scale)
        np.testing.assert_array_equal(equations.counts, equation_count)
    whole, total = problem.normal_equations(), np.sum([block.matrix(weights) for block in blocks], axis=0)
    np.testing.assert_allclose(total, whole.matrix(weights), rtol=1e-10, atol=1e-10 * abs(total).max())
    np.testing.assert_array_equal(sum(block.counts for block in blocks), whole.counts)
    assert problem.block_normal_equations(count) is blocks
    if form == "differential":  # one equation per sample: blocks of equal length
        assert np.ptp([block.counts[0] for block in blocks]) <= 1
    if count > 1:  # the comparison notices an equation in the wrong block
        with pytest.raises(AssertionError):
            np.testing.assert_allclose(blocks[1].matrix(weights), expected[0][0], rtol=1e-3)
    assert len(firsts) == whole.counts[0]


def compute_blocks_directly(
    problem: EstimationProblem, count: int
) -> tuple[list[tuple[np.ndarray, np.ndarray, np.ndarray]], list[int]]:
    """Compute the sums equation by equation from dense regressors; also return the first sample of each equation."""
    weights, size = np.array([0.7, 2.0]), len(problem.base)
    sums = [(np.zeros((size, size)), np.zeros(size), np.zeros(2)) for _ in range(count)]
    firsts = []
    for task in problem.tasks():
        before = sum(sum(source.lengths) for source in problem.sources[: task.source])
        for rows in problem.rows_of(task):
            for k, Y in enumerate(problem.layout.dense(rows.values)):
                sample = before + task.samples.first + rows.first + k * rows.hop
                block = next(b for b in range(count) if sample < problem.sample_count * (b + 1) // count)
                matrix, right_side, counts = sums[block]
                matrix += (Y.T * weights) @ Y
                right_side += (Y.T * weights) @ rows.tau[:, k]
                counts += 1.0
                firsts.append(sample)
    return sums, firsts


@pytest.mark.parametrize("count", [0, 10**9])
def test_a_number_of_blocks_that_is_impossible_is_refused(count: int) -> None:
    arm = known_arm()
    problem = EstimationProblem(arm.form, (arm.draw_source(np.random.default_rng(5), 3.0),))
    with pytest.raises(InputError, match="give fewer blocks"):
        problem.block_normal_equations(count)


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_sums_do_not_depend_on_the_number_of_threads(threads: int | None) -> None:
    arm = known_arm()
    source = arm.draw_source(np.random.default_rng(6), 8.0)
    one, other = (EstimationProblem(arm.form, (source,), threads=n, piece_length=99) for n in (1, threads))
    for ours, theirs in zip(one.normal_equations().joints, other.normal_equations().joints, strict=True):
        np.testing.assert_array_equal(ours.gram, theirs.gram)
        np.testing.assert_array_equal(ours.right_side, theirs.right_side)
    for a, b in zip(one.block_normal_equations(4), other.block_normal_equations(4), strict=True):
        np.testing.assert_array_equal(a.matrix(np.ones(2)), b.matrix(np.ones(2)))


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
