"""Sequential least squares: a loop over stacked equations as reference, condition (40), trees and loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled_robot
from tests.support.estimation_cases import RATE, Case, make_case, smooth_motion
from tests.support.formulation_cases import fork
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.identification.estimators.sequential import (
    Sequential,
    check_rank_condition,
    order_joints,
    propagate_noise,
    split_by_joint,
)
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.robot.robot import Robot


@pytest.fixture(scope="module")
def puma() -> Case:
    return make_case(ytheta.load("lu-puma4"), 300)


def solve_reference(known: Case, tau: np.ndarray, mask: np.ndarray, order: list[int]) -> np.ndarray:
    """Solve (38) with stacked equations and NumPy's least squares."""
    beta, solved = np.zeros(len(known.base)), np.zeros(len(known.base), dtype=bool)
    for j in order:
        U, y = known.Y[mask[:, j], j], tau[mask[:, j], j]
        own = (abs(U).max(axis=0) > 0.0) & ~solved
        beta[own] = np.linalg.lstsq(U[:, own], y - U[:, solved] @ beta[solved], rcond=None)[0]
        solved |= own
    return beta


def test_the_estimate_solves_equation_38_with_separate_samples_for_every_joint(puma: Case) -> None:
    noise = np.random.default_rng(0).normal(size=puma.tau.shape)
    min_speed = np.array([0.1, 0.3, 0.5, 0.7])
    mask = abs(puma.motion.qd) >= min_speed
    assert 0.3 < mask.mean() < 0.95
    beta = Sequential().fit(puma.problem(noise, min_speed=min_speed)).beta
    expected = solve_reference(puma, puma.tau + noise, mask, [3, 2, 1, 0])
    np.testing.assert_allclose(beta, expected, rtol=1e-9, atol=1e-9)
    all_samples = solve_reference(puma, puma.tau + noise, np.ones_like(mask), [3, 2, 1, 0])
    assert abs(beta - all_samples).max() > 1e-3  # the twin
    assert abs(beta - LeastSquares().fit(puma.problem(noise, min_speed=min_speed)).beta).max() > 1e-3


def test_the_covariance_includes_errors_of_later_joints(puma: Case) -> None:
    """Noise in the last joint alone affects all parameters."""
    problem = puma.problem()
    spread, degrees_of_freedom = propagate_noise(
        split_by_joint(problem.normal_equations(), order_joints(puma.base.robot))
    )
    np.testing.assert_array_equal(degrees_of_freedom, [4, 10, 11, 11])
    errors = []
    for seed in range(60):
        noise = np.zeros_like(puma.tau)
        noise[:, 3] = np.random.default_rng(seed).normal(size=len(noise))
        errors.append(Sequential().fit(puma.problem(noise)).beta - puma.truth)
    variances = np.mean(np.square(errors), axis=0)
    first = [puma.base.names.index(name) for name in puma.base.names if name.startswith("link2.")]
    assert (variances[first] > 0.0).all()
    ratios = variances / np.diag(spread[3])
    assert 0.8 < ratios.mean() < 1.2  # the ratios are correlated; each has a standard deviation of 0.18
    assert not (np.diag(spread[0])[first] > 0.0).any()  # the twin: errors of the first joint do not affect later joints


def test_a_joint_that_hardly_moves_does_not_fulfil_condition_40(puma: Case) -> None:
    still = make_case(puma.base.robot, 300, still=(2,))
    (finding,) = Sequential().fit(still.problem()).findings
    joint = puma.base.robot.actuated[2]
    assert finding.code == "estimator"
    assert finding.names == (joint,)
    assert finding.text.startswith(f"condition (40) fails for {joint!r}: its own equations identify ")
    assert f"{joint}.fv" in finding.text
    assert f"{joint}.fv" in finding.fields["parameters"]
    assert f"{puma.base.robot.actuated[3]}.fv" not in finding.text
    assert not Sequential().fit(puma.problem()).findings


def list_advice(case: Case) -> dict[str, str]:
    """Return for every joint whose condition (40) fails the joint that should move more."""
    findings = Sequential().fit(case.problem()).findings
    return {each.names[0]: each.remedy.removeprefix("move '").partition("'")[0] for each in findings}


@pytest.mark.parametrize("still", [(1, 2), (1, 3), (2, 3), (1, 2, 3)])
def test_the_joint_to_move_is_the_first_that_rests(puma: Case, still: tuple[int, ...]) -> None:
    """Functions of a joint's own parameters depend on the motion of all joints before it."""
    names = puma.base.robot.actuated
    advice = list_advice(make_case(puma.base.robot, 300, still=still))
    assert {names[k] for k in still} <= set(advice)
    assert {advice[names[k]] for k in still} == {names[still[0]]}


def test_a_joint_of_another_branch_is_not_the_one_to_move() -> None:
    """Each of two branches that rest must move itself; on one path, the first would be enough."""
    advice = list_advice(make_case(fork(), 300, still=(1, 2)))
    assert advice == {"slide": "slide", "swing": "swing"}


def test_other_estimators_name_the_same_joint_to_move(puma: Case) -> None:
    problem = make_case(puma.base.robot, 300, still=(1, 2)).problem()
    findings = list(check_rank_condition(problem, LeastSquares().fit(problem)))
    names = puma.base.robot.actuated
    assert {finding.names[0] for finding in findings} >= {names[1], names[2]}
    assert {finding.remedy for finding in findings} == {f"move {names[1]!r} more"}


def make_random_problem(robot: Robot) -> tuple[EstimationProblem, np.ndarray]:
    """Return motion of a robot with torques from its regressor and a random beta, and this beta."""
    base = ytheta.base_parameters(robot, rotor_inertia=True, friction=("viscous", "coulomb"))
    motion = smooth_motion(len(robot.actuated), 300)
    home_coordinates = dict(zip(robot.coordinates, robot.home_coordinates, strict=True))
    home = np.array([home_coordinates[name] for name in robot.actuated])
    size = 0.2 if robot.loops else 1.0
    motion = replace(motion, q=home + size * motion.q, qd=size * motion.qd, qdd=size * motion.qdd)
    form = Differential(base)
    beta = np.random.default_rng(5).normal(size=len(base))
    tau = form.kernel(motion.q, motion.qd, motion.qdd) @ beta
    return EstimationProblem(form, (ArraySource(replace(motion, tau=tau), RATE),)), beta


@pytest.mark.parametrize("robot", [fork(), coupled_robot()], ids=["fork", "coupled"])
def test_branches_and_couplings_are_accepted(robot: Robot) -> None:
    problem, beta = make_random_problem(robot)
    estimate = Sequential().fit(problem)
    assert not estimate.findings
    np.testing.assert_allclose(estimate.beta, beta, rtol=1e-7, atol=1e-7)
    assert abs(estimate.beta - problem.base.beta).max() > 0.1


def test_loops_are_accepted() -> None:
    """The equations are not triangular: the second motor solves for all parameters that the first has not."""
    problem, beta = make_random_problem(ytheta.load("five-bar"))
    estimate = Sequential().fit(problem)
    np.testing.assert_array_equal(estimate.degrees_of_freedom, [5.0, 16.0])
    assert not estimate.findings
    np.testing.assert_allclose(estimate.beta, beta, rtol=1e-7, atol=1e-7)


def test_joints_at_the_tips_come_first() -> None:
    robot = ytheta.load("stanford")
    assert order_joints(robot) == [5, 4, 3, 2, 1, 0]
    shuffled = replace(robot, actuated=("joint6", "joint1", "joint3", "joint2", "joint5", "joint4"))
    assert [shuffled.actuated[k] for k in order_joints(shuffled)] == [f"joint{k}" for k in (6, 5, 4, 3, 2, 1)]
    assert [coupled_robot().actuated[k] for k in order_joints(coupled_robot())][:2] == ["m6", "joint5"]
