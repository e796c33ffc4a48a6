"""Variation between logs: each log predicted from the others, the default, and intervals that hold on other logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.simulated_robots import (
    FrictionLaw,
    change_friction,
    compute_rms,
    load_description,
    make_motion,
    make_true_robot,
    record,
)

import ytheta as yt
from tests.support.known_arm import known_arm
from ytheta.identification.between_logs import (
    FRICTION_CHANGE,
    compute_between_logs,
    compute_default_variance,
    compute_friction_rms,
    leave_out,
)
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.estimators.least_squares import LeastSquares

SEED = 290
ROBOT = "lu-two-link"


def test_the_estimate_without_a_log_is_that_of_the_others() -> None:
    """Least squares of the other logs. The twin leaves out another log."""
    arm, rng = known_arm(), np.random.default_rng(SEED)
    sources = tuple(arm.draw_source(rng, None) for _ in range(3))
    estimate = LeastSquares().fit(EstimationProblem(arm.form, sources))
    assert estimate.gain is not None
    expected = LeastSquares().fit(EstimationProblem(arm.form, sources[1:])).beta
    first, second = (leave_out(EstimationProblem(arm.form, (each,)), estimate, estimate.gain) for each in sources[:2])
    np.testing.assert_allclose(first, expected, rtol=1e-6, atol=1e-8)
    assert abs(second - expected).max() > 1e-3


def test_the_default_counts_like_one_log() -> None:
    default = np.array([4.0, 1.0])
    np.testing.assert_allclose(compute_between_logs(default, ()), [2.0, 1.0])
    left_out = (np.array([9.0, -5.0]), np.array([7.0, 1.0]))  # mean 8, and a negative one that counts as zero
    np.testing.assert_allclose(compute_between_logs(default, left_out) ** 2, [6.0, 0.5])
    assert abs(compute_between_logs(default, left_out * 20)[0] ** 2 - 8.0) < 0.15


def test_the_default_grows_with_slow_residuals_and_with_friction() -> None:
    """White residuals add nothing but friction. The twin: the same residuals with a long autocorrelation time."""
    arm = known_arm()
    fit = arm.identify(arm.draw_source(np.random.default_rng(SEED), None)).fit
    noise, names = np.array([0.2, 0.1]), arm.form.base.independent
    white, slow = np.zeros_like(fit.autocovariance), np.ones_like(fit.autocovariance)
    white[0] = 1.0
    cutoff = 0.5 * fit.samples / fit.seconds
    values = [
        compute_default_variance(replace(fit, autocovariance=each), noise, arm.beta, names, cutoff=cutoff, logs=1)
        for each in (white, slow)
    ]
    friction = compute_friction_rms(fit, arm.beta, names)
    assert (friction > 0.0).all()
    np.testing.assert_allclose(values[0], 2.0 * (FRICTION_CHANGE * friction) ** 2)
    np.testing.assert_allclose(values[1] - values[0], noise**2, rtol=0.02)
    several = compute_default_variance(
        replace(fit, autocovariance=white), noise, arm.beta, names, cutoff=cutoff, logs=4
    )
    np.testing.assert_allclose(several, 1.25 * (FRICTION_CHANGE * friction) ** 2)


@pytest.mark.parametrize("logs", [1, 3])
def test_intervals_hold_if_friction_differs_from_log_to_log(logs: int) -> None:
    """By a share that is drawn for each robot. The twin: intervals of the parameters alone do not hold."""
    coverage, twin = [], []
    for seed in range(SEED, SEED + 6):
        rng, description = np.random.default_rng([seed, logs]), load_description(ROBOT)
        truth = make_true_robot(description, rng, rotors=False, law=FrictionLaw.PLAIN)
        share = float(rng.uniform(0.03, 0.12))
        motions = [make_motion(description, rng, rich=True) for _ in range(logs + 1)]
        usual = compute_rms(truth.compute_torque(motions[0]))
        *fit, other = (
            record(change_friction(truth, rng, share), motion, rng, colour_time=0.02, usual_torque=usual)
            for motion in motions
        )
        model = yt.identify(description, fit, rotor_inertia=False, friction=("viscous", "coulomb", "offset"))
        prediction = yt.predict(model, other)
        assert prediction.measured is not None
        assert prediction.std is not None
        assert prediction.between_logs is not None
        assert len(model.left_out_excesses) == (logs if logs > 1 else 0)
        residual = abs(prediction.measured - prediction.predicted)
        variances = prediction.std**2 + model.torque_noise**2
        coverage.append(np.mean(residual < 1.96 * np.sqrt(variances)))
        twin.append(np.mean(residual < 1.96 * np.sqrt(variances - prediction.between_logs**2)))
    assert 0.90 <= np.mean(coverage) <= 0.995, f"seed {SEED}"
    assert np.mean(twin) < np.mean(coverage) - (0.1 if logs == 1 else 0.03)


def test_torques_from_currents_are_as_uncertain_as_their_gains(tmp_path: Path) -> None:
    """The result, its file and predictions state it; the twin: nothing is stated of a log with torques."""
    arm = known_arm()
    t, q = np.arange(len(arm.log().t)) / arm.log().rate, arm.log().q
    log = arm.log(arm.tau + 0.05 * np.random.default_rng(SEED).normal(size=arm.tau.shape))
    assert log.tau is not None
    names = [f"{kind}{k}" for kind in ("q", "current") for k in (1, 2)]
    currents = {"t": t} | dict(zip(names, (*q.T, *(log.tau / 10.0).T), strict=True))
    fit = yt.identify(arm.robot, currents, gain=10.0)
    np.testing.assert_allclose(fit.torque_scale, 0.05)
    assert "torques from currents" in str(fit)
    prediction = yt.predict(fit.save(tmp_path / "arm.model.toml"), log)
    assert prediction.torque_scale is not None
    np.testing.assert_allclose(prediction.torque_scale, 0.05)
    assert "about 5 %" in str(prediction)
    assert not yt.identify(arm.robot, log).torque_scale.any()
