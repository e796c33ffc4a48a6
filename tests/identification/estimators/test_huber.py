"""Huber's estimator: gross errors, efficiency without them, its covariance, and what it says when it is not done."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import Case, case
from ytheta.errors import InputError
from ytheta.identification.estimators.estimate import Estimator
from ytheta.identification.estimators.huber import Huber, _scales
from ytheta.identification.estimators.least_squares import LeastSquares
from ytheta.identification.estimators.weighted import Weighted


@cache
def scara() -> Case:
    return case(ytheta.load("ha-scara"), 400)


def normal(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=scara().tau.shape)


def gross(seed: int) -> np.ndarray:
    """Noise with 5 % of the torques off by thirty times its size, to either side."""
    rng = np.random.default_rng(1000 + seed)
    noise = normal(seed)
    return np.where(rng.random(noise.shape) < 0.05, rng.choice([-30.0, 30.0], noise.shape), noise)


def squares(estimator: Estimator, noise: list[np.ndarray]) -> float:
    """Mean square error, every parameter in units of its deviation under plain least squares."""
    reference = LeastSquares().fit(scara().problem())
    units = np.sqrt(np.diag(reference.covariance(np.ones(4))))
    wrong = [(estimator.fit(scara().problem(each)).beta - scara().truth) / units for each in noise]
    return float(np.mean(np.square(wrong)))


def test_gross_errors() -> None:
    noise = [gross(seed) for seed in range(5)]
    assert squares(LeastSquares(), noise) > 20.0
    assert squares(Weighted(), noise) > 20.0
    assert squares(Huber(), noise) < 3.0
    assert squares(Huber(bound=100.0), noise) > 20.0  # the twin: a bound that nothing reaches


def test_efficiency_under_normal_noise() -> None:
    """95 % by theory; the errors of both estimators are nearly the same, so a few noises are enough."""
    noise = [normal(seed) for seed in range(25)]
    plain = squares(LeastSquares(), noise)
    assert 0.9 < plain / squares(Huber(), noise) < 1.0
    assert plain / squares(Huber(bound=0.3), noise) < 0.85  # the twin: 73 %


def test_covariance_with_gross_errors() -> None:
    """P_j is for the mean square of all residuals: with it the errors are as large as they claim."""
    ratios = []
    for seed in range(30):
        found = Huber().fit(scara().problem(gross(seed)))
        residuals = scara().tau + gross(seed) - scara().Y @ found.beta
        variances = np.square(residuals).sum(axis=0) / (len(residuals) - found.used)
        wrong = found.beta - scara().truth
        ratios.append(wrong @ np.linalg.solve(found.covariance(variances), wrong) / len(wrong))
    assert abs(np.mean(ratios) - 1.0) < 0.25  # a deviation of 0.055 by chance, and 400 equations a joint
    assert variances.min() > 10.0  # the twin: as if they were noise of least squares


def test_scales_are_medians() -> None:
    noise = gross(1) * np.array([0.1, 1.0, 10.0, 0.0])
    problem = scara().problem(noise, min_speed=np.full(4, 0.2), size=123)
    found = _scales(problem, scara().truth, np.full(4, 1e-9))
    for j in range(3):
        kept = abs(scara().motion.qd[:, j]) >= 0.2
        assert found[j] == pytest.approx(1.4826 * np.median(abs(noise[kept, j])), rel=0.02)  # between two residuals
        assert found[j] != pytest.approx(1.4826 * np.median(abs(noise[:, j])), rel=1e-4)
    assert found[3] < 1e-8


def test_rounds_and_settings() -> None:
    assert Huber(rounds=1).fit(scara().problem(gross(0))).notes == (
        "huber has not settled after 1 rounds; give it more, or look at the residuals",
    )
    settled = Huber().fit(scara().problem(gross(0)))
    assert not settled.notes
    assert 2 < settled.rounds < 50
    longer = Huber(rounds=200)
    np.testing.assert_array_equal(longer.fit(scara().problem(gross(0))).beta, settled.beta)
    with pytest.raises(InputError, match="bound is 0"):
        Huber(bound=0.0)
    with pytest.raises(InputError, match="rounds is 0"):
        Huber(rounds=0)
