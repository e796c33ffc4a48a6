"""Errors relative to what the torque of each joint varies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.identification.assessment.verdict import (
    MIN_SCALE_RATIO,
    Grade,
    PredictionQuality,
    choose_grade,
    find_scales,
    measure_quality,
)


def test_errors_are_relative_to_the_variation() -> None:
    """Brute force from the samples of the trace; twin: relative to the torque with its mean they are smaller."""
    arm = known_arm()
    errors = arm.identify(arm.draw_source(np.random.default_rng(0), None)).fit
    quality = measure_quality(errors, np.array([0.5, 0.1]), prismatic=(False, False), dry_friction=np.zeros(2))
    residual = errors.trace.measured - errors.trace.predicted
    variation = errors.trace.measured.std(axis=0)
    assert (variation > MIN_SCALE_RATIO * errors.torque_rms.max()).all()
    np.testing.assert_allclose(quality.error, 100.0 * residual.std(axis=0) / variation, rtol=0.05)
    np.testing.assert_allclose(quality.uncertainty, 100.0 * np.array([0.5, 0.1]) / errors.variation, rtol=1e-12)
    assert (quality.error > errors.per_joint_percent).all()


def test_own_errors_are_relative_to_the_torque_or_the_friction_of_the_joint() -> None:
    arm = known_arm()
    errors = arm.identify(arm.draw_source(np.random.default_rng(0), None)).fit
    friction = np.array([0.0, 10.0 * errors.variation[1]])
    quality = measure_quality(errors, np.zeros(2), prismatic=(False, False), dry_friction=friction)
    np.testing.assert_allclose(quality.own_error, 100.0 * errors.rms / np.maximum(errors.variation, friction))


def test_every_joint_that_moves_is_judged(rng: np.random.Generator) -> None:
    """A model error makes residuals correlated, which does not excuse the joint; one that nearly always rests is."""
    arm = known_arm()
    errors = arm.identify(arm.draw_source(np.random.default_rng(0), None)).fit
    lags = np.arange(len(errors.autocovariance))[:, None]
    slow = errors.autocovariance[0] * np.cos(1e-4 * lags)  # an autocorrelation time of thousands of samples
    wrong = replace(errors, residual=rng.uniform(0.3, 2.0) * errors.torque, autocovariance=slow)
    assert wrong.judged.all()
    quality = measure_quality(wrong, np.zeros(2), prismatic=(False, False), dry_friction=np.zeros(2))
    assert choose_grade(quality) is not Grade.GOOD
    resting = replace(wrong, counts=np.array([wrong.samples, 0.01 * wrong.samples]))
    assert resting.judged.tolist() == [True, False]


def test_joints_with_little_torque_have_the_scale_of_the_strongest() -> None:
    """Torques and forces are not compared with each other."""
    variation, rms = np.array([10.0, 0.1, 0.2, 30.0]), np.array([20.0, 0.1, 0.2, 100.0])
    scales = find_scales(variation, rms, prismatic=(False, False, True, True))
    np.testing.assert_allclose(scales, [10.0, MIN_SCALE_RATIO * 20.0, MIN_SCALE_RATIO * 100.0, 30.0])


def test_totals_weigh_joints_by_their_scale() -> None:
    quality = PredictionQuality(np.array([10.0, 40.0]), np.array([3.0, 0.0]), np.array([30.0, 10.0]), np.zeros(2))
    assert quality.total_error == pytest.approx(100.0 * np.hypot(3.0, 4.0) / np.hypot(30.0, 10.0))
    assert quality.total_uncertainty == pytest.approx(100.0 * 0.9 / np.hypot(30.0, 10.0))
    expected = quality.add_uncertainty(replace(quality, uncertainty=np.array([0.0, 30.0])))
    np.testing.assert_allclose(expected.error, [10.0, 50.0])
    assert np.isnan(PredictionQuality(np.array([np.nan, 1.0]), np.zeros(2), np.ones(2), np.zeros(2)).total_error)


def test_the_weight_of_a_floating_robot_does_not_hide_the_errors_of_its_joints() -> None:
    """A measured wrench has errors of its own; one that is zero counts, since nothing is added to the torque."""
    weight, joints = np.array([150.0, 50.0]), np.array([1.0, 2.0])
    scale = np.concatenate([weight, joints])
    error = np.array([0.01, 0.01, 20.0, 30.0])
    quality = PredictionQuality(error, 0.5 * error, scale, np.zeros(4), joint_rows=slice(2, None))
    assert quality.total_error == pytest.approx(np.hypot(20.0, 60.0) / np.hypot(1.0, 2.0))
    assert quality.total_uncertainty == pytest.approx(0.5 * quality.total_error)
    assert quality.add_uncertainty(quality).total_error > quality.total_error
    assert PredictionQuality(error, error, scale, np.zeros(4)).total_error < 1.0  # the twin
    no_torque = PredictionQuality(
        error, error, np.array([150.0, 50.0, 0.0, 0.0]), np.zeros(4), joint_rows=slice(2, None)
    )
    assert no_torque.total_error == pytest.approx(0.01)
    errors = make_errors(residual=[1.0, 9.0], torque=[2e4, 100.0], wrench_rows=1)
    assert errors.relative_percent == errors.raw_relative_percent == pytest.approx(30.0)
    assert replace(errors, wrench_rows=0).relative_percent < 3.0
    sensor = make_errors(residual=[9.0, 1.0], torque=[100.0, 2e4], sensor_rows=1)
    assert sensor.relative_percent == sensor.raw_relative_percent == pytest.approx(30.0)
    assert replace(sensor, sensor_rows=0).relative_percent < 3.0
    free = make_errors(residual=[1.0, 8.0], torque=[0.0, 100.0], wrench_rows=1)
    assert free.relative_percent == pytest.approx(30.0)


def make_errors(
    *, residual: list[float], torque: list[float], wrench_rows: int = 0, sensor_rows: int = 0
) -> TorqueErrors:
    """Errors with these sums, and otherwise those of an arm."""
    arm = known_arm()
    errors = arm.identify(arm.draw_source(np.random.default_rng(0), None)).fit
    squares, sums = np.array(residual), np.array(torque)
    changed = replace(errors, residual=squares, raw_residual=squares, torque=sums, raw_torque=sums)
    return replace(changed, wrench_rows=wrench_rows, sensor_rows=sensor_rows)


def test_no_torque_and_no_error_is_no_error() -> None:
    arm = known_arm()
    errors = arm.identify(arm.draw_source(np.random.default_rng(0), None)).fit
    silent = replace(errors, torque=np.zeros(2), mean=np.zeros(2), residual=np.zeros(2))
    assert measure_quality(silent, np.zeros(2), prismatic=(False, False), dry_friction=np.zeros(2)).total_error == 0.0
    wrong = replace(silent, residual=np.ones(2))
    assert measure_quality(wrong, np.zeros(2), prismatic=(False, False), dry_friction=np.zeros(2)).total_error == np.inf
