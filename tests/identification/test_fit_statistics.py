"""Standard deviations and correlations of estimates, and noise after a fit, compared with random samples."""

from __future__ import annotations

import numpy as np

from ytheta.identification.fit_statistics import (
    compute_correlation,
    compute_noise,
    compute_relative_percent,
    compute_std,
)

COVARIANCE = np.array([[4.0, 1.0, 0.0], [1.0, 9.0, 0.0], [0.0, 0.0, 0.0]])


def test_correlations_are_those_of_random_samples() -> None:
    samples = np.random.default_rng(1).multivariate_normal(np.zeros(2), COVARIANCE[:2, :2], size=200_000)
    correlation, sampled = compute_correlation(COVARIANCE), np.array(np.corrcoef(samples.T))
    # The standard deviation of an estimated correlation is about 1 / sqrt(200000) = 0.0022.
    np.testing.assert_allclose(correlation[:2, :2], sampled, rtol=0.0, atol=0.01)
    assert abs(COVARIANCE[0, 1] - sampled[0, 1]) > 0.01
    assert not correlation[2].any()


def test_parameters_along_unidentified_directions_have_an_infinite_std() -> None:
    np.testing.assert_array_equal(compute_std(COVARIANCE, np.zeros((3, 0))), [2.0, 3.0, 0.0])
    np.testing.assert_array_equal(compute_std(COVARIANCE, np.array([[0.0], [0.6], [-0.8]])), [2.0, np.inf, np.inf])
    rounding = -1e-20 * np.eye(3)  # variances that rounding errors make negative
    np.testing.assert_array_equal(compute_std(rounding, np.zeros((3, 0))), np.zeros(3))


def test_noise_is_corrected_for_degrees_of_freedom() -> None:
    """A fit of 40 parameters to 100 samples of noise takes away 40 % of its power."""
    rng = np.random.default_rng(2)
    deviations = np.array([0.5, 3.0])
    fits = [rng.normal(size=(100, 40)) for _ in range(200)]
    squares = np.zeros(2)
    for Y in fits:
        noise = deviations * rng.normal(size=(100, 2))
        squares += np.sum((noise - Y @ np.linalg.lstsq(Y, noise, rcond=None)[0]) ** 2, axis=0) / len(fits)
    # 200 fits with 60 remaining samples each: a relative standard deviation of 1 / sqrt(2 * 12000) = 0.65 %.
    np.testing.assert_allclose(compute_noise(squares, np.full(2, 60.0)), deviations, rtol=0.03)
    assert (compute_noise(squares, np.full(2, 100.0)) < 0.9 * deviations).all()
    np.testing.assert_array_equal(compute_noise(np.array([4.0]), np.array([-3.0])), [2.0])  # nothing remains


def test_relative_deviations_are_in_percent() -> None:
    percent = compute_relative_percent(np.array([0.1, 0.2, np.inf]), np.array([-2.0, 0.0, 1.0]))
    np.testing.assert_allclose(percent[0], 5.0, rtol=1e-15)
    assert np.isinf(percent[1:]).all()
