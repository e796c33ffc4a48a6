"""Repair of solutions that are outside the constraints by the tolerance of a solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.body_problems import BodyProblem, add_bounds, draw_problem, make_units
from ytheta.errors import InputError
from ytheta.identification.consistency.bounds import BodyBounds, Inequalities
from ytheta.identification.consistency.nearest import compute_violation, repair_bodies, satisfy_linear_constraints
from ytheta.robot.parameters import with_theta


def get_problem() -> BodyProblem:
    return add_bounds(draw_problem(ytheta.load("ur10"), 0))


def test_links_outside_their_cone_become_bodies() -> None:
    problem = get_problem()
    program, theta = problem.program, problem.reference.theta.copy()
    places = problem.places("forearm_link")
    theta[places[4:]] *= -1.0
    assert not with_theta(problem.robot, theta).consistency["forearm_link"]
    mended, links = repair_bodies(program, theta)
    assert links == ("forearm_link",)
    assert with_theta(problem.robot, mended).consistency["forearm_link"]
    smallest = program.scales["forearm_link"].compute_smallest_eigenvalue(mended[places])
    assert smallest == pytest.approx(0.5 * problem.margin, rel=1e-6)
    others = np.setdiff1d(np.arange(len(theta)), places)
    assert (mended[others] == theta[others]).all()
    same, links = repair_bodies(program, problem.reference.theta)
    assert (same == problem.reference.theta).all()
    assert links == ()


def test_a_link_whose_fixed_parameters_no_body_has() -> None:
    problem = get_problem()
    theta = problem.reference.theta.copy()
    places = problem.places("forearm_link")
    theta[places[4:]] *= -1.0
    free = problem.free.copy()
    free[places[4:]] = False
    problem = replace(problem, free=free, target=theta)
    with pytest.raises(InputError, match="no body for link 'forearm_link' of robot 'ur10'"):
        repair_bodies(problem.program, theta)


def test_small_violations_of_bounds_are_removed() -> None:
    problem = get_problem()
    program, rng = problem.program, np.random.default_rng(0)
    units = make_units(problem.reference, problem.robot)
    theta = problem.solve().theta + 1e-7 * units * rng.normal(size=len(units))
    assert compute_violation(program, theta) > 1e-9
    mended = satisfy_linear_constraints(program, theta)
    assert compute_violation(program, mended) < 1e-14
    assert (abs(mended - theta) < 1e-5 * units).all()
    for name, value in zip(problem.robot.parameter_names, mended, strict=True):
        if name.endswith((".Ia", ".fv", ".fc")):
            assert value >= 0.0
            assert not np.signbit(value)


def test_fixed_parameters_are_not_repaired() -> None:
    problem = get_problem()
    free = np.array([not name.endswith(".fv") for name in problem.robot.parameter_names])
    problem = replace(problem, free=free, target=np.where(free, problem.target, 0.1))
    theta = np.where(free, problem.reference.theta, -1e-3)
    assert (satisfy_linear_constraints(problem.program, theta)[~free] == -1e-3).all()


def test_projections_change_the_parameters_of_their_row_by_their_units() -> None:
    problem = replace(get_problem(), bounds=BodyBounds())
    names = problem.robot.parameter_names
    fv, fc = names.index("elbow_joint.fv"), names.index("elbow_joint.fc")
    rows = np.zeros((2, len(names)))
    rows[0, [fv, fc]], rows[1, names.index("elbow_joint.Ia")] = (2.0, 1.0), 4.0
    inequalities = Inequalities(rows, np.array([0.3, 2.0]), ("friction at 2 rad/s", "rotor"))
    program = replace(problem, inequalities=inequalities).program
    theta = np.zeros(len(names))
    change = satisfy_linear_constraints(program, theta)
    assert change[names.index("elbow_joint.Ia")] == 0.5
    assert 2.0 * change[fv] + change[fc] == pytest.approx(0.3, rel=1e-14)
    ratio = 2.0 * program.units[fv] ** 2 / program.units[fc] ** 2  # the nearest point, relative to the units
    assert change[fv] / change[fc] == pytest.approx(ratio, rel=1e-12)
    assert np.count_nonzero(change) == 3
    assert compute_violation(program, theta) == pytest.approx(1.0)  # relative to terms and bound
    assert compute_violation(program, 0.5 * change) == pytest.approx(1.0 / 3.0, rel=1e-12)
