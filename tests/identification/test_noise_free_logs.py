"""A simulation without noise, identified with the default options: the true parameters, for all robots of the catalog.

The plant changes the sign of Coulomb friction gradually, as its description does not say; loops included.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta as yt
from tests.support.catalog_robots import robot as load_robot
from ytheta.identification.assessment.excitation import Certainty
from ytheta.identification.priors import noise
from ytheta.robot.reading import catalog
from ytheta.simulation.substeps import REVOLUTE_COULOMB_SPEED

ROBOTS = tuple(name for name in catalog.list_names() if load_robot(name).theta.any())
SHARP = ("viscous", "coulomb", "offset")  # these kinds of friction, without a gradual transition
MAX_ERROR_PERCENT = 0.1
MAX_DEVIATION = 2.0  # in standard deviations
SECONDS = 5.0


@cache
def simulate(name: str) -> yt.Log:
    return yt.simulate(load_robot(name), seconds=SECONDS).log(run=0)


def compute_deviations(fit: yt.Identification, truth: yt.Robot) -> np.ndarray:
    """(estimate - truth) / std of the parameters that are determined."""
    base = fit.base
    assert isinstance(base, yt.BaseParameters)
    values = dict(zip(truth.parameter_names, truth.theta, strict=True))
    beta = base.K @ np.array([values.get(name, 0.0) for name in base.robot.parameter_names])
    determined = np.array([seen is Certainty.DETERMINED for seen in fit.seen])
    return np.asarray(((fit.beta - beta) / fit.std)[determined])


def test_all_robots_with_masses_take_part() -> None:
    assert set(catalog.list_names()) - set(ROBOTS) == {"rx90"}


@pytest.mark.parametrize("name", ROBOTS)
def test_parameters_are_recovered_within_two_standard_deviations(name: str) -> None:
    fit = yt.identify(load_robot(name), simulate(name))
    assert fit.fit.relative_percent < MAX_ERROR_PERCENT
    deviations = compute_deviations(fit, load_robot(name))
    assert len(deviations) >= 3
    assert abs(deviations).max() < MAX_DEVIATION


@pytest.mark.parametrize("name", ["puma560", "palletiser"])
def test_a_sharp_transition_does_not_describe_these_logs(name: str) -> None:
    """The twin."""
    fit = yt.identify(load_robot(name), simulate(name), friction=SHARP)
    assert fit.fit.relative_percent > MAX_ERROR_PERCENT
    assert abs(compute_deviations(fit, load_robot(name))).max() > MAX_DEVIATION


@pytest.mark.parametrize("name", ["puma560", "palletiser"])
def test_the_transition_speed_is_that_of_the_plant(name: str) -> None:
    fit = yt.identify(load_robot(name), simulate(name))
    drives = dict(fit.robot.drives)
    speeds = [drives[joint].coulomb_speed for joint, drive in load_robot(name).drives if drive.coulomb]
    np.testing.assert_allclose(speeds, REVOLUTE_COULOMB_SPEED, rtol=0.01)


def test_without_errors_of_preparation_intervals_would_be_too_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin of the standard deviations: residuals of such logs are not noise, and do not average out."""
    truth = load_robot("puma560")
    monkeypatch.setattr(noise, "PREPARATION_ERROR", 0.0)
    smooth = truth.with_drives(lambda _, drive: replace(drive, coulomb_speed=REVOLUTE_COULOMB_SPEED))
    fit = yt.identify(smooth, simulate("puma560"))
    assert fit.fit.relative_percent < MAX_ERROR_PERCENT
    assert abs(compute_deviations(fit, truth)).max() > MAX_DEVIATION
