"""Recursive least squares: the closed form, blocks and steps, a load that is grasped, rest, and misuse."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import Case, case
from ytheta.errors import InputError
from ytheta.identification.estimators.recursive import Recursive, RecursiveLeastSquares, State


@cache
def scara() -> Case:
    return case(ytheta.load("ha-scara"), 300)


def noisy() -> np.ndarray:
    return np.random.default_rng(0).normal(size=scara().tau.shape)


def run(rule: RecursiveLeastSquares, tau: np.ndarray, columns: np.ndarray | None = None) -> State:
    state = rule.init(scara().base.beta, columns)
    for Y, torque in zip(scara().Y, tau, strict=True):
        _, state = rule.step(state, Y, torque)
    return state


def closed_form(forgetting: float, tau: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted equations, stacked with those of the start, by NumPy's least squares; and the covariance."""
    weights = np.sqrt(forgetting ** np.arange(len(tau))[::-1])
    start = np.diag(columns) * np.sqrt(forgetting ** len(tau) / 1e6)
    A = np.concatenate([start, (weights[:, None, None] * scara().Y).reshape(-1, len(columns))])
    b = np.concatenate([start @ scara().base.beta, (weights[:, None] * tau).ravel()])
    return np.linalg.lstsq(A, b, rcond=None)[0], np.linalg.inv(A.T @ A)


@pytest.mark.parametrize("forgetting", [1.0, 0.98])
def test_steps_are_the_closed_form(forgetting: float) -> None:
    columns = np.linspace(0.5, 20.0, len(scara().base))
    tau = scara().tau + noisy()
    state = run(RecursiveLeastSquares(forgetting), tau, columns)
    beta, covariance = closed_form(forgetting, tau, columns)
    np.testing.assert_allclose(state.beta, beta, rtol=1e-9, atol=1e-9 * abs(beta).max())
    np.testing.assert_allclose(state.covariance, covariance, rtol=0.0, atol=1e-8 * abs(covariance).max())
    other, _ = closed_form(0.99, tau, columns)
    assert abs(state.beta - other).max() > 1e-3  # the twin


@pytest.mark.parametrize("forgetting", [1.0, 0.98])
def test_blocks_are_steps(forgetting: float) -> None:
    tau = scara().tau + noisy()
    state = run(RecursiveLeastSquares(forgetting), tau)
    for size in (64, 8192):
        found = Recursive(forgetting, initial_spread=1e6).fit(scara().problem(noisy(), size=size))
        np.testing.assert_allclose(found.beta, state.beta, rtol=1e-9, atol=1e-9 * abs(state.beta).max())
    other = Recursive(0.97, initial_spread=1e6).fit(scara().problem(noisy()))
    assert abs(other.beta - state.beta).max() > 1e-3


def test_equations_that_do_not_count() -> None:
    min_speed = np.full(4, 0.3)
    kept = abs(scara().motion.qd) >= min_speed
    rule = RecursiveLeastSquares(0.98)
    state = rule.init(scara().base.beta)
    for Y, torque, counts in zip(scara().Y, scara().tau + noisy(), kept, strict=True):
        _, state = rule.step(state, Y * counts[:, None], torque * counts)
    found = Recursive(0.98, initial_spread=1e6).fit(scara().problem(noisy(), min_speed=min_speed))
    np.testing.assert_allclose(found.beta, state.beta, rtol=1e-9, atol=1e-9 * abs(state.beta).max())


def test_a_load_is_grasped() -> None:
    """From half time on some parameters are others: who forgets finds them, who does not finds neither."""
    half = len(scara().tau) // 2
    grasped = scara().truth + np.where([name.startswith("link4") for name in scara().base.names], 0.5, 0.0)
    tau = np.concatenate([scara().Y[:half] @ scara().truth, scara().Y[half:] @ grasped])
    assert abs(run(RecursiveLeastSquares(0.9), tau).beta - grasped).max() < 0.02
    steady = run(RecursiveLeastSquares(), tau).beta
    assert abs(steady - grasped).max() > 0.05


def test_the_residual_is_that_before_the_step() -> None:
    rule = RecursiveLeastSquares()
    start = rule.init(scara().base.beta)
    residual, after = rule.step(start, scara().Y[0], scara().tau[0])
    np.testing.assert_allclose(residual, scara().tau[0] - scara().Y[0] @ scara().base.beta)
    assert np.linalg.norm(scara().tau[0] - scara().Y[0] @ after.beta) < 1e-3 * np.linalg.norm(residual)
    np.testing.assert_array_equal(start.beta, scara().base.beta)  # states are values


def test_rest_does_not_wind_up() -> None:
    """At rest nothing is learnt and the spread grows no further than allowed; afterwards all is as good as before."""
    rule = RecursiveLeastSquares(0.9, initial_spread=1e3, largest_spread=1e6)
    state = run(rule, scara().tau)
    nothing = np.zeros_like(scara().Y[0])
    for _ in range(2000):  # 0.9^-2000 is 1e91
        _, state = rule.step(state, nothing, np.zeros(4))
    assert np.diag(state.covariance).max() < 1e6 * len(state.beta) / 0.9 * 1.01
    for Y, torque in zip(scara().Y, scara().tau, strict=True):
        _, state = rule.step(state, Y, torque)
    assert abs(state.beta - scara().truth).max() < 1e-3


def test_settings() -> None:
    for wrong in (0.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="forgetting is"):
            RecursiveLeastSquares(wrong)
        with pytest.raises(InputError, match="forgetting is"):
            Recursive(wrong)
    with pytest.raises(InputError, match="positive and finite"):
        RecursiveLeastSquares(initial_spread=float("inf"))
    with pytest.raises(InputError, match="initial_spread is 0"):
        Recursive(initial_spread=0.0)
    with pytest.raises(InputError, match="sizes of columns must be positive"):
        RecursiveLeastSquares().init(np.zeros(2), np.array([1.0, 0.0]))
