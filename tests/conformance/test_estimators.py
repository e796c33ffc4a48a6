"""Requirements on every estimator: recovery, pieces and threads, unidentified parameters, covariances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import FRICTION, Case, make_case
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.estimator import ESTIMATORS, Estimate, Estimator, get_estimator
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.identification.estimators.recursive import Recursive
from ytheta.identification.estimators.sequential import Sequential

ROBOTS = ("ur10", "stanford", "panda")
every = pytest.mark.parametrize("name", ESTIMATORS)


@cache
def catalog(name: str, samples: int = 400, still: tuple[int, ...] = ()) -> Case:
    return make_case(ytheta.load(name), samples, still=still)


@cache
def with_less_gravity() -> ytheta.BaseParameters:
    robot = replace(ytheta.load("stanford"), gravity=(0.0, 0.0, -9.0))
    return ytheta.base_parameters(robot, rotor_inertia=True, friction=FRICTION)


def draw_noise(known: Case, size: float, seed: int) -> np.ndarray:
    """Return noise with a different standard deviation for each joint."""
    deviations = size * np.linspace(0.5, 2.0, known.tau.shape[1])
    return deviations * np.random.default_rng(seed).normal(size=known.tau.shape)


@every
@pytest.mark.parametrize("robot", ROBOTS)
def test_exact_data_give_exact_parameters(name: str, robot: str) -> None:
    known = catalog(robot)
    estimate = get_estimator(name).fit(known.problem())
    assert isinstance(get_estimator(name), Estimator)
    assert get_estimator(name).name == name
    assert known.error(estimate.beta) < 1e-6  # measured: 1e-12
    assert known.error(known.base.beta) > 1e-2  # the description differs
    assert estimate.unidentified.shape == (len(known.base), 0)
    np.testing.assert_allclose(estimate.degrees_of_freedom.sum(), len(known.base), rtol=1e-6)
    assert not estimate.findings


@every
def test_a_wrong_model_does_not_recover_the_parameters(name: str) -> None:
    """The twin: a model in which gravity is a twelfth smaller."""
    known = catalog("stanford")
    base = with_less_gravity()
    assert base.independent == known.base.independent
    assert known.error(get_estimator(name).fit(known.problem(base=base)).beta) > 1e-3


@every
def test_the_estimate_does_not_depend_on_pieces_and_threads(name: str) -> None:
    known = catalog("stanford")
    noise = draw_noise(known, 0.5, 1)
    noise[::17] += 20.0
    min_speed = np.full(6, 0.05)
    whole = get_estimator(name).fit(known.problem(noise, min_speed=min_speed))
    assert known.error(whole.beta) > 1e-9
    pieces = get_estimator(name).fit(known.problem(noise, min_speed=min_speed, piece_length=90, threads=2))
    assert known.error(whole.beta, pieces.beta) < 1e-9
    np.testing.assert_allclose(pieces.spread, whole.spread, rtol=1e-7, atol=1e-9 * abs(whole.spread).max())
    assert pieces.rounds == whole.rounds
    different = get_estimator(name).fit(known.problem(draw_noise(known, 0.5, 2), min_speed=min_speed))
    assert known.error(whole.beta, different.beta) > 1e-9  # the twin


@every
@pytest.mark.parametrize("robot", ["ur10", "stanford"])
def test_unidentified_parameters_keep_the_described_values(name: str, robot: str) -> None:
    """The last joint does not move: its rotor inertia and friction are not identified, and all others are right."""
    known = catalog(robot, still=(5,))
    estimate = get_estimator(name).fit(known.problem())
    last = known.base.robot.actuated[-1]
    still = [known.base.names.index(f"{last}.{p}") for p in ("Ia", "fv", "fc")]
    units = np.eye(len(known.base))[:, still]
    spanned = estimate.unidentified @ np.linalg.lstsq(estimate.unidentified, units, rcond=None)[0]
    np.testing.assert_allclose(spanned, units, atol=1e-9)
    np.testing.assert_array_equal(estimate.beta[still], known.base.beta[still])
    assert not estimate.spread[:, still].any()
    np.testing.assert_allclose(known.Y @ estimate.beta, known.tau, atol=1e-6 * abs(known.tau).max())
    assert estimate.degrees_of_freedom.sum() < len(known.base)
    moving = get_estimator(name).fit(catalog(robot).problem())
    assert moving.unidentified.shape[1] == 0
    assert moving.beta[still[0]] != known.base.beta[still[0]]


@every
def test_a_joint_without_equations_is_ignored(name: str) -> None:
    """The first joint never reaches its lowest speed; what the other joints determine is still exact."""
    known = catalog("ha-scara", 300)
    estimate = get_estimator(name).fit(known.problem(min_speed=np.array([np.inf, 0.0, 0.0, 0.0])))
    np.testing.assert_allclose((known.Y @ estimate.beta)[:, 1:], known.tau[:, 1:], atol=1e-6 * abs(known.tau).max())
    assert estimate.degrees_of_freedom[0] == 0.0
    assert np.isfinite(estimate.spread).all()
    assert not estimate.spread[0].any()
    first = known.base.names.index(f"{known.base.robot.actuated[0]}.fv")
    assert estimate.beta[first] == pytest.approx(known.base.beta[first], rel=1e-12)
    assert known.truth[first] != pytest.approx(known.base.beta[first])


def compute_pooled_chi_square(
    known: Case, fit: Callable[[EstimationProblem], Estimate], times: int, scale: float = 1.0
) -> float:
    """Return the mean of (beta - truth)ᵀ cov⁻¹ (beta - truth) per parameter over draws of noise; 1 if cov is right."""
    variances = (scale * np.linspace(0.5, 2.0, known.tau.shape[1])) ** 2
    total = 0.0
    for seed in range(times):
        estimate = fit(known.problem(draw_noise(known, 1.0, seed)))
        error = estimate.beta - known.truth
        sizes = np.sqrt(np.diag(estimate.covariance(variances)))
        whitened = np.linalg.solve(estimate.covariance(variances) / np.outer(sizes, sizes), error / sizes)
        total += float(error / sizes @ whitened)
    return total / times / len(known.base)


@every
def test_covariances_are_calibrated(name: str) -> None:
    """The pooled chi-square has 24 x 22 terms: its mean is 1, its standard deviation 0.06."""
    known = catalog("ha-scara", 300)
    assert abs(compute_pooled_chi_square(known, get_estimator(name).fit, 24) - 1.0) < 0.25
    assert (
        abs(compute_pooled_chi_square(known, get_estimator(name).fit, 4, scale=0.7) - 1.0) > 0.5
    )  # the twin: less noise than there is


@pytest.mark.parametrize("estimator", [LeastSquares(), Sequential(), Recursive(), Recursive(forgetting=0.97)])
def test_the_spread_is_that_of_a_linear_estimate(estimator: Estimator) -> None:
    """P_j = L_j L_jᵀ, where the columns of L_j are computed by changing single torques."""
    known = catalog("ha-scara", 40)
    unchanged = estimator.fit(known.problem())
    samples, joints = known.tau.shape
    for j in (0, joints - 1):
        L = np.zeros((len(known.base), samples))
        for k in range(samples):
            change = np.zeros((samples, joints))
            change[k, j] = 1.0
            L[:, k] = estimator.fit(known.problem(change)).beta - unchanged.beta
        np.testing.assert_allclose(L @ L.T, unchanged.spread[j], rtol=0.0, atol=1e-8 * abs(unchanged.spread[j]).max())
        assert (
            abs(L @ L.T - unchanged.spread[1]).max() > 1e-2 * abs(unchanged.spread[j]).max()
        )  # the twin: another joint
