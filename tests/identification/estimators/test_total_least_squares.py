"""Total least squares: singular value decompositions, a planted bias, limits of the noise, settings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import RATE, Case, make_case
from ytheta.errors import InputError
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.form import create_form
from ytheta.identification.equations.normal_equations import JointNormalEquations, NormalEquations
from ytheta.identification.estimators.estimator import Estimator
from ytheta.identification.estimators.least_squares import Weighted
from ytheta.identification.estimators.total_least_squares import TotalLeastSquares, TotalSolution, solve_total
from ytheta.logs.preparing.motion_sources import ArraySource

TRUTH = np.array([2.0, -1.0, 0.5, 3.0])
VELOCITY_NOISE, ACCELERATION_NOISE, TORQUE_NOISE = 0.02, 1.0, 0.3


def draw_equations(seed: int, *, count: int = 400, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return W and tau with correlated noise in all columns but the last, and the covariance of a row of W."""
    rng = np.random.default_rng(seed)
    root = np.tril(rng.uniform(0.2, 1.0, (4, 4))) * (np.arange(4) < 3)[:, None]
    W = rng.normal(size=(count, 4)) * np.array([1.0, 2.0, 0.5, 1.0])
    tau = W @ TRUTH + noise * rng.normal(size=count)
    return W + noise * rng.normal(size=(count, 4)) @ root.T, tau, noise**2 * root @ root.T


def to_normal_equations(W: np.ndarray, tau: np.ndarray) -> NormalEquations:
    joint = JointNormalEquations(np.arange(4), W.T @ W, W.T @ tau, float(tau @ tau), float(len(tau)))
    return NormalEquations(4, (joint,))


def solve(W: np.ndarray, tau: np.ndarray, C: np.ndarray, variance: float | None) -> TotalSolution:
    variances = None if variance is None else np.array([variance])
    return solve_total(to_normal_equations(W, tau), (C,), variances, np.ones(1), np.array([0.3, 0.1, -2.0, 1.0]))


def solve_by_svd(W: np.ndarray, tau: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Golub and Van Loan: the right singular vector of the smallest singular value of [W tau] root⁻¹."""
    vector = np.linalg.inv(root) @ np.linalg.svd(np.column_stack([W, tau]) @ np.linalg.inv(root))[2][-1]
    return np.asarray(-vector[:-1] / vector[-1])


@pytest.mark.parametrize("seed", range(5))
def test_known_ratios_of_noise_give_the_solution_of_a_singular_value_decomposition(seed: int) -> None:
    W, tau, C = draw_equations(seed)
    C = C + 0.01 * np.eye(4)  # the decomposition below needs a regular covariance
    root = np.zeros((5, 5))
    root[:4, :4], root[4, 4] = np.linalg.cholesky(C).T, 0.3
    expected = solve_by_svd(W, tau, root)
    for factor in (1.0, 7.0):  # a common factor does not matter
        np.testing.assert_allclose(solve(W, tau, factor * C, factor * 0.09).beta, expected, rtol=1e-8)
    assert abs(solve(W, tau, C, 0.18).beta - expected).max() > 1e-4  # the twin: another ratio
    assert abs(solve_by_svd(W, tau, np.eye(5)) - expected).max() > 1e-3


def test_known_noise_of_the_regressor_is_subtracted() -> None:
    W, tau, C = draw_equations(0, count=4000)
    solution = solve(W, tau, C, None)
    assert (solution.share, solution.limited) == (1.0, False)
    np.testing.assert_allclose(solution.beta, np.linalg.solve(W.T @ W - 4000 * C, W.T @ tau), rtol=1e-9)
    np.testing.assert_allclose(solution.beta, TRUTH, atol=0.05)
    assert abs(np.linalg.lstsq(W, tau)[0] - TRUTH).max() > 0.1  # the twin: least squares


def test_noise_that_contradicts_the_residuals_is_reduced() -> None:
    """Torque noise counts as zero then; k is the lowest eigenvalue, found here by bisection."""
    W, tau, C = draw_equations(1)
    solution = solve(W, tau, 50.0 * C, None)
    M, P = np.column_stack([W, tau]), np.zeros((5, 5))
    P[:4, :4] = 400 * 50.0 * C
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.linalg.eigvalsh(M.T @ M - middle * P)[0] > 0.0 else (low, middle)
    assert solution.limited
    assert solution.share == pytest.approx(low, rel=1e-6)
    assert np.linalg.eigvalsh(M[:, :4].T @ M[:, :4] - solution.share * P[:4, :4])[0] > 0.0
    exact, exact_tau, _ = draw_equations(1, noise=0.0)
    np.testing.assert_allclose(solve(exact, exact_tau, C, None).beta, TRUTH, atol=1e-6)  # nothing is subtracted


@cache
def scara() -> Case:
    return make_case(ytheta.load("ha-scara"), 4000)


@cache
def shaken() -> Case:
    """Noise in velocities, accelerations and torques."""
    rng, motion = np.random.default_rng(0), scara().motion
    qd, qdd = (
        signal + size * rng.normal(size=signal.shape)
        for signal, size in ((motion.qd, VELOCITY_NOISE), (motion.qdd, ACCELERATION_NOISE))
    )
    return replace(
        scara(), motion=replace(motion, qd=qd, qdd=qdd, tau=scara().tau + TORQUE_NOISE * rng.normal(size=qd.shape))
    )


def compute_largest_error(estimator: Estimator) -> float:
    """Return the largest error in standard deviations."""
    estimate = estimator.fit(shaken().problem())
    residuals = shaken().tau - shaken().Y @ estimate.beta
    variances = np.square(residuals).sum(axis=0) / (len(residuals) - estimate.degrees_of_freedom)
    errors = (estimate.beta - shaken().truth) / np.sqrt(np.diag(estimate.covariance(variances)))
    return float(abs(errors[[not name.endswith(".fc") for name in shaken().base.names]]).max())


def test_a_bias_of_least_squares_is_removed() -> None:
    """Coulomb friction is left out: the sign of a noisy velocity is wrong near zero, which is no additive noise."""
    given = TotalLeastSquares(0.0, VELOCITY_NOISE, ACCELERATION_NOISE)
    assert compute_largest_error(Weighted()) > 10.0
    assert compute_largest_error(TotalLeastSquares()) < 3.0  # the noise is estimated
    assert compute_largest_error(given) < 3.0
    assert compute_largest_error(replace(given, torque_noise=TORQUE_NOISE)) < 3.0
    assert compute_largest_error(replace(given, acceleration_noise=0.5 * ACCELERATION_NOISE)) > 6.0  # the twin
    per_joint = replace(given, velocity_noise=(VELOCITY_NOISE,) * 4, torque_noise=None)
    np.testing.assert_array_equal(per_joint.fit(shaken().problem()).beta, given.fit(shaken().problem()).beta)


def test_too_much_noise_gives_findings() -> None:
    assert not TotalLeastSquares(0.0, VELOCITY_NOISE, ACCELERATION_NOISE).fit(shaken().problem()).findings
    findings = TotalLeastSquares(0.0, VELOCITY_NOISE, 10.0 * ACCELERATION_NOISE).fit(shaken().problem()).findings
    assert [finding.code for finding in findings][:1] == ["estimator"]
    assert "would cause larger residuals than there are" in findings[0].statement
    assert "use the estimator instrumental-variables or weighted" in findings[0].text


def test_other_forms_and_bad_settings_are_refused() -> None:
    form = create_form("momentum", scara().base)
    problem = EstimationProblem(form, (ArraySource(scara().motion, RATE),))
    with pytest.raises(InputError, match="needs the differential form, since the noise of the momentum form"):
        TotalLeastSquares().fit(problem)
    with pytest.raises(InputError, match="velocity_noise is -1"):
        TotalLeastSquares(velocity_noise=-1.0)
    with pytest.raises(InputError, match="torque_noise is 0"):
        TotalLeastSquares(torque_noise=0.0)
    with pytest.raises(InputError, match="rounds is 0"):
        TotalLeastSquares(rounds=0)
    with pytest.raises(InputError, match="position_noise has 3 values for 4 joints"):
        TotalLeastSquares(position_noise=(0.1, 0.1, 0.1)).fit(scara().problem())
