"""Torques predicted by a model: errors on a log, and logs without torques."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import identified_arm
from ytheta.errors import InputError
from ytheta.identification.predict import predict_torques
from ytheta.identification.result import Identification
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.robot.parameters import with_theta


@pytest.fixture(scope="module")
def identified(tmp_path_factory: pytest.TempPathFactory) -> tuple[Identification, Log]:
    return identified_arm(tmp_path_factory.mktemp("logs"))


def test_errors_equal_those_of_the_validation(identified: tuple[Identification, Log], tmp_path: Path) -> None:
    fit, log = identified
    fit.save(tmp_path / "arm.model.toml")
    robot = yt.load(tmp_path / "arm.model.toml")
    settings = PreparationSettings(cutoff=fit.origin.settings[0].cutoff)
    assert fit.validation is not None
    errors = predict_torques(robot, log, settings).errors
    assert errors is not None
    assert errors.relative_percent == pytest.approx(fit.validation.relative_percent, rel=1e-9)
    np.testing.assert_allclose(errors.per_joint_percent, fit.validation.per_joint_percent, rtol=1e-9)
    described = predict_torques(yt.load("lu-two-link"), log, settings).errors
    assert described is not None
    assert described.relative_percent > 2.0 * errors.relative_percent  # the twin


def test_torques_are_predicted_for_logs_without_torques(identified: tuple[Identification, Log]) -> None:
    fit, log = identified
    robot = fit.robot
    with_torques, without = (predict_torques(robot, each) for each in (log, replace(log, tau=None)))
    assert without.errors is None
    assert without.measured is None
    assert with_torques.measured is not None
    assert np.array_equal(without.predicted, with_torques.predicted)
    with pytest.raises(InputError, match="no joint ever reaches its min_speed"):
        predict_torques(robot, log, min_speed=np.array([1e9, 1e9]))
    massless = with_theta(robot, np.zeros_like(robot.theta))
    with pytest.raises(InputError, match="has no inertias"):
        predict_torques(massless, log)
