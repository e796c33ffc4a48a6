"""Errors of the description: against predict and a brute-force formula, and when there are none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from ytheta.identification.assessment.torque_errors import compute_differences, has_friction, is_described
from ytheta.identification.result import Identification
from ytheta.robot.inertia import Inertia


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arm")
    arm = true_arm(folder)
    write_log(folder / "a.npz", arm, seed=1)
    write_log(folder / "b.npz", arm, seed=2)
    return folder


@pytest.fixture(scope="module")
def fit(folder: Path) -> Identification:
    return yt.identify(yt.load("lu-two-link"), folder / "a.npz", validate=folder / "b.npz", min_speed=0.0)


def test_before_is_what_predict_says_of_the_description(folder: Path, fit: Identification) -> None:
    pair = fit.before_after
    assert pair is not None
    assert (pair.is_validation, pair.has_friction) == (True, False)
    alone = yt.predict(yt.load("lu-two-link"), folder / "b.npz", cutoff=fit.origin.cutoff, min_speed=0.0).errors
    other = yt.predict(true_arm(folder), folder / "b.npz", cutoff=fit.origin.cutoff, min_speed=0.0).errors
    assert alone is not None
    assert other is not None
    np.testing.assert_allclose(pair.before.per_joint_percent, alone.per_joint_percent, rtol=1e-9)
    assert pair.before.relative_percent > 10.0 * other.relative_percent  # the twin: another description
    assert fit.validation is not None
    assert pair.ratio == pytest.approx(pair.before.relative_percent / fit.validation.relative_percent)


def test_before_by_brute_force(folder: Path, fit: Identification) -> None:
    """Friction alone is missing in the description, so its error is the friction of the true arm."""
    pair = fit.before_after
    assert pair is not None
    data = np.load(folder / "b.npz")
    qd = np.gradient(data["q"], data["t"], axis=0)
    drives = [drive for _, drive in true_arm(folder).drives]
    friction = np.stack(
        [drive.viscous * v + drive.coulomb * np.sign(v) + drive.offset for drive, v in zip(drives, qd.T, strict=True)]
    )
    t = pair.before.trace.t[np.isfinite(pair.before.trace.t)]
    kept = (data["t"] >= t[0]) & (data["t"] <= t[-1])  # without the ends, which the low-pass spoils
    friction, tau = friction[:, kept], data["tau"][kept]
    expected = 100.0 * np.sqrt((friction**2).sum(axis=1) / (tau**2).sum(axis=0))
    np.testing.assert_allclose(pair.before.per_joint_percent, expected, rtol=0.03)  # the low-pass rounds reversals
    assert (abs(pair.before.per_joint_percent / (0.8 * expected) - 1.0) > 0.1).all()  # the twin: less friction


def test_without_validation_the_errors_are_those_of_the_fit(folder: Path) -> None:
    fit = yt.identify(yt.load("lu-two-link"), folder / "a.npz")
    assert fit.before_after is not None
    assert not fit.before_after.is_validation
    assert fit.before_after.after is fit.fit
    assert fit.before_after.before.samples == fit.fit.samples


def test_descriptions_without_inertias_have_no_errors(folder: Path) -> None:
    robot = yt.load("lu-two-link")
    bare = robot.with_inertias({link.name: Inertia() for link in robot.links})
    assert not is_described(bare)
    assert is_described(robot)
    fit = yt.identify(bare, folder / "a.npz", prior="none", friction=["viscous", "coulomb", "offset"])
    assert (fit.before_after, fit.description_beta, fit.description_differences) == (None, None, None)
    assert "before → after" not in str(fit)
    assert fit.to_dict()["before_after"] is None


def test_friction_of_a_description(folder: Path) -> None:
    assert has_friction(true_arm(folder))
    assert not has_friction(
        true_arm(folder).with_drives(lambda _, drive: replace(drive, viscous=0, coulomb=0, offset=0))
    )


def test_differences_in_standard_deviations(fit: Identification) -> None:
    assert fit.description_beta is not None
    assert fit.description_differences is not None
    assert isinstance(fit.base, yt.BaseParameters)
    described = fit.base.K @ fit.base.robot.theta
    catalog = dict(zip(yt.load("lu-two-link").parameter_names, yt.load("lu-two-link").theta, strict=True))
    values = dict(zip(fit.base.robot.parameter_names, fit.base.robot.theta, strict=True))
    assert values == {name: catalog.get(name, 0.0) for name in values}
    np.testing.assert_allclose(fit.description_beta, described, rtol=1e-12, atol=1e-12)
    k = fit.names.index("joint1.fv")
    assert fit.description_differences[k] == pytest.approx(fit.beta[k] / fit.std[k])
    assert fit.description_differences[k] > 10.0
    assert np.isnan(compute_differences(np.ones(2), np.zeros(2), np.array([np.inf, 0.0]))).all()
    name = "joint2.fc"
    assert fit.standard is not None
    place = fit.standard.names.index(name)
    value = dict(zip(fit.robot.parameter_names, fit.theta, strict=True))[name]
    assert fit.standard_differences[name] == pytest.approx(value / fit.standard.std[place])


def test_text_and_json_say_before_and_after(fit: Identification) -> None:
    assert "before → after: torque error" in str(fit)
    pair, data = fit.before_after, fit.to_dict()["before_after"]
    assert pair is not None
    assert data["before"]["relative_error_percent"] == pytest.approx(pair.before.relative_percent)
    assert data["after"]["per_joint_percent"] == pytest.approx(pair.after.per_joint_percent.tolist())
    assert (data["logs"], data["description_has_friction"]) == ("validation", False)
