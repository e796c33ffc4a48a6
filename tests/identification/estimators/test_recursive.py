"""Recursive least squares: the closed form, blocks and steps, a grasped load, rest, and bad settings."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import Case, make_case
from ytheta.errors import InputError
from ytheta.identification.estimators.recursive import Recursive, RecursiveLeastSquares, RecursiveState


@cache
def scara() -> Case:
    return make_case(ytheta.load("ha-scara"), 300)


def draw_noise() -> np.ndarray:
    return np.random.default_rng(0).normal(size=scara().tau.shape)


def run_steps(rule: RecursiveLeastSquares, tau: np.ndarray, columns: np.ndarray | None = None) -> RecursiveState:
    state = rule.init(scara().base.beta, columns)
    for Y, torque in zip(scara().Y, tau, strict=True):
        _, state = rule.step(state, Y, torque)
    return state


def solve_closed_form(forgetting: float, tau: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve the weighted equations, stacked below those of the initial values, with NumPy's least squares."""
    weights = np.sqrt(forgetting ** np.arange(len(tau))[::-1])
    start = np.diag(columns) * np.sqrt(forgetting ** len(tau) / 1e6)
    A = np.concatenate([start, (weights[:, None, None] * scara().Y).reshape(-1, len(columns))])
    b = np.concatenate([start @ scara().base.beta, (weights[:, None] * tau).ravel()])
    return np.linalg.lstsq(A, b, rcond=None)[0], np.linalg.inv(A.T @ A)


@pytest.mark.parametrize("forgetting", [1.0, 0.98])
def test_steps_give_the_closed_form(forgetting: float) -> None:
    columns = np.linspace(0.5, 20.0, len(scara().base))
    tau = scara().tau + draw_noise()
    state = run_steps(RecursiveLeastSquares(forgetting), tau, columns)
    beta, covariance = solve_closed_form(forgetting, tau, columns)
    np.testing.assert_allclose(state.beta, beta, rtol=1e-9, atol=1e-9 * abs(beta).max())
    np.testing.assert_allclose(state.covariance, covariance, rtol=0.0, atol=1e-8 * abs(covariance).max())
    other, _ = solve_closed_form(0.99, tau, columns)
    assert abs(state.beta - other).max() > 1e-3  # the twin


@pytest.mark.parametrize("forgetting", [1.0, 0.98])
def test_blocks_and_steps_give_the_same_estimate(forgetting: float) -> None:
    tau = scara().tau + draw_noise()
    state = run_steps(RecursiveLeastSquares(forgetting), tau)
    for size in (64, 8192):
        estimate = Recursive(forgetting, initial_spread=1e6).fit(scara().problem(draw_noise(), piece_length=size))
        np.testing.assert_allclose(estimate.beta, state.beta, rtol=1e-9, atol=1e-9 * abs(state.beta).max())
    other = Recursive(0.97, initial_spread=1e6).fit(scara().problem(draw_noise()))
    assert abs(other.beta - state.beta).max() > 1e-3


def test_the_spread_of_several_blocks_is_that_of_the_weighted_equations() -> None:
    """P_j = L_j L_jᵀ with L = (Yᵀ W Y)⁻¹ Yᵀ W and W = diag(0.98^age): older blocks fade by the square."""
    Y, weights = scara().Y, 0.98 ** np.arange(len(scara().Y))[::-1]
    J = np.einsum("s,sja,sjb->ab", weights, Y, Y)
    P = np.array([np.linalg.solve(J, (weights[:, None] * Y[:, j]).T) for j in range(Y.shape[1])])
    expected = P @ P.swapaxes(1, 2)
    for size in (64, 8192):
        estimate = Recursive(0.98).fit(scara().problem(piece_length=size))
        np.testing.assert_allclose(estimate.spread, expected, rtol=0.0, atol=1e-8 * abs(expected).max())
    twin = Recursive(0.99).fit(scara().problem(piece_length=64))
    assert abs(twin.spread - expected).max() > 1e-2 * abs(expected).max()


def test_equations_of_slow_joints_do_not_count() -> None:
    min_speed = np.full(4, 0.3)
    kept = abs(scara().motion.qd) >= min_speed
    rule = RecursiveLeastSquares(0.98)
    state = rule.init(scara().base.beta)
    for Y, torque, counts in zip(scara().Y, scara().tau + draw_noise(), kept, strict=True):
        _, state = rule.step(state, Y * counts[:, None], torque * counts)
    estimate = Recursive(0.98, initial_spread=1e6).fit(scara().problem(draw_noise(), min_speed=min_speed))
    np.testing.assert_allclose(estimate.beta, state.beta, rtol=1e-9, atol=1e-9 * abs(state.beta).max())


def test_forgetting_follows_a_grasped_load() -> None:
    """Some parameters change halfway. With forgetting the estimate follows; without forgetting it does not."""
    half = len(scara().tau) // 2
    grasped = scara().truth + np.where([name.startswith("link4") for name in scara().base.names], 0.5, 0.0)
    tau = np.concatenate([scara().Y[:half] @ scara().truth, scara().Y[half:] @ grasped])
    assert abs(run_steps(RecursiveLeastSquares(0.9), tau).beta - grasped).max() < 0.02
    steady = run_steps(RecursiveLeastSquares(), tau).beta
    assert abs(steady - grasped).max() > 0.05


def test_the_residual_is_computed_with_the_state_before_the_step() -> None:
    rule = RecursiveLeastSquares()
    start = rule.init(scara().base.beta)
    residual, after = rule.step(start, scara().Y[0], scara().tau[0])
    np.testing.assert_allclose(residual, scara().tau[0] - scara().Y[0] @ scara().base.beta)
    assert np.linalg.norm(scara().tau[0] - scara().Y[0] @ after.beta) < 1e-3 * np.linalg.norm(residual)
    np.testing.assert_array_equal(start.beta, scara().base.beta)  # states are values


def test_the_spread_is_bounded_at_rest() -> None:
    """At rest the spread grows to its bound; after new motion the estimate is as good as before."""
    rule = RecursiveLeastSquares(0.9, initial_spread=1e3, largest_spread=1e6)
    state = run_steps(rule, scara().tau)
    nothing = np.zeros_like(scara().Y[0])
    for _ in range(2000):  # 0.9^-2000 is 1e91
        _, state = rule.step(state, nothing, np.zeros(4))
    assert np.diag(state.covariance).max() < 1e6 * len(state.beta) / 0.9 * 1.01
    assert 1e6 < np.diag(state.covariance).mean() < 1e6 / 0.9 * 1.01  # one step beyond the bound, then no farther
    for Y, torque in zip(scara().Y, scara().tau, strict=True):
        _, state = rule.step(state, Y, torque)
    assert abs(state.beta - scara().truth).max() < 1e-3


def test_bad_settings_are_refused() -> None:
    for wrong in (0.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="forgetting is"):
            RecursiveLeastSquares(wrong)
        with pytest.raises(InputError, match="forgetting is"):
            Recursive(wrong)
    with pytest.raises(InputError, match="positive and finite"):
        RecursiveLeastSquares(initial_spread=float("inf"))
    with pytest.raises(InputError, match="positive and finite"):
        RecursiveLeastSquares(largest_spread=float("inf"))
    with pytest.raises(InputError, match="initial_spread is 0"):
        Recursive(initial_spread=0.0)
    with pytest.raises(InputError, match="sizes of columns must be positive"):
        RecursiveLeastSquares().init(np.zeros(2), np.array([1.0, 0.0]))


def test_a_prior_covariance_and_noise_variances_give_the_closed_form() -> None:
    """Two halves of a log one after the other give the estimate and the covariance of both at once."""
    rng, n = np.random.default_rng(3), len(scara().base)
    variances = np.array([0.2, 1.0, 3.0, 0.5])
    root = rng.normal(size=(n, n)) * np.linspace(0.01, 5.0, n)[:, None]
    prior, start = root @ root.T, rng.normal(size=n)
    tau = scara().tau + draw_noise()
    A = scara().Y / np.sqrt(variances)[:, None]
    J = np.linalg.inv(prior) + np.einsum("sja,sjb->ab", A, A)
    shift = np.einsum("sja,sj->a", A, (tau - scara().Y @ start) / np.sqrt(variances))
    rule = RecursiveLeastSquares()
    for columns in (None, np.linspace(0.5, 20.0, n)):
        state = rule.init(start, columns, covariance=prior, variances=variances)
        np.testing.assert_allclose(state.covariance, prior, rtol=1e-9, atol=1e-9 * abs(prior).max())
        for half in (slice(0, 150), slice(150, None)):
            state = rule.init(state.beta, columns, covariance=state.covariance, variances=variances)
            for Y, torque in zip(scara().Y[half], tau[half], strict=True):
                _, state = rule.step(state, Y, torque)
        expected = start + np.linalg.solve(J, shift)
        np.testing.assert_allclose(state.beta, expected, rtol=1e-6, atol=1e-7 * abs(expected).max())
        np.testing.assert_allclose(state.covariance, np.linalg.inv(J), rtol=0.0, atol=1e-7)
        plain = rule.init(start, columns, covariance=prior)
        for Y, torque in zip(scara().Y, tau, strict=True):
            _, plain = rule.step(plain, Y, torque)
        assert abs(plain.beta - expected).max() > 1e-4  # the twin: without the variances


def test_a_parameter_without_variance_keeps_its_value() -> None:
    n = len(scara().base)
    prior = np.diag(np.r_[0.0, np.full(n - 1, 4.0)])
    state = RecursiveLeastSquares().init(scara().base.beta + 1.0, covariance=prior)
    for Y, torque in zip(scara().Y, scara().tau, strict=True):
        _, state = RecursiveLeastSquares().step(state, Y, torque)
    assert state.beta[0] == scara().base.beta[0] + 1.0
    assert abs(state.beta[1:] - scara().base.beta[1:] - 1.0).min() > 0.0


@pytest.mark.parametrize("forgetting", [1.0, 0.95])
def test_the_covariance_stays_positive_over_many_steps(forgetting: float) -> None:
    rule = RecursiveLeastSquares(forgetting)
    state = rule.init(scara().base.beta)
    for k in range(20_000):
        _, state = rule.step(state, scara().Y[k % 300], scara().tau[k % 300])
    assert np.linalg.eigvalsh(state.covariance)[0] > 0.0
    true = np.linalg.lstsq(scara().Y.reshape(-1, len(scara().base)), scara().tau.ravel(), rcond=None)[0]
    np.testing.assert_allclose(state.beta, true, rtol=1e-8, atol=1e-8)


def test_bad_priors_are_refused() -> None:
    rule, beta = RecursiveLeastSquares(), np.zeros(3)
    skewed = np.eye(3)
    skewed[0, 1] = 0.5
    for covariance, problem in (
        (np.eye(2), "there are 3 parameters"),
        (skewed, "not symmetric"),
        (np.diag([1.0, -1.0, 1.0]), "negative eigenvalue"),
        (np.diag([1.0, np.inf, 1.0]), "not finite"),
    ):
        with pytest.raises(InputError, match=problem):
            rule.init(beta, covariance=covariance)
    for variances in (np.array([1.0, 0.0]), np.array([1.0, np.nan])):
        with pytest.raises(InputError, match="variances of the noise"):
            rule.init(beta, variances=variances)
    state = rule.init(beta)
    with pytest.raises(InputError, match="leave out this sample"):
        rule.step(state, np.ones((2, 3)), np.array([1.0, np.nan]))
