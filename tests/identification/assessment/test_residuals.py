"""Torque errors against their definitions, computed by NumPy from whole arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.known_arm import NOISE, RATE, known_arm
from ytheta.identification.assessment import residuals
from ytheta.identification.assessment.residuals import compute_errors
from ytheta.identification.assessment.torque_errors import SUMS, TorqueErrors
from ytheta.logs.preparing.motion_sources import ArraySource

LOAD = np.array([40.0, -5.0])  # Nm, constant; the standard deviations of the torques are of the same size


def compute_errors_with_load(load: np.ndarray) -> tuple[TorqueErrors, np.ndarray, np.ndarray]:
    """Return the errors of the true parameters for noisy torques with a constant load that the model knows.

    The load is part of the friction offsets. Also returned: the measured torque and the residual.
    """
    arm = known_arm()
    noise = NOISE * np.random.default_rng(4).normal(size=arm.tau.shape)
    beta = arm.beta.copy()
    for joint, value in zip(arm.robot.actuated, load, strict=True):
        beta[arm.form.base.names.index(f"{joint}.fo")] += value
    tau = arm.tau + load + noise
    source = ArraySource(replace(arm.motion, tau=tau, raw_tau=tau), RATE)
    return compute_errors(arm.form, (source,), beta, threads=1), tau, noise


def test_errors_follow_their_definitions() -> None:
    errors, tau, residual = compute_errors_with_load(LOAD)
    rms, torque_rms = np.sqrt((residual**2).mean(axis=0)), np.sqrt((tau**2).mean(axis=0))
    np.testing.assert_allclose(errors.rms, rms, rtol=1e-9)
    np.testing.assert_allclose(errors.torque_rms, torque_rms, rtol=1e-9)
    np.testing.assert_allclose(errors.per_joint_percent, 100.0 * rms / torque_rms, rtol=1e-9)
    np.testing.assert_allclose(errors.of_variation_percent, 100.0 * rms / tau.std(axis=0), rtol=1e-9)
    np.testing.assert_allclose(errors.nrmse, rms / tau.std(axis=0), rtol=1e-9)
    np.testing.assert_allclose(errors.nrmse_mean, (rms / tau.std(axis=0)).mean(), rtol=1e-9)
    np.testing.assert_allclose(
        errors.relative_percent, 100.0 * np.linalg.norm(residual) / np.linalg.norm(tau), rtol=1e-9
    )


def test_errors_against_the_torque_before_the_low_pass() -> None:
    arm = known_arm()
    raw = arm.tau + np.random.default_rng(5).normal(size=arm.tau.shape)
    for raw_tau, expected in ((raw, raw), (None, arm.tau)):
        source = ArraySource(replace(arm.motion, tau=arm.tau, raw_tau=raw_tau), RATE)
        errors = compute_errors(arm.form, (source,), arm.beta, threads=1)
        np.testing.assert_allclose(errors.raw_torque, (expected**2).sum(axis=0), rtol=1e-9)
        np.testing.assert_allclose(errors.raw_residual, ((expected - arm.tau) ** 2).sum(axis=0), atol=1e-9)
        np.testing.assert_array_equal(errors.trace.raw, expected[:: -(-len(expected) // residuals.TRACE_LENGTH)])
        np.testing.assert_allclose(errors.residual, 0.0, atol=1e-9)


def test_a_constant_load_does_not_change_the_error_relative_to_the_variation() -> None:
    (loaded, _, _), (free, _, _) = compute_errors_with_load(LOAD), compute_errors_with_load(np.zeros(2))
    np.testing.assert_allclose(loaded.of_variation_percent, free.of_variation_percent, rtol=1e-9)
    assert (abs(loaded.per_joint_percent / free.per_joint_percent - 1.0) > 0.02).all()  # the twin: this one changes


def test_the_range_of_the_motion() -> None:
    motion, (errors, _, _) = known_arm().motion, compute_errors_with_load(LOAD)
    found = errors.motion_range
    np.testing.assert_array_equal([found.lower, found.upper], [motion.q.min(axis=0), motion.q.max(axis=0)])
    np.testing.assert_array_equal(found.speed, abs(motion.qd).max(axis=0))
    np.testing.assert_array_equal(found.acceleration, abs(motion.qdd).max(axis=0))


@pytest.mark.parametrize("length", [10**6, 100, 7])
def test_a_trace_has_at_most_the_given_number_of_samples(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residuals, "TRACE_LENGTH", length)
    errors, tau, _ = compute_errors_with_load(LOAD)
    step = -(-len(tau) // length)
    np.testing.assert_array_equal(errors.trace.measured, tau[::step])
    np.testing.assert_array_equal(errors.trace.t, known_arm().motion.t[::step])
    assert min(len(tau), length) / 2 < len(errors.trace.t) <= length


def test_a_joint_without_torque_has_no_relative_error() -> None:
    errors, _, _ = compute_errors_with_load(LOAD)
    idle = replace(errors, torque=np.zeros(2), residual=np.array([0.0, 1.0]))
    assert idle.per_joint_percent.tolist() == [0.0, np.inf]


def test_the_arrays_are_read_only() -> None:
    errors, _, _ = compute_errors_with_load(LOAD)
    arrays = [getattr(errors, name) for name in (*SUMS, "autocovariance")]
    arrays += [*vars(errors.motion_range).values(), *vars(errors.trace).values()]
    assert [array.flags.writeable for array in arrays] == [False] * len(arrays)
