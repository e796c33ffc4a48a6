"""Links at which the description lacks something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.body_problems import BodyProblem, draw_problem, simulate_regressor, solve_by_cvxpy
from ytheta.identification.consistency.bounds import BodyBounds, Inequalities
from ytheta.identification.consistency.reference import make_plausible_reference
from ytheta.identification.consistency.standard_parameters import compute_cost, find_suspicious_links


def make_counterbalanced_arm() -> BodyProblem:
    """A UR10 whose upper arm is balanced by something that acts like a negative mass beyond the elbow."""
    robot, Y = simulate_regressor("ur10", 3, 60)
    reference = make_plausible_reference(robot)
    free = np.array([not name.endswith((".Ia", ".fv", ".fc", ".fo")) for name in robot.parameter_names])
    problem = BodyProblem(
        robot, reference.theta, np.eye(len(free)), reference, free, BodyBounds(), Inequalities.none(robot)
    )
    target = reference.theta.copy()
    places = problem.places("upper_arm_link")
    target[places[0]] -= 20.0
    target[places[1:4]] *= -2.0
    noise = 0.05 * np.std(Y @ reference.theta)
    prior = sum(
        (np.outer(row, row) for row in np.eye(len(free)) / np.maximum(abs(reference.theta), 1e-2)),
        np.zeros((len(free), len(free))),
    )
    return replace(problem, target=target, metric=Y.T @ Y / noise**2 + 0.01 * prior)


def test_the_link_that_is_not_a_body_is_the_most_expensive() -> None:
    problem = make_counterbalanced_arm()
    program, bodies = problem.program, problem.solve()
    links = find_suspicious_links(program, bodies)
    assert links[0].link == "upper_arm_link"
    assert links[0].share == pytest.approx(1.0, rel=1e-4)  # without its cone, the target itself is left
    assert [link.cost for link in links] == sorted((link.cost for link in links), reverse=True)
    other = replace(problem, target=problem.reference.theta)
    assert find_suspicious_links(other.program, other.solve()) == ()


def test_costs_are_those_of_cvxpy() -> None:
    problem = draw_problem(ytheta.load("ur10"), 0)
    bodies = problem.solve()
    links = find_suspicious_links(problem.program, bodies, max_links=3)
    assert len(links) == 3
    for link in links:
        without = problem.compute_distance(solve_by_cvxpy(problem, skip=(link.link,)))
        assert link.cost == pytest.approx(bodies.distance - without, abs=1e-5 * bodies.distance)
        assert link.share == link.cost / bodies.distance
    assert links[0].cost > 1.01 * links[-1].cost


def test_bounds_of_a_link_count_as_its_constraints() -> None:
    problem = draw_problem(ytheta.load("ur10"), 0)
    problem = replace(problem, target=problem.reference.theta, inequalities=Inequalities.none(problem.robot))
    heavy = 2.0 * float(problem.reference.pseudo["forearm_link"][3, 3])
    problem = replace(problem, bounds=BodyBounds(mass={"forearm_link": (heavy, 2.0 * heavy)}))
    bodies = problem.solve()
    (label,) = bodies.active_bounds
    assert label.startswith("mass of 'forearm_link'")
    assert find_suspicious_links(problem.program, bodies)[0].link == "forearm_link"
    assert compute_cost(problem.program, bodies, {label}) == pytest.approx(bodies.distance, rel=1e-6)
    assert compute_cost(problem.program, bodies, set()) == pytest.approx(0.0, abs=1e-6 * bodies.distance)
    everything = {constraint.label for constraint in problem.program.constraints}
    assert compute_cost(problem.program, bodies, everything) == bodies.distance
