"""Standard deviations of predicted torques, compared with the scatter of many identifications."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identification.assessment.prediction_std import ParameterUncertainty, compute_reversal_std
from ytheta.identification.equations.motion_sources import LogSource
from ytheta.identification.identify import identify
from ytheta.identification.predict import predict


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
    np.testing.assert_allclose(regressor.compute_std(result.uncertainty), expected, rtol=1e-9)
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


def test_predictions_have_standard_deviations() -> None:
    """Those of the identification on the same motion; a description has none."""
    arm = known_arm()
    log = arm.log(arm.tau + 0.2 * np.random.default_rng(5).normal(size=arm.tau.shape))
    identification = identify(arm.robot, log, estimator="weighted")
    prediction = predict(identification, log)
    assert prediction.std is not None
    assert prediction.rms_std is not None
    assert prediction.noise is not None
    np.testing.assert_allclose(prediction.rms_std, identification.compute_prediction_std(identification.fit), rtol=0.02)
    np.testing.assert_array_equal(prediction.noise, identification.noise)
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
    np.testing.assert_allclose(of_file.noise, identification.noise, rtol=1e-12)
    assert predict(path, log, snap=0.0).std is None
