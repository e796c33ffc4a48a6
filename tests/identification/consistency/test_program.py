"""The cone program: its coordinates give the distance, and its constraints those of the problem."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.body_problems import BodyProblem, add_bounds, draw_problem, make_pseudo


def get_problem() -> BodyProblem:
    return add_bounds(draw_problem(ytheta.load("ur10"), 0))


def test_coordinates_give_the_distance() -> None:
    problem = get_problem()
    free = np.array([not name.startswith("wrist_1") for name in problem.robot.parameter_names])
    problem = replace(problem, free=free, target=np.where(free, problem.target, problem.reference.theta))
    program = problem.program
    v = np.random.default_rng(0).normal(size=free.sum())
    theta = program.compute_theta(v)
    assert (theta[~free] == problem.target[~free]).all()
    assert program.compute_distance(v) == pytest.approx(problem.compute_distance(theta), rel=1e-9)
    assert program.compute_distance(v) == pytest.approx(0.5 * v @ v, rel=1e-12)
    assert set(program.scales) == set(problem.reference.pseudo) - {"wrist_1_link"}


def test_slacks_are_those_of_the_bodies() -> None:
    problem = get_problem()
    program, v = problem.program, np.random.default_rng(1).normal(size=len(problem.target))
    theta = program.compute_theta(v)
    by_label = {constraint.label: constraint for constraint in program.constraints}
    for link, P0 in problem.reference.pseudo.items():
        P = make_pseudo(theta, problem.places(link))
        smallest = np.linalg.eigvals(np.linalg.solve(P0, P)).real.min()  # the largest e with P >= e P0
        slack = by_label[f"body of {link!r}"].cone.compute_slack(v)
        assert slack == pytest.approx(smallest - problem.margin, rel=1e-6)
    for group in program.groups:
        slack = by_label[group.label].cone.compute_slack(v)
        assert np.sign(slack) == np.sign((group.rows @ theta - group.lower).min())


def test_constraints_are_dropped_by_label() -> None:
    program = get_problem().program
    label = "body of 'forearm_link'"
    fewer = program.without({label, "elbow_joint.fv >= 0"})
    assert {c.label for c in program.constraints} - {c.label for c in fewer.constraints} == {
        label,
        "elbow_joint.fv >= 0",
    }
    assert len(fewer.groups) == len(program.groups) - 1
    assert fewer.compute_distance(fewer.solve().v) < program.compute_distance(program.solve().v)
