"""Errors of the model: its covariance, and changes of friction."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.arm_logs import identified_arm, true_arm
from ytheta.identification.torque_model import ModelInput, TorqueModel, read_torque_model
from ytheta.payload.estimation import make_model_errors


def _read(model: ModelInput) -> TorqueModel:
    return read_torque_model(model, snap=1e-4, fix_base=False, lengths={}, angles={})


def test_the_factor_is_that_of_the_covariance_and_of_changed_friction(tmp_path: Path) -> None:
    fit, _ = identified_arm(tmp_path)
    for drift in (0.0, 0.3):
        errors = make_model_errors(_read(fit), drift)
        assert errors is not None
        added = errors.factor @ errors.factor.T - fit.covariance
        expected = np.zeros(len(fit.names))
        values = dict(zip(fit.names, fit.beta, strict=True))
        for k, name in enumerate(fit.names):
            joint, _, symbol = name.rpartition(".")
            size = {"fv": name, "fc": name, "fo": f"{joint}.fc"}.get(symbol)
            expected[k] = 0.0 if size is None else (drift * values[size]) ** 2
            if symbol == "fc" and drift:  # at least the variation between logs
                expected[k] = max(expected[k], fit.between_logs[fit.robot.actuated.index(joint)] ** 2)
        np.testing.assert_allclose(added, np.diag(expected), atol=1e-10 * np.diag(fit.covariance).max())
        assert expected.any() == (drift > 0.0)


def test_what_the_model_does_not_know_may_have_any_value(tmp_path: Path) -> None:
    """A combination of the first two parameters is not identified; the twin: all of them are."""
    fit, _ = identified_arm(tmp_path)
    model = _read(fit)
    assert model.identified is not None
    direction = np.zeros((len(fit.names), 1))
    direction[:2, 0] = 0.6, 0.8
    uncertainty = replace(model.identified.uncertainty, unidentified=direction)
    unknown = make_model_errors(replace(model, identified=replace(model.identified, uncertainty=uncertainty)), 0.0)
    known = make_model_errors(model, 0.0)
    assert unknown is not None
    assert known is not None
    std = [float(np.linalg.norm(errors.factor.T @ direction)) for errors in (unknown, known)]
    assert std[0] > 10.0 * abs(fit.beta).max()
    assert std[1] < abs(fit.beta).max()


def test_a_description_has_errors_of_friction_alone(tmp_path: Path) -> None:
    arm = _read(true_arm(tmp_path))
    errors = make_model_errors(arm, 0.5)
    assert errors is not None
    assert errors.base.names == tuple(f"joint{k}.{symbol}" for k in (1, 2) for symbol in ("fv", "fc", "fo"))
    np.testing.assert_allclose(np.diag(errors.factor), 0.5 * np.array([0.8, 1.5, 1.5, 0.5, 0.9, 0.9]))
    assert make_model_errors(arm, 0.0) is None


def test_a_wrong_scale_changes_all_parameters_of_a_description(tmp_path: Path) -> None:
    """One column beside those of friction; an identified model has the scale of its log, and no such column."""
    arm = _read(true_arm(tmp_path))
    errors = make_model_errors(arm, 0.0, 0.05)
    assert errors is not None
    robot = arm.base.robot
    values = dict(zip(robot.parameter_names, robot.theta.tolist(), strict=True))
    np.testing.assert_allclose(errors.factor[:, 0], [0.05 * values[name] for name in errors.base.names])
    assert set(errors.base.names) == {name for name, value in values.items() if value}
    both = make_model_errors(arm, 0.5, 0.05)
    assert both is not None
    assert both.factor.shape[1] == 7
    fit, _ = identified_arm(tmp_path)
    with_scale, without = (make_model_errors(_read(fit), 0.3, scale) for scale in (0.05, 0.0))
    assert with_scale is not None
    assert without is not None
    np.testing.assert_array_equal(with_scale.factor, without.factor)


@pytest.mark.parametrize("drift", [0.2, math.inf])
def test_a_description_without_friction_gets_it_only_if_it_is_estimated_anew(drift: float) -> None:
    errors = make_model_errors(_read("lu-two-link"), drift)
    assert (errors is not None) == math.isinf(drift)
