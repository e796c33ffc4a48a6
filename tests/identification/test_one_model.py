"""There is one model: what is graded is what is written, and every command that reads the file gets it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.known_arm import known_arm
from tests.support.wrong_descriptions import simulate_case
from ytheta.errors import InputError
from ytheta.identification import torque_model

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
    free, bodies = (fit.normal_equations.residual_squares(beta) for beta in (fit.estimate.beta, fit.beta))
    assert free @ fit.estimate.weights < bodies @ fit.estimate.weights  # least squares with these weights fits best
    assert cost.validation_estimate_percent != pytest.approx(fit.validation.relative_percent, rel=1e-3)
    assert not np.allclose(fit.beta, fit.estimate.beta, rtol=1e-3)


def test_intervals_contain_what_consistency_changed(rng: np.random.Generator) -> None:
    case = simulate_case("ur10", int(rng.integers(1000)), rich=False, noise=5.0)
    fit = yt.identify(case.description, case.fit, estimator="weighted", rotor_inertia=True)
    assert (abs(fit.beta - fit.estimate.beta) <= fit.std * (1.0 + 1e-9)).all()


def make_velocity_logs(rng: np.random.Generator) -> tuple[yt.Robot, yt.Log, yt.Log]:
    """Two logs of one arm whose positions wobble although the arm does not: their torques prefer recorded velocity."""
    arm = known_arm()
    wobble = 2e-3 * np.sin(8.0 * np.pi * arm.motion.t) * np.sin(0.9 * arm.motion.t)
    tau = arm.tau + 0.002 * rng.normal(size=arm.tau.shape)
    log = replace(arm.log(tau), q=arm.motion.q + wobble[:, None], qd=arm.motion.qd.copy(), source="fit.csv")
    rows = 2 * len(log) // 3
    return arm.robot, log, replace(log.select_rows(len(log) - rows, len(log)), source="other.csv")


@pytest.mark.parametrize("options", [{}, {"velocity": "recorded"}, {"cutoff": 25.0}, {"derivative": "spline"}])
def test_another_log_is_prepared_as_in_the_identification(
    options: dict[str, Any], tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file contains what was given and what the torques of the fit decided; the twin chooses again."""
    robot, log, other = make_velocity_logs(rng)
    fit = yt.identify(robot, log, validate=other, **options)
    path = fit.save(tmp_path / "arm.model.toml")
    assert fit.validation is not None
    assert bool(fit.origin.decided_velocities) is ("velocity" not in options)

    def predict(model: Path | yt.Identification, **changes: Any) -> float:
        errors = yt.predict(model, other, **changes).errors
        assert errors is not None
        return errors.relative_percent

    assert predict(path) == pytest.approx(fit.validation.relative_percent, rel=1e-9)
    assert predict(fit) == pytest.approx(fit.validation.relative_percent, rel=1e-9)
    assert predict(path, velocity="auto", cutoff="auto") == predict(path)
    monkeypatch.setattr(torque_model, "read_preparation", lambda _: (yt.PreparationSettings(), ()))
    assert predict(path) != pytest.approx(fit.validation.relative_percent, rel=1e-4)


def test_a_log_without_velocity_is_predicted(tmp_path: Path, rng: np.random.Generator) -> None:
    """Although the identification was told to use recorded velocity; told again, it is refused."""
    robot, log, other = make_velocity_logs(rng)
    path = yt.identify(robot, log, velocity="recorded").save(tmp_path / "arm.model.toml")
    without = replace(other, qd=None)
    assert yt.predict(path, other).preparation.uses_recorded_velocity == (True, True)
    assert yt.predict(path, without).preparation.uses_recorded_velocity == (False, False)
    with pytest.raises(InputError, match="velocity was not recorded"):
        yt.predict(path, without, velocity="recorded")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('velocity = "auto"', 'velocity = "fast"'),
        ('trim = "auto"', "trim = -1.0"),
        ("decided_velocities = [", "decided_velocities = [3, "),
        ('decimate = "auto"', 'decimated = "auto"'),
    ],
)
def test_a_damaged_preparation_is_refused(old: str, new: str, tmp_path: Path, rng: np.random.Generator) -> None:
    robot, log, other = make_velocity_logs(rng)
    path = yt.identify(robot, log).save(tmp_path / "arm.model.toml")
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError):
        yt.predict(path, other)
