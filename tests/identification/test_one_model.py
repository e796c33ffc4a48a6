"""There is one model: what is graded is what is written, and every command that reads the file gets it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.wrong_descriptions import simulate_case

ROBOTS = ("ur10", "stanford", "puma560")  # the second has a prismatic joint, the third a description without bodies


@pytest.fixture(params=ROBOTS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_file_contains_what_was_graded(name: str, tmp_path: Path, rng: np.random.Generator) -> None:
    case = simulate_case(name, int(rng.integers(1000)), rich=bool(rng.integers(2)), noise=float(rng.uniform(0.5, 5.0)))
    fit = yt.identify(case.description, case.fit, validate=case.validation)
    path = fit.save(tmp_path / "arm.model.toml")
    model = yt.read_model(path)
    assert isinstance(fit.base, yt.BaseParameters)
    np.testing.assert_allclose(model.beta, fit.beta, rtol=1e-12)
    np.testing.assert_allclose(fit.base.K @ fit.theta, fit.beta, rtol=1e-12, atol=1e-15)
    values = dict(zip(model.robot.parameter_names, model.robot.theta.tolist(), strict=True))
    theta = np.array([values.get(each, 0.0) for each in fit.base.robot.parameter_names])
    np.testing.assert_allclose(fit.base.K @ theta, fit.beta, rtol=1e-9, atol=1e-9 * abs(fit.beta).max())
    assert fit.validation is not None
    prediction = yt.predict(path, case.validation, cutoff=fit.origin.judged_cutoffs[-1])
    assert prediction.errors is not None
    assert prediction.errors.relative_percent == pytest.approx(fit.validation.relative_percent, rel=1e-6)
    np.testing.assert_allclose(prediction.errors.per_joint_percent, fit.validation.per_joint_percent, rtol=1e-5)


def test_the_free_estimate_is_a_line_of_the_comparison(rng: np.random.Generator) -> None:
    """Strong noise makes the free estimate impossible: the twin, whose errors are not those of the model."""
    case = simulate_case("ur10", int(rng.integers(1000)), rich=False, noise=5.0)
    fit = yt.identify(case.description, case.fit, validate=case.validation, estimator="weighted", rotor_inertia=True)
    cost = fit.consistency_cost
    assert cost is not None
    assert fit.validation is not None
    assert cost.bodies_percent == fit.fit.relative_percent
    assert cost.validation_bodies_percent == fit.validation.relative_percent
    assert cost.estimate_percent < fit.fit.relative_percent  # least squares fits best
    assert cost.validation_estimate_percent != pytest.approx(fit.validation.relative_percent, rel=1e-3)
    assert not np.allclose(fit.beta, fit.estimate.beta, rtol=1e-3)


def test_intervals_contain_what_consistency_changed(rng: np.random.Generator) -> None:
    case = simulate_case("ur10", int(rng.integers(1000)), rich=False, noise=5.0)
    fit = yt.identify(case.description, case.fit, estimator="weighted", rotor_inertia=True)
    assert (abs(fit.beta - fit.estimate.beta) <= fit.std * (1.0 + 1e-9)).all()
