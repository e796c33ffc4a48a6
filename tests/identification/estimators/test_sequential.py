"""Joint by joint against a plain loop over stacked equations; own data points; what fails (40); any tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.driven_robots import coupled
from tests.support.estimation_cases import RATE, Case, case, smooth
from tests.support.formulation_cases import fork
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.motion_sources import ArraySource
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.identification.estimators.sequential import Sequential, chained, joint_order, propagated
from ytheta.robot.robot import Robot


@pytest.fixture(scope="module")
def puma() -> Case:
    return case(ytheta.load("lu-puma4"), 300)


def by_hand(known: Case, tau: np.ndarray, kept: np.ndarray, order: list[int]) -> np.ndarray:
    """(38) as it stands, with stacked equations and NumPy's least squares."""
    beta, solved = np.zeros(len(known.base)), np.zeros(len(known.base), dtype=bool)
    for j in order:
        U, y = known.Y[kept[:, j], j], tau[kept[:, j], j]
        own = (abs(U).max(axis=0) > 0.0) & ~solved
        beta[own] = np.linalg.lstsq(U[:, own], y - U[:, solved] @ beta[solved], rcond=None)[0]
        solved |= own
    return beta


def test_it_is_38_with_data_points_of_its_own_for_every_joint(puma: Case) -> None:
    noise = np.random.default_rng(0).normal(size=puma.tau.shape)
    min_speed = np.array([0.1, 0.3, 0.5, 0.7])
    kept = abs(puma.motion.qd) >= min_speed
    assert 0.3 < kept.mean() < 0.95
    found = Sequential().fit(puma.problem(noise, min_speed=min_speed)).beta
    expected = by_hand(puma, puma.tau + noise, kept, [3, 2, 1, 0])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    everything = by_hand(puma, puma.tau + noise, np.ones_like(kept), [3, 2, 1, 0])
    assert abs(found - everything).max() > 1e-3  # the twin
    assert abs(found - LeastSquares().fit(puma.problem(noise, min_speed=min_speed)).beta).max() > 1e-3


def test_errors_of_later_joints_count(puma: Case) -> None:
    """Noise in the last joint alone reaches all parameters; without what is handed on the covariance is too small."""
    problem = puma.problem()
    spread, used = propagated(chained(problem.sums(), joint_order(puma.base.robot)))
    np.testing.assert_array_equal(used, [4, 10, 11, 11])
    wrong = []
    for seed in range(60):
        noise = np.zeros_like(puma.tau)
        noise[:, 3] = np.random.default_rng(seed).normal(size=len(noise))
        wrong.append(Sequential().fit(puma.problem(noise)).beta - puma.truth)
    variances = np.mean(np.square(wrong), axis=0)
    first = [puma.base.names.index(name) for name in puma.base.names if name.startswith("link2.")]
    assert (variances[first] > 0.0).all()
    ratios = variances / np.diag(spread[3])
    assert 0.8 < ratios.mean() < 1.2  # entries are correlated; each has a deviation of 0.18
    assert not (np.diag(spread[0])[first] > 0.0).any()  # and nothing goes the other way


def test_a_joint_that_hardly_moves_fails_40(puma: Case) -> None:
    still = case(puma.base.robot, 300, still=(2,))
    found = Sequential().fit(still.problem())
    assert len(found.notes) == 1
    joint = puma.base.robot.actuated[2]
    assert found.notes[0].startswith(f"(40) fails for {joint!r}: its own equations show ")
    assert f"{joint}.fv" in found.notes[0]
    assert f"{puma.base.robot.actuated[3]}.fv" not in found.notes[0]
    assert not Sequential().fit(puma.problem()).notes


def linear(robot: Robot) -> tuple[EstimationProblem, np.ndarray]:
    """Torques from the regressor itself, of any beta."""
    base = ytheta.base_parameters(robot, rotor_inertia=True, friction=("viscous", "coulomb"))
    motion = smooth(len(robot.actuated), 300)
    at_home = dict(zip(robot.coordinates, robot.home_coordinates, strict=True))
    home = np.array([at_home[name] for name in robot.actuated])
    size = 0.2 if robot.loops else 1.0
    motion = replace(motion, q=home + size * motion.q, qd=size * motion.qd, qdd=size * motion.qdd)
    form = Differential(base)
    beta = np.random.default_rng(5).normal(size=len(base))
    tau = form.kernel(motion.q, motion.qd, motion.qdd) @ beta
    return EstimationProblem(form, (ArraySource(replace(motion, tau=tau), RATE),)), beta


@pytest.mark.parametrize("robot", [fork(), coupled()], ids=["fork", "coupled"])
def test_branches_and_couplings(robot: Robot) -> None:
    problem, beta = linear(robot)
    found = Sequential().fit(problem)
    assert not found.notes
    np.testing.assert_allclose(found.beta, beta, rtol=1e-7, atol=1e-7)
    assert abs(found.beta - problem.base.beta).max() > 0.1


def test_loops() -> None:
    """Nothing is triangular here: one motor's own are all but what the other has solved before it."""
    problem, beta = linear(ytheta.load("five-bar"))
    found = Sequential().fit(problem)
    np.testing.assert_array_equal(found.used, [5.0, 19.0])
    assert not found.notes
    np.testing.assert_allclose(found.beta, beta, rtol=1e-7, atol=1e-7)


def test_the_order_is_that_of_the_tree() -> None:
    robot = ytheta.load("stanford")
    assert joint_order(robot) == [5, 4, 3, 2, 1, 0]
    shuffled = replace(robot, actuated=("joint6", "joint1", "joint3", "joint2", "joint5", "joint4"))
    assert [shuffled.actuated[k] for k in joint_order(shuffled)] == [f"joint{k}" for k in (6, 5, 4, 3, 2, 1)]
    assert [coupled().actuated[k] for k in joint_order(coupled())][:2] == ["m6", "joint5"]
