"""Standard deviations of predicted torques, compared with the scatter of many identifications."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.known_arm import known_arm
from ytheta.identification.assessment.torque_errors import (
    ParameterUncertainty,
    compute_friction_std,
    compute_reversal_std,
)
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.friction import make_drive_directions
from ytheta.identification.equations.friction_laws import with_friction_laws
from ytheta.identification.identify import identify
from ytheta.identification.predict import predict
from ytheta.logs.log import Log
from ytheta.logs.preparing.motion_sources import LogSource
from ytheta.logs.preparing.preparation import PreparationSettings, choose_preparation


def test_standard_deviations_are_the_scatter_of_predictions() -> None:
    """Monte Carlo: the same motion with 80 draws of noise; twin: half of the standard deviation does not fit."""
    arm, rng = known_arm(), np.random.default_rng(4)
    results = [arm.identify(arm.draw_source(rng, None)) for _ in range(80)]
    predictions = np.array([result.fit.trace.predicted for result in results])
    scatter = np.sqrt(np.mean((predictions - predictions.mean(axis=0)) ** 2, axis=(0, 1)))
    stated = np.mean([result.compute_prediction_std(result.fit) for result in results], axis=0)
    np.testing.assert_allclose(stated, scatter, rtol=0.25)  # 80 draws of about ten parameters
    assert not np.allclose(0.5 * stated, scatter, rtol=0.25)


def test_standard_deviations_follow_their_definition() -> None:
    """Dense regressor of every sample: the root of the diagonal of Y C Yᵀ."""
    arm = known_arm()
    result = arm.identify(arm.draw_source(np.random.default_rng(0), None))
    regressor = result.fit.regressor
    Y = regressor.layout.dense(regressor.values)
    expected = np.sqrt(np.einsum("sjb,bc,sjc->js", Y, result.covariance, Y))
    np.testing.assert_allclose(regressor.compute_std(result.parameter_uncertainty), expected, rtol=1e-9)
    between = replace(result.parameter_uncertainty, between_logs=np.array([0.3, 0.4]))
    with_variation = np.hypot(expected, [[0.3], [0.4]])
    np.testing.assert_allclose(regressor.compute_std(between), with_variation, rtol=1e-9)
    rms = np.sqrt(np.mean(expected**2, axis=1))
    np.testing.assert_allclose(result.compute_prediction_std(result.fit), rms, rtol=1e-9)


def test_unidentified_directions_make_the_prediction_unknown() -> None:
    """Only for joints whose regressor has a component along the direction."""
    arm = known_arm()
    result = arm.identify(arm.draw_source(np.random.default_rng(0), None))
    regressor, count = result.fit.regressor, len(result.base)
    column = regressor.layout.columns[0][~np.isin(regressor.layout.columns[0], regressor.layout.columns[1])][0]
    unknown = ParameterUncertainty(result.covariance, np.eye(count)[:, [column]])
    std = regressor.compute_std(unknown)
    assert np.isinf(std[0]).any()
    assert np.isfinite(std[1]).all()


def test_the_time_of_a_reversal_is_known_to_half_a_sample() -> None:
    """The error of Coulomb friction that is half a recorded sample late; zero far away from reversals."""
    arm = known_arm()
    source = arm.draw_source(np.random.default_rng(0), 10.0)
    assert isinstance(source, LogSource)
    motion = source.motion(0, 0, source.lengths[0])
    std = compute_reversal_std(arm.form, motion, arm.beta)
    assert motion.direction is not None
    fc = arm.beta[[arm.form.base.independent.index(f"{name}.fc") for name in arm.robot.actuated]]
    rows = (motion.rows[-1] - motion.rows[0]) / (len(motion) - 1)
    late = np.array([np.interp(motion.rows - 0.5, motion.rows, column) for column in motion.direction.T])
    difference = abs(fc[:, None] * (motion.direction.T - late))
    assert rows >= 1.0
    assert std.max(axis=1) == pytest.approx(difference.max(axis=1), rel=0.3)  # one-sided instead of central differences
    assert (std.min(axis=1) < 0.01 * std.max(axis=1)).all()


@pytest.mark.parametrize("form", ["differential", "integral"])
def test_the_noise_is_that_of_torques_at_the_cutoff_of_the_errors(form: str) -> None:
    """White noise after the low-pass of the errors. Twin: the residuals of the equations have another deviation."""
    arm = known_arm()
    log = arm.log(arm.tau + 0.2 * np.random.default_rng(5).normal(size=arm.tau.shape))
    identification = identify(arm.robot, log, estimator="weighted", form=form)
    noisy, exact = predict(identification, log), predict(identification, arm.log())
    assert noisy.measured is not None
    assert exact.measured is not None
    assert noisy.noise is not None
    assert identification.origin.cutoff < float(identification.origin.settings[0].cutoff)
    truth = np.std(noisy.measured - exact.measured, axis=0)
    np.testing.assert_allclose(noisy.noise, truth, rtol=0.05)
    assert (abs(identification.noise / truth - 1.0) > 0.1).all()
    filtered = identify(arm.robot, log, estimator="weighted", cutoff=5.0)  # fit and errors at the same cut-off
    np.testing.assert_array_equal(filtered.torque_noise, filtered.noise)


def test_the_error_of_low_passed_root_friction_is_bounded() -> None:
    """The exact low-pass of root friction, computed at the rate of the log, against the product of the regressor."""
    root, cutoff = 1.5, 10.0
    robot = with_friction_laws(yt.load("lu-two-link").numeric, root=True)
    base = yt.base_parameters(robot, friction=("viscous", "coulomb", "root"))
    form, beta = Differential(base), np.zeros(len(base))
    places = [base.independent.index(f"{name}.fs") for name in robot.actuated]
    beta[places] = root
    t = np.arange(4000) / 200.0
    w = np.array([1.3, 2.1])
    q, qd = np.sin(t[:, None] * w), w * np.cos(t[:, None] * w)
    torque = root * np.sign(qd) * np.sqrt(abs(qd))
    source = LogSource(
        choose_preparation(Log(robot.actuated, t, q, torque), PreparationSettings(cutoff=cutoff)),
        make_drive_directions(robot),
    )
    motion = source.motion(0, 0, source.lengths[0])
    assert motion.tau is not None
    error = form.torque(motion, beta) - motion.tau.T
    std = form.compute_root_error(motion, beta)
    np.testing.assert_allclose(compute_reversal_std(form, motion, beta), abs(std), rtol=1e-12)  # no Coulomb friction
    ratio = np.sqrt(np.mean(error**2, axis=1) / np.mean(std**2, axis=1))
    assert ((ratio > 0.4) & (ratio < 1.0)).all()
    assert np.mean(abs(error) < 2.0 * abs(std) + 1e-3 * root) > 0.9
    beta[places] = 0.0  # the twin
    assert not form.compute_root_error(motion, beta).any()


def test_predictions_have_standard_deviations() -> None:
    """Those of the identification on the same motion; a description has none."""
    arm = known_arm()
    log = arm.log(arm.tau + 0.2 * np.random.default_rng(5).normal(size=arm.tau.shape))
    identification = identify(arm.robot, log, estimator="weighted")
    prediction = predict(identification, log)
    assert prediction.std is not None
    assert prediction.rms_std is not None
    assert prediction.noise is not None
    of_parameters = identification.compute_prediction_std(identification.fit)
    assert prediction.between_logs is not None
    np.testing.assert_array_equal(prediction.between_logs, identification.between_logs)
    np.testing.assert_allclose(prediction.rms_std, np.hypot(of_parameters, prediction.between_logs), rtol=0.02)
    assert (prediction.rms_std > 1.1 * of_parameters).all()  # the twin
    np.testing.assert_array_equal(prediction.noise, identification.torque_noise)
    assert predict(identification.robot, log).std is None


def test_a_model_file_has_the_same_standard_deviations(tmp_path: Path) -> None:
    """Twin: a file whose geometry is changed by options has no covariance that belongs to it."""
    arm = known_arm()
    log = arm.log(arm.tau + 0.2 * np.random.default_rng(5).normal(size=arm.tau.shape))
    identification = identify(arm.robot, log)
    path = identification.save(tmp_path / "arm.model.toml")
    of_file, of_result = predict(path, log), predict(identification, log)
    assert of_file.std is not None
    assert of_result.std is not None
    np.testing.assert_allclose(of_file.std, of_result.std, rtol=1e-6)
    assert of_file.noise is not None
    np.testing.assert_allclose(of_file.noise, identification.torque_noise, rtol=1e-12)
    assert of_file.between_logs is not None
    np.testing.assert_allclose(of_file.between_logs, identification.between_logs, rtol=1e-12)
    assert predict(path, log, snap=0.0).std is None


def test_a_resting_joint_may_hold_any_torque_up_to_its_coulomb_friction() -> None:
    """The friction at rest is drawn at random; 95 % intervals contain it, and those without rests do not."""
    arm, seed = known_arm(), 20
    rng = np.random.default_rng(seed)
    fc = arm.beta[[arm.form.base.independent.index(f"{name}.fc") for name in arm.robot.actuated]]
    source = arm.draw_source(rng, 10.0)
    assert isinstance(source, LogSource)
    motion = source.motion(0, 0, source.lengths[0])
    mask = np.ones((len(fc), len(motion)))
    mask[:, 100:200] = 0.0
    std, twin = compute_friction_std(arm.form, motion, arm.beta, mask), compute_reversal_std(arm.form, motion, arm.beta)
    np.testing.assert_array_equal(std[:, :100], twin[:, :100])
    torque = fc[:, None] * rng.uniform(-1.0, 1.0, (len(fc), 100))
    assert np.mean(abs(torque) < 1.96 * std[:, 100:200]) > 0.95, f"seed {seed}"
    assert np.mean(abs(torque) < 1.96 * twin[:, 100:200]) < 0.5
    np.testing.assert_array_equal(compute_friction_std(arm.form, motion, arm.beta, None), twin)
