"""Errors relative to what the torque of each joint varies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identification.assessment.prediction_quality import (
    MIN_SCALE_RATIO,
    PredictionQuality,
    find_scales,
    measure_quality,
)


def test_errors_are_relative_to_the_variation() -> None:
    """Brute force from the samples of the trace; twin: relative to the torque with its mean they are smaller."""
    arm = known_arm()
    errors = arm.identify(arm.draw_source(np.random.default_rng(0), None)).fit
    quality = measure_quality(errors, np.array([0.5, 0.1]), prismatic=(False, False))
    residual = errors.trace.measured - errors.trace.predicted
    variation = errors.trace.measured.std(axis=0)
    assert (variation > MIN_SCALE_RATIO * errors.torque_rms.max()).all()
    np.testing.assert_allclose(quality.error, 100.0 * residual.std(axis=0) / variation, rtol=0.05)
    np.testing.assert_allclose(quality.uncertainty, 100.0 * np.array([0.5, 0.1]) / errors.variation, rtol=1e-12)
    assert (quality.error > errors.per_joint_percent).all()


def test_joints_with_little_torque_have_the_scale_of_the_strongest() -> None:
    """Torques and forces are not compared with each other."""
    variation, rms = np.array([10.0, 0.1, 0.2, 30.0]), np.array([20.0, 0.1, 0.2, 100.0])
    scales = find_scales(variation, rms, prismatic=(False, False, True, True))
    np.testing.assert_allclose(scales, [10.0, MIN_SCALE_RATIO * 20.0, MIN_SCALE_RATIO * 100.0, 30.0])


def test_totals_weigh_joints_by_their_scale() -> None:
    quality = PredictionQuality(np.array([10.0, 40.0]), np.array([3.0, 0.0]), np.array([30.0, 10.0]))
    assert quality.total_error == pytest.approx(100.0 * np.hypot(3.0, 4.0) / np.hypot(30.0, 10.0))
    assert quality.total_uncertainty == pytest.approx(100.0 * 0.9 / np.hypot(30.0, 10.0))
    expected = quality.add_uncertainty(replace(quality, uncertainty=np.array([0.0, 30.0])))
    np.testing.assert_allclose(expected.error, [10.0, 50.0])
    assert np.isnan(PredictionQuality(np.array([np.nan, 1.0]), np.zeros(2), np.ones(2)).total_error)


def test_no_torque_and_no_error_is_no_error() -> None:
    arm = known_arm()
    errors = arm.identify(arm.draw_source(np.random.default_rng(0), None)).fit
    silent = replace(errors, torque=np.zeros(2), mean=np.zeros(2), residual=np.zeros(2))
    assert measure_quality(silent, np.zeros(2), prismatic=(False, False)).total_error == 0.0
    wrong = replace(silent, residual=np.ones(2))
    assert measure_quality(wrong, np.zeros(2), prismatic=(False, False)).total_error == np.inf
