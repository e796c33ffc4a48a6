"""Minimum of bounded variables against SciPy's L-BFGS-B."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize, rosen, rosen_der, rosen_hess

from ytheta.identification.priors.evidence import MAX_TRIALS, minimize_within_bounds

DIMENSION = 5


def evaluate_rosenbrock(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    return float(rosen(x)), np.asarray(rosen_der(x)), np.asarray(rosen_hess(x))


def evaluate_quadratic(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """A quadratic function whose curvatures differ by a factor of 1e6."""
    curvature = np.logspace(-3.0, 3.0, len(x))
    offset = x - np.linspace(-2.0, 2.0, len(x))
    return float(0.5 * offset @ (curvature * offset)), curvature * offset, np.diag(curvature)


def evaluate_coupled(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """A quadratic function whose variables depend on each other; its minimum is beyond the bounds."""
    H = 10.0 * np.eye(len(x)) + 9.9 * (1.0 - np.eye(len(x)))
    offset = x - np.resize([-4.0, 1.0, 2.5], len(x))
    return float(0.5 * offset @ H @ offset), H @ offset, H


def test_coupled_variables_do_not_stop_at_a_bound() -> None:
    lower, upper = np.full(2, -2.0), np.full(2, 2.0)
    value, x = minimize_within_bounds(evaluate_coupled, np.array([2.0, 1.0]), lower, upper)
    assert value == pytest.approx(0.398, abs=1e-3)
    np.testing.assert_allclose(x, [-2.0, -0.98], atol=1e-6)
    assert evaluate_coupled(np.array([-2.0, 1.0]))[0] == pytest.approx(20.0)  # the twin: only the first has moved


@pytest.mark.parametrize("seed", range(40))
def test_random_quadratics_have_the_minimum_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(DIMENSION, DIMENSION))
    H, center = root @ root.T + 0.01 * np.eye(DIMENSION), 3.0 * rng.normal(size=DIMENSION)
    lower, upper = np.full(DIMENSION, -2.0), np.full(DIMENSION, 2.0)

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        return float(0.5 * (x - center) @ H @ (x - center)), H @ (x - center), H

    value, _ = minimize_within_bounds(evaluate, rng.uniform(-2.0, 2.0, DIMENSION), lower, upper)
    L = np.linalg.cholesky(H).T
    assert value == pytest.approx(lsq_linear(L, L @ center, (lower, upper), tol=1e-14).cost, abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("evaluate", [evaluate_rosenbrock, evaluate_quadratic])
@pytest.mark.parametrize("bound", [0.5, 1.5, 10.0])  # active at all, some and none of the variables
def test_minimum_is_that_of_scipy(
    evaluate: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]], bound: float
) -> None:
    rng = np.random.default_rng(0)
    lower, upper = np.full(DIMENSION, -bound), np.full(DIMENSION, bound)
    for _ in range(3):
        start = rng.uniform(-0.5, 1.5, DIMENSION)
        value, x = minimize_within_bounds(evaluate, start, lower, upper)
        expected = minimize(  # type: ignore[call-overload]  # its stubs do not know arrays of any shape
            lambda x: evaluate(x)[0],
            start,
            jac=lambda x: evaluate(x)[1],
            method="L-BFGS-B",
            bounds=list(zip(lower.tolist(), upper.tolist(), strict=True)),
            tol=1e-14,
        )
        assert value == pytest.approx(expected.fun, abs=1e-6)
        np.testing.assert_allclose(x, expected.x, atol=2e-2)  # the flattest curvature is 1e-3
        assert (x >= lower).all()
        assert (x <= upper).all()
        assert evaluate(np.clip(start, lower, upper))[0] > expected.fun + 0.1  # the twin: the start itself


def test_a_start_at_the_minimum_stays_there() -> None:
    lower, upper = np.array([0.0, -1.0]), np.array([2.0, 1.0])

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        return float(x[0] + x[1] ** 2), np.array([1.0, 2.0 * x[1]]), np.diag([0.0, 2.0])

    value, x = minimize_within_bounds(evaluate, np.array([-3.0, 0.0]), lower, upper)
    assert (value, x.tolist()) == (0.0, [0.0, 0.0])
    value, x = minimize_within_bounds(evaluate, np.array([2.0, 1.0]), lower, upper)  # the twin: it moves
    np.testing.assert_allclose(x, [0.0, 0.0], atol=1e-4)


def test_the_second_trial_is_at_the_minimum_of_the_parabola() -> None:
    """Value 0 and slope -1 at 0, and value 0.25 at 1: the parabola through them has its minimum at 0.4."""
    places: list[float] = []

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        places.append(float(x[0]))
        value, slope = {0.0: (0.0, -1.0), 1.0: (0.25, 1.5)}.get(places[-1], (-1.0, 0.0))
        return value, np.array([slope]), np.eye(1)

    minimize_within_bounds(evaluate, np.zeros(1), np.full(1, -10.0), np.full(1, 10.0))
    assert places == pytest.approx([0.0, 1.0, 0.4])


def test_a_direction_in_vain_ends_the_search() -> None:
    """The gradient is wrong: no trial along it is lower, and it is not tried a second time."""
    count = 0

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        nonlocal count
        count += 1
        return float(abs(x[0])), np.array([-1.0]), np.eye(1)

    assert minimize_within_bounds(evaluate, np.zeros(1), np.full(1, -10.0), np.full(1, 10.0)) == (0.0, np.zeros(1))
    assert count == 1 + MAX_TRIALS
