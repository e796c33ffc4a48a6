"""The nearest bodies: the same as cvxpy finds, accepted by MuJoCo, independent of units and frames."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest

import ytheta
from tests.support.body_problems import (
    BodyProblem,
    add_bounds,
    draw_problem,
    make_pseudo,
    make_units,
    simulate_regressor,
    solve_by_cvxpy,
)
from tests.support.forced_robots import SPRING, with_forces
from ytheta.errors import InputError, UnknownNameError
from ytheta.identification.consistency.bounds import BodyBounds, Inequalities
from ytheta.identification.consistency.nearest import MARGIN, find_nearest_bodies
from ytheta.identification.consistency.reference import make_plausible_reference
from ytheta.robot.frame import Frame
from ytheta.robot.inertia import Inertia, transport_matrix
from ytheta.robot.kinematics import change_link_frames
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.parameters import with_theta
from ytheta.robot.robot import Robot

NAMES = ("lu-two-link", "ur10", "five-bar", "stanford")


@cache
def get_problem(name: str, seed: int, *, bounded: bool = False) -> BodyProblem:
    problem = draw_problem(ytheta.load(name), seed)
    return add_bounds(problem) if bounded else problem


def loads_in_mujoco(robot: Robot) -> bool:
    try:
        mujoco.MjModel.from_xml_string(to_mjcf(robot.numeric.merged, drives=True))
    except (ValueError, InputError):
        return False
    return True


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_cvxpy_finds_the_same_bodies(name: str, bounded: bool) -> None:
    for seed in range(2):
        problem = get_problem(name, seed, bounded=bounded)
        bodies, peer = problem.solve(), solve_by_cvxpy(problem)
        assert bodies.converged
        assert bodies.repaired == ()
        assert bodies.violation < 1e-14
        np.testing.assert_allclose(bodies.distance, problem.compute_distance(bodies.theta), rtol=1e-6)
        np.testing.assert_allclose(bodies.distance, problem.compute_distance(peer), rtol=1e-6)
        difference = bodies.theta - peer  # of a strongly convex program: the root of the relative gap
        assert difference @ problem.metric @ difference < 1e-6 * bodies.distance


@pytest.mark.parametrize("name", NAMES)
def test_cvxpy_finds_other_bodies_for_another_problem(name: str) -> None:
    problem = get_problem(name, 0)
    bodies = problem.solve()
    smaller = problem.compute_distance(solve_by_cvxpy(problem, skip=bodies.active_links[:1]))
    assert smaller < (1.0 - 1e-4) * bodies.distance
    assert problem.compute_distance(solve_by_cvxpy(problem, margin=0.1)) > (1.0 + 1e-4) * bodies.distance


@cache
def fit_poor_data(name: str) -> tuple[BodyProblem, np.ndarray, np.ndarray]:
    """A least-squares estimate from few noisy samples with a weak prior; the true parameters, and new motion."""
    robot, Y = simulate_regressor(name, 1, 25)
    reference = make_plausible_reference(robot)
    truth = reference.theta.copy()
    rng = np.random.default_rng(2)
    noise = 0.05 * np.std(Y @ truth)
    prior = np.diag(make_units(reference, robot) ** -2) * 1e-4
    free = np.array([not name.endswith((".Ia", ".fv", ".fc", ".fo")) for name in robot.parameter_names])
    H = (Y.T @ Y) / noise**2 + prior
    target = truth.copy()
    error = Y.T @ (noise * rng.normal(size=len(Y))) / noise**2
    target[free] += np.linalg.solve(H[np.ix_(free, free)], error[free])
    problem = BodyProblem(robot, target, H, reference, free, BodyBounds(), Inequalities.none(robot))
    return problem, truth, simulate_regressor(name, 7, 100)[1]


@pytest.mark.parametrize("name", ["ur10", "panda"])
def test_planted_inconsistent_estimates_become_bodies(name: str) -> None:
    problem, truth, Y = fit_poor_data(name)
    estimate = with_theta(problem.robot, problem.target)
    assert sum(not consistency for consistency in estimate.consistency.values()) >= 2
    assert not loads_in_mujoco(estimate)
    bodies = problem.solve()
    robot = with_theta(problem.robot, bodies.theta)
    assert {robot.consistency[link].reason for link in problem.reference.pseudo} == {"physically consistent"}
    assert loads_in_mujoco(robot)
    assert set(bodies.active_links) <= set(problem.reference.pseudo)
    assert (bodies.theta[~problem.free] == problem.target[~problem.free]).all()
    # Bodies contain the truth, so that the projection onto them reduces the error in the metric, and on new motion.
    error = problem.target - truth, bodies.theta - truth
    assert error[1] @ problem.metric @ error[1] < error[0] @ problem.metric @ error[0]
    assert np.linalg.norm(Y @ error[1]) < 1.1 * np.linalg.norm(Y @ error[0])


@pytest.mark.parametrize("name", ["ur10", "panda"])
def test_without_the_cone_of_a_link_it_is_not_a_body(name: str) -> None:
    problem, *_ = fit_poor_data(name)
    link = problem.solve().active_links[0]
    program = problem.program.without({f"body of {link!r}"})
    theta = program.compute_theta(program.solve().v)
    assert not with_theta(problem.robot, theta).consistency[link]
    assert np.linalg.eigvalsh(make_pseudo(theta, problem.places(link)))[0] < 0.0


def test_a_target_of_bodies_is_returned_as_it_is() -> None:
    problem = get_problem("ur10", 0)
    problem = replace(problem, target=problem.reference.theta)
    bodies = problem.solve()
    assert (bodies.theta == problem.target).all()
    assert (bodies.distance, bodies.iterations, bodies.active) == (0.0, 0, ())


def test_fixed_parameters_keep_their_values() -> None:
    robot = ytheta.load("ur10").with_load(Inertia()).numeric
    problem = draw_problem(robot, 0)
    target = problem.target.copy()
    target[problem.places("load")] = 0.0
    fixed = {"load", "wrist_1_link"}
    free = np.array([name.rpartition(".")[0] not in fixed for name in robot.parameter_names])
    problem = replace(problem, free=free, target=target)
    bodies = problem.solve()
    assert (bodies.theta[~free] == target[~free]).all()
    assert (bodies.theta[free] != target[free]).any()
    names = tuple(name for name, is_free in zip(robot.parameter_names, free, strict=True) if is_free)
    again = find_nearest_bodies(
        robot, target, problem.metric, reference=problem.reference, free=names, inequalities=problem.inequalities
    )
    assert (again.theta == bodies.theta).all()
    learnt = replace(problem, free=np.ones(len(free), dtype=bool)).solve()
    load = Inertia(tuple(learnt.theta[problem.places("load")].tolist()))
    assert load.mass > 0.0
    assert load.consistency().reason == "physically consistent"


def test_a_link_with_some_free_parameters_is_a_body() -> None:
    problem = get_problem("ur10", 0)
    target = problem.reference.theta.copy()
    places = problem.places("forearm_link")
    free = np.zeros(len(target), dtype=bool)
    free[places[:4]] = True  # mass and first moments; the inertia about the origin is fixed
    target[places[1:4]] += 5.0
    problem = replace(problem, target=target, free=free)
    bodies = problem.solve()
    np.testing.assert_allclose(bodies.distance, problem.compute_distance(solve_by_cvxpy(problem)), rtol=1e-6)
    assert with_theta(problem.robot, bodies.theta).consistency["forearm_link"]
    assert not with_theta(problem.robot, target).consistency["forearm_link"]


@pytest.mark.parametrize("factor", [1e-10, 1e10])
def test_the_unit_of_the_metric_does_not_matter(factor: float) -> None:
    problem = get_problem("ur10", 1)
    bodies = problem.solve()
    other = replace(problem, metric=factor * problem.metric).solve()
    assert other.converged
    np.testing.assert_allclose(other.distance, factor * bodies.distance, rtol=1e-6)
    difference = other.theta - bodies.theta
    assert difference @ problem.metric @ difference < 1e-5 * bodies.distance


def test_the_frames_of_the_links_do_not_matter() -> None:
    problem = get_problem("ur10", 0)
    frames = {link: Frame.turn((0.6, 0.0, 0.8), 0.7) @ Frame.shift(0.3, -0.2, 0.1) for link in problem.reference.pseudo}
    robot = change_link_frames(problem.robot, frames)
    T = np.eye(len(problem.target))
    for link, frame in frames.items():
        places = problem.places(link)
        T[np.ix_(places, places)] = transport_matrix(frame.inverse())
    back = np.linalg.inv(T)
    reference = make_plausible_reference(robot)
    # The description is the same in both frames, and so are its floors.
    np.testing.assert_allclose(reference.theta, T @ problem.reference.theta, rtol=1e-9, atol=1e-12)
    moved = replace(
        problem, robot=robot, target=T @ problem.target, metric=back.T @ problem.metric @ back, reference=reference
    )
    bodies = problem.solve()
    np.testing.assert_allclose(moved.solve().distance, bodies.distance, rtol=1e-6)


def test_bounds_and_inequalities_hold_exactly() -> None:
    problem = get_problem("ur10", 0, bounded=True)
    bodies = problem.solve()
    names = problem.robot.parameter_names
    theta = dict(zip(names, bodies.theta, strict=True))
    for link, (low, high) in problem.bounds.mass.items():
        assert low <= theta[f"{link}.m"] <= high
        lower, upper = (np.array(corner) for corner in problem.bounds.center[link])
        center = np.array([theta[f"{link}.m{axis}"] for axis in "xyz"]) / theta[f"{link}.m"]
        assert (center >= lower - 1e-12).all()
        assert (center <= upper + 1e-12).all()
    assert all(value >= 0.0 for name, value in theta.items() if name.endswith((".Ia", ".fv", ".fc")))
    assert any(label.startswith("mass of") for label in bodies.active_bounds)
    assert any(label.endswith(".fv >= 0") for label in bodies.active_bounds)
    free = get_problem("ur10", 0).solve()
    assert free.distance < bodies.distance
    assert not any(label.startswith("mass of") for label in free.active_bounds)


def test_an_exact_mass_is_possible() -> None:
    problem = get_problem("ur10", 0)
    mass = 1.3 * float(problem.reference.pseudo["forearm_link"][3, 3])
    bodies = replace(problem, bounds=BodyBounds(mass={"forearm_link": (mass, mass)})).solve()
    np.testing.assert_allclose(bodies.theta[problem.places("forearm_link")[0]], mass, rtol=1e-12)


def test_directions_without_cost_are_drawn_to_the_reference() -> None:
    robot = ytheta.load("ur10").numeric
    base = ytheta.base_parameters(robot)
    reference, rng = make_plausible_reference(robot), np.random.default_rng(0)
    beta = base.K @ reference.theta
    target = reference.theta + (np.eye(len(reference.theta)) - np.linalg.pinv(base.K) @ base.K) @ rng.normal(
        size=len(reference.theta)
    )
    np.testing.assert_allclose(base.K @ target, beta, rtol=1e-9, atol=1e-9)
    assert not all(with_theta(robot, target).consistency.values())
    free = np.array([name in base.selected for name in robot.parameter_names])
    target = np.where(free, target, reference.theta)
    bodies = find_nearest_bodies(robot, target, 1e4 * base.K.T @ base.K, reference=reference, free=free)
    np.testing.assert_allclose(bodies.theta, reference.theta, rtol=1e-3, atol=1e-3)
    assert bodies.distance < 1e-8


def test_declared_forces_are_free_numbers() -> None:
    robot = with_forces(ytheta.load("lu-puma4").numeric, SPRING)
    problem = draw_problem(robot, 3)
    peer = solve_by_cvxpy(problem)
    np.testing.assert_allclose(problem.solve().distance, problem.compute_distance(peer), rtol=1e-6)
    alone = replace(
        problem,
        inequalities=Inequalities.none(robot),
        free=np.array([name == "spring.k" for name in robot.parameter_names]),
    )
    assert (alone.solve().theta == problem.target).all()


def test_wrong_arguments() -> None:
    problem = get_problem("ur10", 0)
    with pytest.raises(InputError, match="must be finite numbers"):
        replace(problem, target=np.where(np.arange(84) == 3, np.nan, problem.target)).solve()
    with pytest.raises(InputError, match="margin is 0; give a number between 0 and 1"):
        replace(problem, margin=0.0).solve()
    with pytest.raises(InputError, match="not positive semidefinite"):
        replace(problem, metric=-problem.metric + 2.0 * np.diag(np.diag(problem.metric))).solve()
    with pytest.raises(UnknownNameError, match=r"no parameter 'forearm.m'.*did you mean"):
        find_nearest_bodies(
            problem.robot, problem.target, problem.metric, reference=problem.reference, free=("forearm.m",)
        )
    assert 0.0 < MARGIN < 0.01
