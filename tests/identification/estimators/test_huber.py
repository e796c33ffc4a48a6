"""Huber's estimator: gross errors, efficiency under normal noise, covariance, convergence."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import Case, make_case
from ytheta.errors import InputError
from ytheta.findings import Severity
from ytheta.identification.estimators.estimator import Estimator
from ytheta.identification.estimators.huber import Huber, estimate_scales
from ytheta.identification.estimators.least_squares import LeastSquares, Weighted


@cache
def scara() -> Case:
    return make_case(ytheta.load("ha-scara"), 400)


def draw_normal_noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=scara().tau.shape)


def draw_gross_errors(seed: int) -> np.ndarray:
    """Return noise in which 5 % of the values are replaced by errors of thirty standard deviations, of either sign."""
    rng = np.random.default_rng(1000 + seed)
    noise = draw_normal_noise(seed)
    return np.where(rng.random(noise.shape) < 0.05, rng.choice([-30.0, 30.0], noise.shape), noise)


def compute_mean_square_error(estimator: Estimator, noise: list[np.ndarray]) -> float:
    """Return the mean square error of beta, in units of the standard deviations of plain least squares."""
    reference = LeastSquares().fit(scara().problem())
    units = np.sqrt(np.diag(reference.covariance(np.ones(4))))
    errors = [(estimator.fit(scara().problem(each)).beta - scara().truth) / units for each in noise]
    return float(np.mean(np.square(errors)))


def test_gross_errors_hardly_change_the_estimate() -> None:
    noise = [draw_gross_errors(seed) for seed in range(5)]
    assert compute_mean_square_error(LeastSquares(), noise) > 20.0
    assert compute_mean_square_error(Weighted(), noise) > 20.0
    assert compute_mean_square_error(Huber(), noise) < 3.0
    assert compute_mean_square_error(Huber(bound=100.0), noise) > 20.0  # the twin: a bound that nothing reaches


def test_efficiency_under_normal_noise_is_about_95_percent() -> None:
    """The errors of both estimators are nearly equal, so that a few draws are enough."""
    noise = [draw_normal_noise(seed) for seed in range(25)]
    plain = compute_mean_square_error(LeastSquares(), noise)
    assert 0.9 < plain / compute_mean_square_error(Huber(), noise) < 1.0
    assert plain / compute_mean_square_error(Huber(bound=0.3), noise) < 0.85  # the twin: 73 %


def test_the_covariance_is_right_with_gross_errors() -> None:
    """P_j times the mean square of all residuals is the covariance of the errors."""
    ratios = []
    for seed in range(30):
        estimate = Huber().fit(scara().problem(draw_gross_errors(seed)))
        residuals = scara().tau + draw_gross_errors(seed) - scara().Y @ estimate.beta
        variances = np.square(residuals).sum(axis=0) / (len(residuals) - estimate.degrees_of_freedom)
        error = estimate.beta - scara().truth
        ratios.append(error @ np.linalg.solve(estimate.covariance(variances), error) / len(error))
    assert abs(np.mean(ratios) - 1.0) < 0.25  # the mean has a standard deviation of 0.055
    assert variances.min() > 10.0  # the twin: outliers dominate the variances that least squares would use


def test_scales_are_medians() -> None:
    noise = draw_gross_errors(1) * np.array([0.1, 1.0, 10.0, 0.0])
    problem = scara().problem(noise, min_speed=np.full(4, 0.2), piece_length=123)
    scales = estimate_scales(problem, scara().truth, np.full(4, 1e-9))
    for j in range(3):
        kept = abs(scara().motion.qd[:, j]) >= 0.2
        assert scales[j] == pytest.approx(1.4826 * np.median(abs(noise[kept, j])), rel=0.02)  # between two residuals
        assert scales[j] != pytest.approx(1.4826 * np.median(abs(noise[:, j])), rel=1e-4)
    assert scales[3] < 1e-8


def test_missing_convergence_gives_a_finding_and_bad_settings_are_refused() -> None:
    stopped = Huber(rounds=1).fit(scara().problem(draw_gross_errors(0)))
    assert stopped.rounds == 1
    (finding,) = stopped.findings
    assert (finding.code, finding.severity, finding.fields) == ("estimator", Severity.WARNING, {"rounds": 1})
    assert finding.text == "huber did not converge in 1 round; allow more rounds, or inspect the residuals"
    converged = Huber().fit(scara().problem(draw_gross_errors(0)))
    assert not converged.findings
    assert 2 < converged.rounds < 50
    longer = Huber(rounds=200)
    np.testing.assert_array_equal(longer.fit(scara().problem(draw_gross_errors(0))).beta, converged.beta)
    with pytest.raises(InputError, match="bound is 0"):
        Huber(bound=0.0)
    with pytest.raises(InputError, match="rounds is 0"):
        Huber(rounds=0)
