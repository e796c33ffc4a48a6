"""Bodies if the solver stops early: consistent, and never farther from the target than the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.body_problems import BodyProblem, add_bounds, draw_problem
from ytheta.identification.consistency import program as program_module
from ytheta.identification.consistency.nearest import (
    choose_nearer_bodies,
    compute_violation,
    find_bodies_on_line,
    measure_distance,
)
from ytheta.identification.consistency.solver import Cone, Outcome, Solution, solve_cone_program
from ytheta.robot.parameters import with_theta


def get_problem(*, bounded: bool) -> BodyProblem:
    problem = draw_problem(ytheta.load("ur10"), 0)
    return add_bounds(problem) if bounded else problem


def is_consistent(problem: BodyProblem, theta: np.ndarray) -> bool:
    consistency = with_theta(problem.robot, theta).consistency
    return all(bool(consistency[link]) for link in problem.reference.pseudo)


@pytest.mark.parametrize("bounded", [False, True])
def test_bodies_on_the_line_are_consistent_and_nearer_than_the_reference(bounded: bool) -> None:
    problem = get_problem(bounded=bounded)
    theta = find_bodies_on_line(problem.program)
    assert is_consistent(problem, theta)
    assert compute_violation(problem.program, theta) < 1e-9
    distance = problem.compute_distance(theta)  # by the definition
    assert measure_distance(problem.program, theta) == pytest.approx(distance, rel=1e-6)
    assert problem.solve().distance < distance
    if not bounded:
        assert distance < problem.compute_distance(problem.reference.theta)
        beyond = theta + 1e-3 * (problem.target - theta)  # the twin: the line ends at the boundary
        smallest = min(
            scale.compute_smallest_eigenvalue(beyond[problem.program.indices[link]])
            for link, scale in problem.program.scales.items()
        )
        assert smallest < problem.margin


@pytest.mark.parametrize("size", [0.0, 1.0, 1e9, np.nan])
def test_the_result_of_a_solver_that_fails_is_never_useless(monkeypatch: pytest.MonkeyPatch, size: float) -> None:
    """The solver is replaced by one that stops with a random vector, added to the solution."""
    problem = get_problem(bounded=True)
    exact = problem.solve()

    def fail(cones: list[Cone], *, objective_scale: float) -> Outcome:
        outcome = solve_cone_program(cones, objective_scale=objective_scale)
        noise = size * np.random.default_rng(0).normal(size=len(outcome.v))
        return replace(outcome, solution=Solution.INEXACT, v=outcome.v + noise)

    monkeypatch.setattr(program_module, "solve_cone_program", fail)
    bodies = problem.solve()
    line = find_bodies_on_line(problem.program)
    assert exact.converged
    assert not bodies.converged
    assert is_consistent(problem, bodies.theta)
    assert bodies.violation < 1e-9
    assert bodies.distance == pytest.approx(problem.compute_distance(bodies.theta), rel=1e-6)
    assert bodies.distance <= (1.0 + 1e-9) * problem.compute_distance(line)
    assert (bodies.distance == pytest.approx(exact.distance, rel=1e-5)) is (size == 0.0)


def test_the_nearer_of_two_bodies_is_chosen() -> None:
    problem = get_problem(bounded=False)
    exact = problem.solve()
    theta, distance = choose_nearer_bodies(problem.program, exact.theta)
    np.testing.assert_array_equal(theta, exact.theta)
    assert distance == pytest.approx(exact.distance, rel=1e-6)
    line = find_bodies_on_line(problem.program)
    theta, _ = choose_nearer_bodies(problem.program, problem.reference.theta)
    np.testing.assert_array_equal(theta, line)
