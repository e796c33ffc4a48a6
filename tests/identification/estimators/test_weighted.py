"""Weights of joints: inverse variances of the residuals, their bounds, and convergence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import ytheta
from tests.support.estimation_cases import make_case
from ytheta.errors import InputError
from ytheta.identification.equations.normal_equations import JointNormalEquations, NormalEquations
from ytheta.identification.estimators.least_squares import Weighted, compute_joint_weights


def compute_weights(variances: Sequence[float], counts: Sequence[float] | None = None) -> np.ndarray:
    """Return the weights of joints with these mean squares of the residuals; nothing is predicted."""
    joints = [
        JointNormalEquations(np.array([0]), np.eye(1), np.zeros(1), count * variance, count)
        for variance, count in zip(variances, counts or [100.0] * len(variances), strict=True)
    ]
    return compute_joint_weights(NormalEquations(1, tuple(joints)), np.zeros(1))


def test_weights_are_inverse_variances_with_median_one() -> None:
    np.testing.assert_allclose(compute_weights([4.0, 1.0, 0.25]), [0.25, 1.0, 4.0], rtol=1e-12)
    np.testing.assert_allclose(compute_weights([4.0, 1.0, 0.25], [10.0, 2000.0, 1.0]), [0.25, 1.0, 4.0], rtol=1e-12)
    np.testing.assert_allclose(compute_weights([4e6, 1e6, 0.25e6]), [0.25, 1.0, 4.0], rtol=1e-12)


def test_joints_without_equations_or_torque_have_no_weight() -> None:
    assert compute_weights([4.0, 7.0, 1.0], [100.0, 0.0, 100.0]).tolist() == pytest.approx([0.625, 0.0, 2.5])
    assert compute_weights([4.0, 0.0, 1.0])[1] == 0.0
    assert compute_weights([0.0, 0.0]).tolist() == [1.0, 1.0]  # then all weights are equal


def test_residuals_below_the_rounding_of_the_torques_count_as_rounding_errors() -> None:
    """The first joint is predicted exactly: its RMS residual counts as 1e-7 of its RMS torque, however many rows."""
    for count in (10.0, 2000.0):
        exact = JointNormalEquations(np.array([0]), np.full((1, 1), count), np.full(1, count), count, count)
        others = (
            JointNormalEquations(np.array([0]), np.zeros((1, 1)), np.zeros(1), 7.0 * v, 7.0) for v in (4e-14, 16e-14)
        )
        weights = compute_joint_weights(NormalEquations(1, (exact, *others)), np.ones(1))
        np.testing.assert_allclose(weights, [4.0, 1.0, 0.25], rtol=1e-9)


def test_the_ratio_of_two_weights_is_bounded() -> None:
    for variances in ([1.0, 1.0, 1e-12], [1.0, 1.0, 1e12], [1e-12, 1.0, 1e12]):
        weights = compute_weights(variances)
        assert weights.max() / weights.min() == pytest.approx(1e8)
        assert (np.diff(weights[np.argsort(variances)]) <= 0.0).all()  # more noise never gives a larger weight


def test_reweighting_ends_at_the_variances_of_its_own_residuals() -> None:
    known = make_case(ytheta.load("ha-scara"), 300)
    noise = np.array([0.02, 3.0, 0.5, 0.1]) * np.random.default_rng(2).normal(size=known.tau.shape)
    estimate = Weighted().fit(known.problem(noise))
    residuals = known.tau + noise - known.Y @ estimate.beta
    variances = np.square(residuals).mean(axis=0)
    np.testing.assert_allclose(estimate.weights, np.median(variances) / variances, rtol=2e-3)
    assert 1 < estimate.rounds < 20
    once = Weighted(rounds=1).fit(known.problem(noise))
    assert once.rounds == 1
    assert abs(once.weights / estimate.weights - 1.0).max() > 2e-3  # the twin: one round is not enough
    more = Weighted(rounds=100).fit(known.problem(noise))
    assert more.rounds == estimate.rounds
    with pytest.raises(InputError, match="rounds is 0; reweight at least once"):
        Weighted(rounds=0)
