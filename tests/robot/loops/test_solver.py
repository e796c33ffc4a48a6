"""The solver on equations with known solutions: branches, redundant and unsolvable equations, continuation."""

from __future__ import annotations

import numpy as np
import pytest

from ytheta.robot.loops.solver import (
    MAX_STEP_LENGTH,
    NewtonStep,
    compute_least_squares_step,
    continue_to,
    keep_direction,
    linearize,
    solve_by_newton,
)

DRIVING, FREE = [0], [1]


def compute_crank_residual(x: np.ndarray) -> np.ndarray:
    """The equation cos(x1) = x0 twice, scaled differently.

    The second equation is redundant. The branches are x1 = ± arccos(x0); there is no solution if |x0| > 1.
    """
    c = np.cos(x[..., 1]) - x[..., 0]
    return np.stack([c, -0.5 * c], axis=-1)


def find_step(x: np.ndarray) -> NewtonStep:
    return compute_least_squares_step(compute_crank_residual, x, FREE)


def find_crank_tangents(x: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return -1.0 / np.sin(x[:, FREE])[:, :, None]


def close_crank(start: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x = solve_by_newton(find_step, start, FREE)[0]
    return x, np.linalg.norm(compute_crank_residual(x), axis=1) < 1e-9


def test_a_warm_start_decides_the_branch() -> None:
    driving = np.linspace(-0.9, 0.9, 50)
    x = np.stack([np.tile(driving, 2), np.repeat([1.2, -1.2], 50)], axis=1)
    closed, iterations = solve_by_newton(find_step, x, FREE)
    expected = np.concatenate([np.arccos(driving), -np.arccos(driving)])
    np.testing.assert_allclose(closed[:, 1], expected, atol=1e-12)
    np.testing.assert_array_equal(closed[:, 0], x[:, 0])
    assert 0 < iterations < 15
    again, iterations = solve_by_newton(find_step, closed, FREE)
    assert iterations == 0
    np.testing.assert_allclose(again, closed, atol=1e-15)


def test_convergence_is_fast_near_a_solution() -> None:
    """The error of a Newton step is about the square of the error before it: 0.1, 1e-2, 1e-4, 1e-8."""
    driving = np.linspace(-0.5, 0.5, 11)
    x, iterations = solve_by_newton(find_step, np.column_stack([driving, np.arccos(driving) + 0.1]), FREE)
    np.testing.assert_allclose(x[:, 1], np.arccos(driving), atol=1e-12)
    assert iterations <= 5


def test_samples_do_not_influence_each_other() -> None:
    x = np.array([[0.3, 1.2], [1.5, 0.4], [-0.7, -2.0]])
    together, _ = solve_by_newton(find_step, x, FREE)
    one_by_one = [solve_by_newton(find_step, sample[None], FREE)[0][0] for sample in x]
    np.testing.assert_allclose(together, one_by_one, atol=1e-12)


def test_equations_without_a_solution_reach_their_smallest_residual() -> None:
    x, _ = solve_by_newton(find_step, np.array([[1.5, 0.7]]), FREE, max_iterations=200)
    assert np.abs(np.cos(x[0, 1]) - 1.5) == pytest.approx(0.5, abs=1e-9)
    infinite = NewtonStep(np.ones(1), np.full((1, 1), np.inf), np.ones(1))
    unchanged, _ = solve_by_newton(lambda _: infinite, x, FREE)  # a step that is not finite does not change a sample
    np.testing.assert_array_equal(unchanged, x)


@pytest.mark.parametrize("power", [0.51, 0.4])
def test_steps_with_little_decrease_are_halved(power: float) -> None:
    """c = sign(x) |x|^power: a full Newton step overshoots to x (1 - 1/power).

    It decreases |c| by 2 % for the power 0.51 and increases |c| for 0.4. Half a step leads close to the solution.
    """

    def find_power_step(x: np.ndarray) -> NewtonStep:
        size = np.abs(x[:, 0]) ** power
        return NewtonStep(size, x / power, slope=size)

    x, iterations = solve_by_newton(find_power_step, np.array([[0.2], [-0.1]]), [0])
    np.testing.assert_allclose(x, 0.0, atol=1e-8)
    assert iterations < 40


def test_damping_vanishes_at_a_solution() -> None:
    """Near a solution the damped step equals the Newton step; far from a solution it is shorter."""
    angle = 1.0
    for offset, tolerance in ((1e-8, 1e-6), (1e-4, 1e-2)):
        step = find_step(np.array([[np.cos(angle), angle + offset]])).step[0, 0]
        assert step == pytest.approx(offset, rel=tolerance)
    newton_step = (np.cos(2.5) - 0.99) / -np.sin(2.5)
    assert abs(find_step(np.array([[0.99, 2.5]])).step[0, 0]) < 0.9 * abs(newton_step)


def test_no_coordinate_moves_farther_than_the_largest_step() -> None:
    """The steps of all coordinates are shortened by the same factor."""

    def compute_residual(x: np.ndarray) -> np.ndarray:
        return x - np.array([5.0, 0.1])

    x = np.zeros((1, 2))
    step = compute_least_squares_step(compute_residual, x, [0, 1])
    assert np.abs(step.step).max() == pytest.approx(MAX_STEP_LENGTH, rel=1e-12)
    assert step.step[0, 0] / step.step[0, 1] == pytest.approx(50.0, rel=1e-12)
    # The predicted decrease of the residual is that of the shortened step.
    shorter, _ = linearize(compute_residual, x - 1e-6 * step.step, [0, 1])
    assert (step.size - np.linalg.norm(shorter, axis=1)) / 1e-6 == pytest.approx(step.slope, rel=1e-4)


def test_continuation_stops_at_the_edge() -> None:
    start = np.array([[0.0, np.pi / 2]])
    goals = np.array([[0.9, 0.0], [1.5, 0.0], [-0.95, 0.0], [-7.0, 0.0]])
    x, covered = continue_to(
        close_crank, find_crank_tangents, np.repeat(start, len(goals), axis=0), goals, DRIVING, FREE
    )
    assert (covered == 1.0).tolist() == [True, False, True, False]
    np.testing.assert_allclose(x[[0, 2], 1], np.arccos([0.9, -0.95]), atol=1e-12)
    np.testing.assert_allclose(x[[1, 3], 0], [1.0, -1.0], atol=1e-3)
    np.testing.assert_allclose(covered * goals[:, 0], x[:, 0], atol=1e-12)
    assert (np.linalg.norm(compute_crank_residual(x), axis=1) < 1e-9).all()


def test_continuation_leaves_a_singular_start() -> None:
    """There the free coordinate moves 7000 times as fast as the driving one, and at once much slower."""
    start = np.array([[1.0 - 1e-8, np.arccos(1.0 - 1e-8)]])
    x, covered = continue_to(close_crank, find_crank_tangents, start, np.array([[0.5, 0.0]]), DRIVING, FREE)
    assert covered == 1.0
    np.testing.assert_allclose(x[0], [0.5, np.arccos(0.5)], atol=1e-12)


def test_continuation_ends_exactly_at_the_goal() -> None:
    starts, ends = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 40)) / 3.0
    assert (starts + (ends - starts) != ends).any()  # otherwise this test would show nothing
    x, covered = continue_to(
        close_crank,
        find_crank_tangents,
        np.column_stack([starts, np.arccos(starts)]),
        np.column_stack([ends, ends]),
        DRIVING,
        FREE,
    )
    assert (covered == 1.0).all()
    np.testing.assert_array_equal(x[:, 0], ends)


def test_a_jump_to_another_branch_is_not_accepted() -> None:
    """In this example strides above 0.06 lead to the other branch, so the continuation takes shorter strides."""

    def close(x: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        jumps = np.abs(x[:, 0] - np.cos(x[:, 1])) > 0.06
        angle = np.arccos(x[:, 0])
        return np.column_stack([x[:, 0], np.where(jumps, -angle, angle)]), np.ones(len(x), dtype=bool)

    start, goal = np.array([[0.0, np.pi / 2]]), np.array([[0.9, 0.0]])
    x, covered = continue_to(close, find_crank_tangents, start, goal, DRIVING, FREE)
    assert covered == 1.0
    np.testing.assert_allclose(x[0], [0.9, np.arccos(0.9)], atol=1e-12)


def test_coordinates_outside_the_loops_take_their_goals_at_once() -> None:
    def close(x: np.ndarray, before: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert (x[:, 2] == 900.0).all()
        inner, closed = close_crank(x[:, :2], before[:, :2])
        return np.column_stack([inner, x[:, 2]]), closed

    start, goal = np.array([[0.0, np.pi / 2, 0.0]]), np.array([[0.5, 0.0, 900.0]])
    x, covered = continue_to(close, find_crank_tangents, start, goal, DRIVING, FREE)
    assert covered == 1.0
    np.testing.assert_allclose(x[0], [0.5, np.arccos(0.5), 900.0], atol=1e-12)


@pytest.mark.parametrize("start", [-0.55, -0.5])
def test_continuation_does_not_turn_off_where_branches_cross(start: float) -> None:
    """The branches x1 = x0 and x1 = -x0 cross at 0. A solver that prefers negative x1 must stop there."""

    def find_tangents(x: np.ndarray) -> np.ndarray:
        return np.where(x[:, 0] == x[:, 1], 1.0, -1.0)[:, None, None]

    def prefer_negative(x: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.column_stack([x[:, 0], -np.abs(x[:, 0])]), np.ones(len(x), dtype=bool)

    def go_straight(x: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.column_stack([x[:, 0], x[:, 0]]), np.ones(len(x), dtype=bool)

    starts, goals = np.full((1, 2), start), np.array([[0.7, 0.0]])
    x, covered = continue_to(prefer_negative, find_tangents, starts, goals, DRIVING, FREE)
    assert covered < 1.0
    np.testing.assert_allclose(x, 0.0, atol=1e-3)
    x, covered = continue_to(go_straight, find_tangents, starts, goals, DRIVING, FREE)
    assert covered == 1.0
    np.testing.assert_array_equal(x, [[0.7, 0.7]])


def test_a_singular_start_can_be_left() -> None:
    """At x0 = 1 the crank is stretched, and its velocity is infinite."""
    x, covered = continue_to(
        lambda trial, _: (np.column_stack([trial[:, 0], np.arccos(trial[:, 0])]), np.ones(len(trial), dtype=bool)),
        find_crank_tangents,
        np.array([[1.0, 0.0]]),
        np.array([[0.3, 0.0]]),
        DRIVING,
        FREE,
    )
    assert covered == 1.0
    np.testing.assert_allclose(x[0, 1], np.arccos(0.3), atol=1e-12)


def test_coordinates_at_rest_keep_their_direction() -> None:
    """A free coordinate that passes an extremum has velocities of both signs; short strides are accepted."""
    change = np.array([[0.1]])
    assert keep_direction(np.array([[[0.05]]]), np.array([[[-0.05]]]), change).all()
    assert keep_direction(np.zeros((1, 1, 1)), np.full((1, 1, 1), 1e-12), change).all()
    assert not keep_direction(np.array([[[1.0]]]), np.array([[[-1.0]]]), change).any()
    assert not keep_direction(np.array([[[1.0]]]), np.array([[[np.nan]]]), change).any()


def test_derivatives_have_no_truncation_error() -> None:
    x = np.array([[0.3, 1.2], [-0.4, 2.0]])
    values, derivatives = linearize(compute_crank_residual, x, [0, 1])
    np.testing.assert_array_equal(values, compute_crank_residual(x))
    expected = np.stack([-np.ones(2), -np.sin(x[:, 1])], axis=1)
    np.testing.assert_allclose(derivatives[:, 0], expected, rtol=1e-15)
    np.testing.assert_allclose(derivatives[:, 1], -0.5 * expected, rtol=1e-15)
