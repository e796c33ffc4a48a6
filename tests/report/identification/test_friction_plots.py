"""Friction curves: against the torques of the model, and bands against the covariance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.arm_logs import true_arm, write_log
from ytheta.identification.result import Identification
from ytheta.report.parameter_plots import compute_friction_curves, describe_law, plot_friction
from ytheta.robot.parts import Drive


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> Identification:
    folder = tmp_path_factory.mktemp("friction")
    path = write_log(folder / "a.npz", true_arm(folder), noise=0.1)
    return ytheta.identify(ytheta.load("lu-two-link"), path, friction=("viscous", "coulomb", "offset", "root"))


def compute_odd_torque(fit: Identification, joint: int, speeds: np.ndarray) -> np.ndarray:
    """Return half of what the torque of a joint changes by if its motion is reversed: only friction does."""
    torque = ytheta.inverse_dynamics(fit.robot)
    qd = np.zeros((len(speeds), 2))
    qd[:, joint] = speeds
    still = np.zeros_like(qd)
    return 0.5 * (torque(still, qd, still) - torque(still, -qd, still))[:, joint]


def test_curves_are_the_friction_of_the_model(fit: Identification) -> None:
    curves = list(compute_friction_curves(fit))
    assert [curve.name for curve in curves] == ["joint1", "joint2"]
    for joint, curve in enumerate(curves):
        np.testing.assert_allclose(curve.friction, compute_odd_torque(fit, joint, curve.speeds), rtol=1e-9, atol=1e-9)
        twin = compute_odd_torque(fit, joint, 1.1 * curve.speeds)
        assert abs(curve.friction - twin).max() > 0.01
        assert curve.speed == pytest.approx(fit.fit.motion_range.speed[joint])
        assert curve.speeds[-1] == pytest.approx(1.25 * curve.speed)


def test_bands_follow_the_covariance(fit: Identification) -> None:
    (curve, _) = compute_friction_curves(fit)
    assert curve.std is not None
    drive = dict(fit.robot.drives)["joint1"]
    names = ["joint1.fv", "joint1.fc", "joint1.fs"]
    places = [fit.names.index(name) for name in names]
    sample = np.random.default_rng(3).multivariate_normal(
        np.zeros(3), fit.covariance[np.ix_(places, places)], size=20_000
    )
    k = 160
    v = curve.speeds[k]
    bounded = min(v, drive.max_curve_speed)
    direction = v / np.hypot(v, drive.coulomb_speed)
    scattered = sample @ np.array([bounded, direction, direction * np.sqrt(bounded)])
    assert curve.std[k] == pytest.approx(scattered.std(), rel=0.03)
    assert curve.std[k] != pytest.approx((sample @ np.array([bounded, 0.0, 0.0])).std(), rel=0.03)  # the twin


def test_figures_have_band_line_and_marks(fit: Identification) -> None:
    for curve, figure in plot_friction(fit):
        assert [trace.name for trace in figure.data] == ["measured", "95 % interval", "friction"]
        assert [shape["x0"] for shape in figure.layout.shapes] == pytest.approx([-curve.speed, curve.speed])
    assert {"friction of joint1", "friction of joint2"} <= set(fit.figures())


def test_drives_without_friction_have_no_curve(identification: Identification) -> None:
    assert list(compute_friction_curves(identification)) == []


def test_parameters_that_are_not_seen_have_no_band(fit: Identification) -> None:
    unseen = np.zeros((len(fit.base), 1))
    unseen[fit.names.index("joint1.fv")] = 1.0
    blind = replace(fit, estimate=replace(fit.estimate, unidentified=unseen))
    assert [curve.std is None for curve in compute_friction_curves(blind)] == [True, False]


def test_laws_have_names() -> None:
    assert describe_law(Drive(viscous=1.0, coulomb=2.0)) == "viscous + Coulomb"
    bounded = Drive(viscous=-1.0, coulomb=2.0, root=3.0, load=0.1, friction_speed=1.5)
    assert describe_law(bounded) == "viscous + Coulomb + root + load, constant beyond 1.50"
