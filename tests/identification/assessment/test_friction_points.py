"""Measured friction: against the friction of the arm that moved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from ytheta.identification.assessment.residual_analysis import compute_friction_points
from ytheta.identification.result import Identification
from ytheta.robot.parts import Coupling, compute_friction

MIN_SPEED = 0.5  # rad/s; the low-pass mixes friction of both directions near reversals


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("friction")


@pytest.fixture(scope="module")
def fit(folder: Path) -> Identification:
    path = write_log(folder / "a.npz", true_arm(folder), noise=0.02)
    return yt.identify(yt.load("lu-two-link"), path, friction=("viscous", "coulomb", "offset"))


@pytest.mark.parametrize("name", ["joint1", "joint2"])
def test_points_are_the_friction_of_the_true_arm(folder: Path, fit: Identification, name: str) -> None:
    points = compute_friction_points(fit.robot, fit.fit, name, dict(fit.robot.drives)[name])
    assert points is not None
    fast = abs(points.speeds) > MIN_SPEED
    assert fast.sum() > 100
    true = dict(true_arm(folder).drives)[name]
    expected = compute_friction(true, points.speeds[fast])
    assert np.sqrt(np.mean((points.friction[fast] - expected) ** 2)) < 0.08  # Nm; noise and its effect on the fit
    twin = compute_friction(
        dict(true_arm(folder).drives)["joint2" if name == "joint1" else "joint1"], points.speeds[fast]
    )
    assert np.sqrt(np.mean((points.friction[fast] - twin) ** 2)) > 0.5


def test_the_distance_from_the_curve_is_the_residual(fit: Identification) -> None:
    drive = dict(fit.robot.drives)["joint2"]
    points = compute_friction_points(fit.robot, fit.fit, "joint2", drive)
    assert points is not None
    trace = fit.fit.trace
    residual = (trace.measured - trace.predicted)[:, 1]
    residual = residual[np.isfinite(residual) & ~trace.left_out[:, 1]]
    np.testing.assert_allclose(points.friction - compute_friction(drive, points.speeds), residual, atol=1e-12)


def test_drives_that_share_their_torque_have_no_points(fit: Identification) -> None:
    drive = dict(fit.robot.drives)["joint1"]
    coupled = replace(fit.robot, couplings=(Coupling("joint2", (("joint1", -1.0),)),), actuated=())
    assert coupled.actuated == ("joint1",)
    assert compute_friction_points(coupled, fit.fit, "joint1", drive) is None
    assert compute_friction_points(coupled, fit.fit, "joint2", drive) is None
    assert compute_friction_points(fit.robot, fit.fit, "joint1", drive) is not None
